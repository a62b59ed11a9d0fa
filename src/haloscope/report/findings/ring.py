# SPDX-License-Identifier: BSD-3-Clause
"""What a message costs round a ring of processes, from the fewest to the most, and by level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.fits import ring_model
from haloscope.analysis.published import Reference
from haloscope.analysis.rings import published_latency
from haloscope.models.ring import Ring, RingPiece
from haloscope.quantities import SECONDS, listed, seconds
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import lying, place, spread
from haloscope.stats.estimates import Estimate

ORDER = 138
FAR = 1.2
"""FAR is how many times as long as simulated a published latency may be, or the other way round,
without a warning."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of each ring: a message with the fewest and with the most processes, and the latencies.

    Medians over launches with their spread, as the table of cycles has them; a warning where a
    fitted line has what no ring can have, and where far other latencies were published of the
    cluster that is simulated.
    """
    for part in facets([case for case in cases if case.kernel == "ring"], ("nodes", "ppn")):
        several = [case for case in part.cases if case.ranks > 1 and case.time]
        several.sort(key=lambda case: case.ranks)
        if not several:
            continue
        ends = list(dict.fromkeys((several[0], several[-1])))
        each = [f"{_message(case)} with {case.processes}" for case in ends]
        label = f" ({part.label})" if part.label else ""
        model = ring_model(part.cases)
        levels = _levels(model, part.cases) if model else ""
        known = _published(model, ends[0].cluster, context) if model else []
        far = any(not 1 / FAR < p.latency_s.value / one.value < FAR for p, one in known)
        yield Finding(
            f"Ring{label}{place(ends[0])}: a message takes {listed(each)}{levels}{_beside(known)}.",
            "warning" if far or (model and model.doubts) else "",
        )


def _published(
    model: Ring, cluster: str | None, context: Context
) -> list[tuple[RingPiece, Reference]]:
    found = [(p, published_latency(cluster, p.level, context.library)) for p in model.pieces]
    return [(piece, known) for piece, known in found if known is not None]


def _beside(known: Sequence[tuple[RingPiece, Reference]]) -> str:
    """What was published of the same cluster, level by level."""
    if not known:
        return ""
    told = [f"{one.text} {lying(piece.level.name)}" for piece, one in known]
    return f". Published of this cluster: {listed(told)} ({known[0][1].source})"


def _message(case: MeasuredCase) -> str:
    """The time of one of the messages that follow one another in a cycle."""
    assert case.time is not None
    return _time(case.time.times(1 / (2 * case.ranks)))


def _time(estimate: Estimate) -> str:
    return f"{seconds(estimate.value)}{spread(estimate, SECONDS)}"


def _levels(model: Ring, cases: Sequence[MeasuredCase]) -> str:
    """The latency of each level that the fitted pieces tell, and what is doubtful about them.

    Without a word of launches where these are all alike.
    """
    alike = all(case.alike for case in cases)
    told = [
        f"{seconds(piece.latency_s.value) if alike else _time(piece.latency_s)} "
        f"{lying(piece.level.name)}"
        for piece in model.pieces
    ]
    doubts = "".join(f"; {doubt.removesuffix('.')}" for doubt in model.doubts)
    return f"; a further process adds two messages of {listed(told)}{doubts}"
