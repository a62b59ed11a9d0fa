"""Whether something else was running: by what ran beforehand, and by launches that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.quantities import count, number
from haloscope.report.context import Context
from haloscope.report.findings import Finding

ORDER = 30
BUSY = 0.5
"""BUSY is the largest load beforehand, in processors, that is not worth a word."""
UNEVEN = 1.3
"""UNEVEN is the largest slowest over fastest launch of a case that is not worth a word."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Warnings of something else that was running: beforehand, and as launches that differ."""
    busy = (context.machine or {}).get("busy_processors") or 0.0
    if busy > BUSY:
        yield Finding(
            f"Other programs kept {number(busy, 2)} processors busy when the run began: times may "
            "be too long.",
            "warning",
        )
    several = [case for case in cases if len(case.times_s) > 1]
    uneven = [case for case in several if max(case.times_s) > UNEVEN * min(case.times_s)]
    if uneven:
        yield Finding(
            f"In {len(uneven)} of {count(len(several), 'case')} the slowest launch took more than "
            f"{UNEVEN} times as long as the fastest: something disturbed this machine.",
            "warning",
        )
