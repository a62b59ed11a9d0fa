# SPDX-License-Identifier: BSD-3-Clause
"""Messages round a ring: published values, table, figure, and findings.

The form of figure 1 and formula (1) of the ORFEO report, with medians as in all other tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet, facets
from haloscope.analysis.fits import no_ring, ring_model
from haloscope.analysis.validation.published import Library, Reference
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import LATENCY, Claim, Finding, FindingShape, Metric, Verdict
from haloscope.layout import PROCESSES
from haloscope.models.ring import Ring, RingLevel, RingPiece
from haloscope.quantities import SECONDS, listed, printed_seconds, seconds, unit_of
from haloscope.topics.common.figure import (
    OVER_PROCESSES,
    Axis,
    Curve,
    Figure,
    Lines,
    Mark,
    bars,
    counts,
    mark,
)
from haloscope.topics.common.making import made
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import Column, Table, label
from haloscope.topics.common.words import clock

_PLACEMENTS = {
    "same-socket": "intra_socket",
    "other-socket": "inter_socket",
    "other-node": "inter_node",
}


def published_latency(cluster: str | None, level: RingLevel, library: Library) -> Reference | None:
    """Return the published latency of a level of the simulated cluster, or None."""
    nodes = {
        table.facts.get("node")
        for paper in library.papers
        for table in paper.tables.values()
        if cluster is not None and table.facts.get("cluster_file") == cluster
    }
    for table in library.tables(("ring",)):
        for row in table.rows:
            first, last = int(str(row["ranks_from"])), int(str(row["ranks_to"]))
            alike = row["placement"] == _PLACEMENTS.get(level.name) and row["node"] in nodes
            if alike and first <= level.last_ranks and level.first_ranks <= last:
                value, half = float(str(row["latency_s"])), (table.resolution_s or 0.0) / 2
                text = printed_seconds(value, 2 * half)
                ends = value - half, value + half
                return Reference(value, text, *ends, f"{table.paper}, formula 1")
    return None


def ring_tables(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Table]:
    """Ring: time per cycle by number of processes, and message latency at each machine level."""
    own = [case for case in cases if case.kernel == "ring"]
    for part in facets(own, PROCESSES):
        yield _cycles(part, context)
        yield from _latencies(part, context)


def _cycles(part: Facet, context: Context) -> Table:
    notebook = Notebook(part.cases, context.all_cases)
    rows = []
    for case in sorted(part.cases, key=lambda case: case.ranks):
        each = case.time.times(1 / (2 * case.ranks)) if case.time else None
        rows.append((
            label(str(case.ranks), case.ranks),
            notebook.estimate(case.time, case, SECONDS),
            notebook.estimate(each, case, SECONDS),
        ))  # fmt: skip
    notebook.note("per message: cycle time / number of consecutive messages, which is 2 N.")
    if reason := no_ring(part.cases):
        notebook.note(f"No latency by level: {reason}.")
    return notebook.table(
        "ring",
        context.title("Time of a cycle around the ring", part.label),
        (
            Column("ranks", "processes N", align="left"),
            Column("cycle_s", "cycle"),
            Column("message_s", "per message"),
        ),
        rows,
    )


def _latencies(part: Facet, context: Context) -> Iterator[Table]:
    model = ring_model(part.cases)
    if model is None:
        return
    notebook = Notebook(part.cases, context.all_cases)
    largest = max(part.cases, key=lambda case: case.ranks)
    known = [published_latency(largest.cluster, p.level, context.library) for p in model.pieces]
    rows = tuple(
        (
            label(piece.level.name.replace("-", " "), piece.level.name),
            label(f"{piece.level.first_ranks} to {piece.level.last_ranks}"),
            notebook.beside(notebook.estimate(piece.latency_s, largest, SECONDS), beside),
            notebook.estimate(piece.intercept_s, largest, SECONDS),
        )
        for piece, beside in zip(model.pieces, known, strict=True)
    )
    notebook.note(f"T = a + 2 Tₗ N, one fit per level: {model.source}.")
    told_by = "as requested" if part.cases[0].simulated else "as reported by each process"
    notebook.note(
        f"level: largest distance between neighbours in the ring ({told_by}).",
        "A single process sends to itself and has no level.",
    )
    for warning in model.warnings:
        notebook.note(warning)
    published = [table for table in context.library.tables(("ring",))]
    latencies = [
        f"{str(row['placement']).replace('_', ' ')} {row['latency_us']} µs ({row['node']})"
        for table in published
        for row in table.rows
    ]
    if latencies and not any(known):
        notebook.note(
            f"Published values of ORFEO ({published[0].paper}, formula 1): {listed(latencies)}."
        )
    yield notebook.table(
        "ring",
        context.title("Latency of a message, fitted by level", part.label),
        (
            Column("level", "level", align="left"),
            Column("ranks", "processes", align="left"),
            Column("latency_s", "latency Tₗ"),
            Column("intercept_s", "intercept a"),
        ),
        rows,
        id="ring_latency",
        stub=2,
    )


def ring_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Time per cycle round the ring by number of processes, with piecewise linear fits (Figure 1).

    A figure for every combination of the other settings.
    """
    own = [case for case in cases if case.kernel == "ring" and case.launches]
    return [_figure(part, context) for part in facets(own, PROCESSES)]


def _figure(part: Facet, context: Context) -> Figure:
    own = sorted(part.cases, key=lambda case: case.ranks)
    factor, unit = unit_of(max(case.time_s for case in own), SECONDS)
    measured = Curve(
        clock(own),
        tuple(mark(case.ranks, case.time.times(1 / factor)) for case in own if case.time),
        joined=False,
    )
    model = ring_model(own)
    panel = Lines(
        "cycle",
        "A cycle by processes",
        Axis("processes N", ticks=counts([case.ranks for case in own], "linear")),
        Axis(f"cycle ({unit})"),
        (measured, *(_line(piece, factor) for piece in (model.pieces if model else ()))),
    )
    fitted = ("Lines: T = a + 2 Tₗ N, fitted by level.",) if model else ()
    return Figure(
        kind="ring",
        title=context.title("Time of a cycle around the ring", part.label),
        panels=(panel,),
        fewest=OVER_PROCESSES,
        alt=f"Time of a cycle for {own[0].ranks} to {own[-1].ranks} processes.",
        notes=(*bars(own, [panel]), *fitted, *(model.doubts if model else ())),
    )


def _line(piece: RingPiece, factor: float) -> Curve:
    """Return the line of one level over its numbers of ranks, in units of `factor` seconds."""
    ends = np.array([piece.level.first_ranks, piece.level.last_ranks], float)
    return Curve(
        f"{piece.level.name.replace('-', ' ')}: {seconds(piece.latency_s.value)} a message",
        tuple(
            Mark(float(ranks), float(time) / factor)
            for ranks, time in zip(ends, piece.predict(ends), strict=True)
        ),
        model=True,
    )


FAR = 1.2
"""Largest ratio, in either direction, of a published to a simulated latency that still agrees."""
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


def ring(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield message times with the fewest and the most processes for each ring, and latency by
    level.
    """
    for part in facets([case for case in cases if case.kernel == "ring"], PROCESSES):
        several = [case for case in part.cases if case.ranks > 1 and case.time]
        several.sort(key=lambda case: case.ranks)
        if not several:
            continue
        ends = list(dict.fromkeys((several[0], several[-1])))
        yield made(
            context,
            ends,
            "Time of a message around a ring",
            FindingShape.VALUE,
            [
                Claim(
                    {"ranks": c.ranks}, estimate=c.time.times(1 / (2 * c.ranks)) if c.time else None
                )
                for c in ends
            ],
            topic="ring",
            metric=Metric("time of a message"),
            but=PROCESSES,
        )
        model = ring_model(part.cases)
        if model and model.pieces:
            yield _levels(model, part.cases, context)


def level_name(name: str) -> str:
    """Describe the relative position of two processes; ", cores shared" is kept."""
    where, *shared = name.split(", ")
    return ", ".join([_LEVELS[where], *shared])


def _levels(model: Ring, cases: Sequence[MeasuredCase], context: Context) -> Finding:
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
        but=PROCESSES,
    )
