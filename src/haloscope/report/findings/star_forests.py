# SPDX-License-Identifier: BSD-3-Clause
"""What a star forest adds to plain messages of the same sizes, by a test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Contrast
from haloscope.analysis.star_forests import beside_messages
from haloscope.quantities import number, size
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import place, spans

ORDER = 145


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of two ranks in each placement: sf_pingpong against pingpong, size by size."""
    for case, by_size in beside_messages(cases, context.seed):
        where = case.settings.get("placement")
        yield Finding(
            f"A star forest (sf_pingpong) against plain messages (pingpong)"
            f"{f', {where}' if where else ''}{place(case)}: {by_sizes(by_size)}."
        )


def by_sizes(found: Mapping[int, Contrast], apart: str = "; ", it: str = "") -> str:
    """Which verdict at which sizes, and by how much.

    apart: what stands between two verdicts. it: what takes longer, or is faster, with a space.
    """
    verdicts: dict[str, dict[int, Contrast]] = {}
    for at, contrast in found.items():
        verdicts.setdefault(contrast.verdict, {})[at] = contrast
    return apart.join(
        f"{_pace(verdict, own, it)} at {_where(list(own), list(found))}"
        for verdict, own in verdicts.items()
    )


def _where(own: Sequence[int], every: Sequence[int]) -> str:
    return "every size" if len(own) == len(every) > 1 else spans(own, every, size)


def _pace(verdict: str, own: Mapping[int, Contrast], it: str) -> str:
    ratios = {at: contrast.ratio.value for at, contrast in own.items() if contrast.ratio}
    if verdict == "slower" and ratios:
        return f"{it}takes {_ends({at: 1 / ratio for at, ratio in ratios.items()})} times as long"
    if verdict == "faster" and ratios:
        return f"{it}is {_ends(ratios)} times as fast"
    return verdict


def _ends(ratios: Mapping[int, float]) -> str:
    """The least and the most, each with its size where they are written differently."""
    least, most = (extreme(ratios, key=lambda at: ratios[at]) for extreme in (min, max))
    low, high = number(ratios[least]), number(ratios[most])
    return low if low == high else f"{low} ({size(least)}) to {high} ({size(most)})"
