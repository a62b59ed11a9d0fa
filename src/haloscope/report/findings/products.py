"""How many times as fast a sparse product is on the most processes, matrix by matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.scaling import scalings
from haloscope.quantities import listed, number, percent
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import place

ORDER = 82


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of each matrix, and whatever else differs: its most processes against its fewest."""
    by: dict[tuple[int, int, str, str], list[tuple[float, str]]] = {}
    for scaling in scalings([case for case in cases if case.kernel == "spmv"]):
        for ladder in scaling.ladders:
            good = [case for case in ladder.steps.values() if case.launches]
            if len(good) < 2 or ladder.base is None:
                continue
            ratio = ladder.speedup(good[-1], context.seed)
            share = ladder.efficiency(good[-1], context.seed)
            if ratio and share:
                named = ", ".join(text for text in (scaling.label, f"N = {ladder.n}") if text)
                times = f"{number(ratio.value)} ({named}: an efficiency of {percent(share.value)})"
                key = (good[-1].cores, ladder.base.cores, scaling.p, place(good[-1]))
                by.setdefault(key, []).append((ratio.value, times))
    for (most, fewest, what, where), told in sorted(by.items(), reverse=True):
        fewer = "one" if fewest == 1 else f"{fewest} of them"
        ordered = [text for _, text in sorted(told, reverse=True)]
        yield Finding(
            f"With {most} {what}{where}, a sparse product is so many times as fast as with "
            f"{fewer}: {listed(ordered)}."
        )
