# SPDX-License-Identifier: BSD-3-Clause
"""Bandwidth of the memory: the most cores against the fewest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Measure, contrasts
from haloscope.analysis.memory_use import Triad, memory_triads
from haloscope.quantities import count, number, rate
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import few as few_launches
from haloscope.report.words import place, sure

ORDER = 50


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Bandwidth of the largest working set on the most cores against the fewest.

    Of working sets that no cache holds: what a cache gives is not the memory's.
    """
    triads = memory_triads(cases, context.machine)
    if not triads:
        return
    few, many = min(triads), max(triads)
    least, most = triads[few], triads[many]
    where = place(most.case)
    there = where and f"{where},"
    if few == many:
        on = f"{count(few, 'core')}{where}{few_launches(most.case)}"
        yield Finding(f"Memory bandwidth (triad) on {on}: {rate(most.point.rate.value)}.")
        return
    (contrast,) = contrasts([(_seconds_a_byte(least), _seconds_a_byte(most))], context.seed)
    assert contrast.ratio is not None
    yield Finding(
        f"{many} cores{there} give {number(contrast.ratio.value, 2)} times the memory bandwidth of "
        f"{few if few > 1 else 'one'}{sure(contrast.ratio, contrast.verdict)}: "
        f"{rate(most.point.rate.value)} against {rate(least.point.rate.value)} (triad)."
    )


def _seconds_a_byte(triad: Triad) -> Measure:
    """A triad by what can be compared: as many bytes on any number of cores."""
    point = triad.point
    sample = tuple(time_s / point.bytes for time_s in point.sample)
    return Measure(triad.case, "triad", sample, point.time.times(1 / point.bytes))
