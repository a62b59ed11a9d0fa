"""Bandwidth of the memory: the most cores against the fewest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.quantities import count, number, rate
from haloscope.report.context import Context
from haloscope.report.findings import Finding

ORDER = 50


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Bandwidth of the largest working set on the most cores against the fewest."""
    by_cores: dict[int, Swept] = {}
    for case in cases:
        points = sweep(case) if case.kernel == "stream" else ()
        triads = [point for point in points if point.operation == "triad"]
        if triads:
            known = by_cores.get(case.cores)
            if known is None or known.rate.value < triads[-1].rate.value:
                by_cores[case.cores] = triads[-1]
    if not by_cores:
        return
    few, many = min(by_cores), max(by_cores)
    least, most = by_cores[few].rate.value, by_cores[many].rate.value
    if few == many:
        yield Finding(f"Memory bandwidth (triad) on {count(few, 'core')}: {rate(least)}.")
    else:
        yield Finding(
            f"{many} cores give {number(most / least, 2)} times the memory bandwidth of "
            f"{few if few > 1 else 'one'}: {rate(most)} against {rate(least)} (triad)."
        )
