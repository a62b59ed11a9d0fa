"""What a message costs round a ring of processes, from the fewest to the most, and by level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.fits import ring_model
from haloscope.quantities import listed, seconds
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import place

ORDER = 138


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Of each ring: a message with the fewest and with the most processes, and the latencies.

    Means over launches, as the table of cycles has them.
    """
    for part in facets([case for case in cases if case.kernel == "ring"], ("nodes", "ppn")):
        several = [case for case in part.cases if case.ranks > 1 and case.time]
        several.sort(key=lambda case: case.ranks)
        if not several:
            continue
        ends = list(dict.fromkeys((several[0], several[-1])))
        each = [
            f"{seconds(fmean(case.times_s) / (2 * case.ranks))} with {case.processes}"
            for case in ends
        ]
        label = f" ({part.label})" if part.label else ""
        yield Finding(
            f"Ring{label}{place(ends[0])}: a message takes {listed(each)}{_levels(part.cases)}."
        )


def _levels(cases: Sequence[MeasuredCase]) -> str:
    """The latency of each level that the fitted pieces tell."""
    model = ring_model(cases)
    if model is None:
        return ""
    told = [
        f"{seconds(piece.latency_s.value)} {piece.level.name.replace('-', ' ')}"
        for piece in model.pieces
    ]
    return f"; a further process adds two messages of {listed(told)}"
