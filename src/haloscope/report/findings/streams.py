# SPDX-License-Identifier: BSD-3-Clause
"""How many messages a second, and how many bytes, pass in streams of messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.fits import exchanges
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.quantities import PER_SECOND, quantity, rate, size
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import few, place

ORDER = 142


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """The most messages and the most bytes a second of all streams, and where they were."""
    own = [case for case in cases if case.kernel == "pingpong" and case.launches]
    points = [
        (point, f" ({part.label})" if part.label else "")
        for part in facets([case for case in own if not exchanges(case)], ())
        for point in sweep(part.cases[0])
        if point.size_bytes
    ]
    if not points:
        return
    quick, where_quick = max(points, key=lambda pair: _messages_per_s(pair[0]))
    broad, where_broad = max(points, key=lambda pair: pair[0].rate.value)
    most = quantity(_messages_per_s(quick), PER_SECOND)
    yield Finding(
        f"Streams of messages{place(*own)}{few(*own)}: at most {most} of "
        f"{size(quick.size_bytes)} each{where_quick}; the highest bandwidth is "
        f"{rate(broad.rate.value)}, at {size(broad.size_bytes)}{where_broad}."
    )


def _messages_per_s(point: Swept) -> float:
    return point.time.rate(point.bytes / point.size_bytes).value
