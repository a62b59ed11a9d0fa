"""The smallest messages' time and the best bandwidth between two processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.fits import exchanges
from haloscope.analysis.sweeps import sweep
from haloscope.quantities import rate, seconds, size
from haloscope.report.context import Context
from haloscope.report.findings import Finding

ORDER = 140


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """The smallest messages' time and the best bandwidth; of several settings, the best of each."""
    own = [case for case in cases if exchanges(case) and case.launches]
    parts = {
        part.label: [p for p in sweep(part.cases[0]) if p.size_bytes] for part in facets(own, ())
    }
    ends = {
        label: (points[0], max(points, key=lambda point: point.rate.value))
        for label, points in parts.items()
        if points
    }
    if not ends:
        return
    quick = min(ends, key=lambda label: ends[label][0].one_way.value)
    broad = max(ends, key=lambda label: ends[label][1].rate.value)
    least, most = ends[quick][0], ends[broad][1]
    yield Finding(
        f"Ping-pong: {size(least.size_bytes)} take {seconds(least.one_way.value)} one way"
        f"{f' ({quick})' if quick else ''}; the highest bandwidth is "
        f"{rate(most.rate.value)}, at {size(most.size_bytes)}"
        f"{f' ({broad})' if broad else ''}"
        f"{f', of {len(ends)} settings' if len(ends) > 1 else ''}."
    )
