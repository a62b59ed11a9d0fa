# SPDX-License-Identifier: BSD-3-Clause
"""Messages round a ring of processes: from the fewest to the most, and the latency by level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.context import Context
from haloscope.analysis.fits import ring_model
from haloscope.analysis.rings import published_latency
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import LATENCY, Claim, Finding, FindingShape, Metric, Verdict
from haloscope.models.ring import Ring
from haloscope.topics.common import made

FAR = 1.2
"""FAR is how many times as long as simulated a published latency may be, or the other way round,
and still agree."""
_LEVELS = {
    "oversubscribed": "on shared processors",
    "same-core": "within a core",
    "same-cache": "within a cache",
    "same-numa": "within a NUMA domain",
    "same-socket": "within a socket",
    "other-socket": "between sockets",
    "same-node": "within a node",
    "other-node": "between nodes",
}
"""How two processes are to each other, by `analysis.distance.widest`."""


def ring(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of each ring: a message with the fewest and the most processes, and each level's latency."""
    for part in facets([case for case in cases if case.kernel == "ring"], ("nodes", "ppn")):
        several = [case for case in part.cases if case.ranks > 1 and case.time]
        several.sort(key=lambda case: case.ranks)
        if not several:
            continue
        ends = list(dict.fromkeys((several[0], several[-1])))
        yield made(
            context,
            ends,
            "Time of a message round a ring",
            FindingShape.VALUE,
            [
                Claim(
                    {"ranks": c.ranks}, estimate=c.time.times(1 / (2 * c.ranks)) if c.time else None
                )
                for c in ends
            ],
            topic="ring",
            metric=Metric("time of a message"),
            but=("nodes", "ppn"),
        )
        model = ring_model(part.cases)
        if model and model.pieces:
            yield _levels(model, part.cases, context)


def level_name(name: str) -> str:
    """How two processes are to each other, in words; ", cores shared" is kept."""
    where, *shared = name.split(", ")
    return ", ".join([_LEVELS[where], *shared])


def _levels(model: Ring, cases: Sequence[MeasuredCase], context: Context) -> Finding:
    """The fitted latency of each level, beside what was published of the simulated cluster."""
    cluster = next((case.cluster for case in cases if case.launches), None)
    parts = []
    for piece in model.pieces:
        known = published_latency(cluster, piece.level, context.library)
        verdict = None
        if known is not None:
            near = 1 / FAR < piece.latency_s.value / known.value < FAR
            verdict = Verdict.AGREES if near else Verdict.DISAGREES
        parts.append(
            Claim(
                {"level": level_name(piece.level.name)},
                estimate=piece.latency_s,
                published=(known,) if known else (),
                verdict=verdict,
            )
        )
    beside = any(part.published for part in parts)
    return made(
        context,
        cases,
        "Latency of a message by level (fit)",
        FindingShape.PUBLISHED if beside else FindingShape.VALUE,
        parts,
        topic="ring",
        metric=LATENCY,
        caveats=[Caveat.DOUBTFUL_FIT] if model.doubts else [],
        but=("nodes", "ppn"),
    )
