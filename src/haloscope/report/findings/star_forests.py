"""What a star forest adds to plain messages of the same sizes, by a test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Contrast
from haloscope.analysis.star_forests import beside_messages
from haloscope.quantities import size
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import between, place, spans

ORDER = 145


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of two ranks in each placement: sf_pingpong against pingpong, size by size."""
    for case, by_size in beside_messages(cases, context.seed):
        where = case.settings.get("placement")
        yield Finding(
            f"A star forest (sf_pingpong) against plain messages (pingpong)"
            f"{f', {where}' if where else ''}{place(case)}: {by_sizes(by_size)}."
        )


def by_sizes(found: Mapping[int, Contrast]) -> str:
    """Which verdict at which sizes, and by how much."""
    verdicts: dict[str, dict[int, Contrast]] = {}
    for at, contrast in found.items():
        verdicts.setdefault(contrast.verdict, {})[at] = contrast
    return "; ".join(
        f"{_pace(verdict, list(own.values()))} at {spans(list(own), list(found), size)}"
        for verdict, own in verdicts.items()
    )


def _pace(verdict: str, own: Sequence[Contrast]) -> str:
    ratios = [contrast.ratio.value for contrast in own if contrast.ratio]
    if verdict == "slower" and ratios:
        return f"takes {between([1 / ratio for ratio in ratios])} times as long"
    if verdict == "faster" and ratios:
        return f"is {between(ratios)} times as fast"
    return verdict
