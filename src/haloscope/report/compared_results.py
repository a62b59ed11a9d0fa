# SPDX-License-Identifier: BSD-3-Clause
"""Results of two folders beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, name_of
from haloscope.analysis.comparison import ALPHA
from haloscope.quantities import count, probability
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import Cell, Column, Table, label, missing, plain
from haloscope.topics.common.words import tests_of
from haloscope.topics.programs import UNPAIRED, ResultContrast, number_of, scale, texts_of

NAMES = ("first", "second")
RESULTS = "results"


def results_tables(
    found: Sequence[ResultContrast], among: Sequence[MeasuredCase], names: tuple[str, str]
) -> Table:
    """What external programs print besides times: which is better, haloscope can't know."""
    notebook = Notebook([], [case for one in found for case in (one.first, one.second)])
    rows = tuple(
        (
            label(name_of(one.first, among), case=one.first.id),
            label(one.name),
            *_values(one, notebook),
            plain(one.first.unit(one.name)),
            plain(one.adjusted, probability(one.adjusted)),
            Cell(one.verdict, one.verdict, tone="warning" if one.verdict in UNPAIRED else ""),
        )
        for one in found
    )
    tested = [one.contrast for one in found if one.contrast and one.contrast.comparison]
    if tested:
        notebook.note(
            f"p: {tests_of(tested)}, Holm's correction for {count(len(tested), 'result')}; "
            f"a difference is significant at p ≤ {ALPHA}."
        )
    if any(one.contrast is None and one.verdict == "different" for one in found):
        notebook.note(
            "Texts and lists of numbers are compared as printed: different, if one launch differs."
        )
    columns = (
        *(Column("case", "case", align="left"), Column("result", "result", align="left")),
        *(Column(key, named) for key, named in zip(NAMES, names, strict=True)),
        Column("unit", "unit", align="left", only_csv=True),
        *(Column("p_adjusted", "p"), Column("verdict", f"{names[1]} is", align="left")),
    )
    title = f"Results of {' and '.join(names)} compared"
    return Table(RESULTS, "compare", title, columns, rows, notebook.notes(), 2)


def _values(one: ResultContrast, notebook: Notebook) -> Iterator[Cell]:
    """A result on both sides: medians of numbers, else what was printed, short for people."""
    sides = one.first, one.second
    for case in sides:
        if sample := number_of(case, one.name):
            found = one.contrast and (one.contrast.first, one.contrast.second)[sides.index(case)]
            time = found.time if found else case.estimate(sample)
            yield notebook.estimate(time, case, scale(case, one.name))
            continue
        whole = "; ".join(texts_of(case, one.name, _DIGITS))
        short = whole if len(whole) <= _SHORT else f"{whole[: _SHORT - 1]}…"
        yield Cell(whole, short) if whole else missing()


_DIGITS = 17


_SHORT = 40
