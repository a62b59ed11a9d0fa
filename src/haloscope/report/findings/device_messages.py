# SPDX-License-Identifier: BSD-3-Clause
"""What a message from a device's memory takes at which size: its start, or its bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.star_forests import Start, device_starts
from haloscope.quantities import seconds, size
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import few, place, spans

ORDER = 146
ANSWERS = ("sf_latency",)


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Of messages as PETSc sends them, by where two ranks lie: up to which size their start is
    the most of them, and how long that is."""
    found = device_starts(cases)
    if not found:
        return
    own = [one.case for one in found]
    whose = "an emulated device's memory" if found[0].case.emulated else "a device's memory"
    apart = [f"{one.of} " if len(found) > 1 and one.of else "" for one in found]
    told = "; ".join(f"{of}{_told(one)}" for of, one in zip(apart, found, strict=True))
    yield Finding(
        f"What dominates a message from {whose} (sf_pingpong, {found[0].way})"
        f"{place(*own)}{few(*own)}: {told}. Its start is what {size(min(found[0].sizes))} take."
    )


def _told(one: Start) -> str:
    """Which dominates at which sizes; of launches that differ in it, at which they do."""
    start = f"its start ({seconds(one.least_s)})"
    if not one.moving and not one.undecided:
        return f"{start} at every size"
    if not one.undecided and max(one.starting) < min(one.moving):
        return f"{start} up to {size(max(one.starting))}, its bytes beyond"
    named = ((start, one.starting), ("its bytes", one.moving), ("launches differ", one.undecided))
    return ", ".join(f"{name} at {spans(at, one.sizes, size)}" for name, at in named if at)
