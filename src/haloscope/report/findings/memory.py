"""Bandwidth of the memory: the most cores against the fewest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.memory_use import memory_triads
from haloscope.quantities import count, number, rate
from haloscope.report.context import Context
from haloscope.report.findings import Finding

ORDER = 50


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Bandwidth of the largest working set on the most cores against the fewest.

    Of working sets that no cache holds: what a cache gives is not the memory's.
    """
    triads = {cores: one.point.rate for cores, one in memory_triads(cases, context.machine).items()}
    if not triads:
        return
    few, many = min(triads), max(triads)
    least, most = triads[few].value, triads[many].value
    if few == many:
        yield Finding(f"Memory bandwidth (triad) on {count(few, 'core')}: {rate(least)}.")
    else:
        yield Finding(
            f"{many} cores give {number(most / least, 2)} times the memory bandwidth of "
            f"{few if few > 1 else 'one'}: {rate(most)} against {rate(least)} (triad)."
        )
