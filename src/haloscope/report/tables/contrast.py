# SPDX-License-Identifier: BSD-3-Clause
"""The columns that say how a comparison went: ratio, p, verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from haloscope.analysis.comparison import ALPHA, UNTESTABLE, Contrast, launches_needed
from haloscope.quantities import count, probability
from haloscope.report.tables.model import Cell, Column, Tone, missing, plain
from haloscope.report.tables.notebook import Notebook
from haloscope.report.words import tests_of

COLUMNS = (
    Column("times_as_fast", "times as fast"),
    Column("p_adjusted", "p"),
    Column("verdict", "verdict", align="left"),
)
ALONE = "nothing to compare with"
"""ALONE is the verdict on what was measured, where that which it is set against was not."""
_TONES: Mapping[str, Tone] = {"faster": "good", "slower": "bad", "not measured": "warning"}


def cells(contrast: Contrast, notebook: Notebook) -> tuple[Cell, Cell, Cell]:
    """Ratio with its interval, corrected p-value where a test could tell anything, verdict."""
    alone = contrast.verdict == "not measured" and contrast.second.time is not None
    told = ALONE if alone else contrast.verdict
    verdict = Cell(told, told, tone=_TONES.get(contrast.verdict, ""))
    p = plain(contrast.adjusted, probability(contrast.adjusted))
    if contrast.adjusted is None or contrast.verdict == UNTESTABLE:
        p = missing()
    if contrast.ratio is None:
        return missing(), p, verdict
    return notebook.estimate(contrast.ratio, contrast.second.case), p, verdict


def explain(shown: Sequence[Contrast], notebook: Notebook) -> None:
    """Notes on the test and on its correction."""
    tests = [contrast for contrast in shown if contrast.comparison]
    if tests:
        number_of = count(tests[0].family, "comparison")
        notebook.note(
            f"times as fast: ratio of medians. p: {tests_of(tests)}, Holm's correction for "
            f"{number_of}; a difference is shown at p ≤ {ALPHA}."
        )
    if any(map(_apart_alone, tests)):
        notebook.note(
            "An interval is of one comparison by itself, p is corrected for all of them: one may "
            "leave out 1 where the other shows no difference."
        )
    if any(contrast.verdict == UNTESTABLE for contrast in shown):
        needed = launches_needed(tests[0].family)
        notebook.note(f"To tell, {needed} launches on each side are enough (--launches {needed}).")


def _apart_alone(contrast: Contrast) -> bool:
    """Whether an interval leaves out 1 though the corrected test shows no difference."""
    ratio = contrast.ratio
    if contrast.verdict in ("faster", "slower") or ratio is None or ratio.confidence is None:
        return False
    assert ratio.low is not None and ratio.high is not None
    return not ratio.low <= 1 <= ratio.high
