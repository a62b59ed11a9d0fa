# SPDX-License-Identifier: BSD-3-Clause
"""Ring: time per cycle by number of processes, and message latency at each level.

The form of figure 1 and formula (1) of the ORFEO report, with medians as all other tables have.
"""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.context import Context
from haloscope.analysis.fits import no_ring, ring_model
from haloscope.analysis.rings import published_latency
from haloscope.quantities import SECONDS, listed
from haloscope.report.tables.model import Column, Table, label
from haloscope.report.tables.notebook import Notebook


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """For every combination of the other settings: cycles by ranks, and the fitted latencies."""
    own = [case for case in cases if case.kernel == "ring"]
    found = []
    for part in facets(own, ("nodes", "ppn")):
        found.append(_cycles(part, context))
        found += _latencies(part, context)
    return found


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
    notebook.note("a message: the cycle over the 2 N messages that follow one another in it.")
    if reason := no_ring(part.cases):
        notebook.note(f"No latency by level: {reason}.")
    return Table(
        id="ring",
        kind="ring",
        title=context.title("Time of a cycle round the ring", part.label),
        columns=(
            Column("ranks", "processes N", align="left"),
            Column("cycle_s", "cycle"),
            Column("message_s", "a message"),
        ),
        rows=tuple(rows),
        notes=notebook.notes(),
    )


def _latencies(part: Facet, context: Context) -> list[Table]:
    model = ring_model(part.cases)
    if model is None:
        return []
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
    notebook.note(f"T = a + 2 Tₗ N, line by line: {model.source}.")
    told_by = "as each was asked to" if part.cases[0].simulated else "as each said of itself"
    notebook.note(
        f"level: the farthest that a process lies from the next, {told_by}. One process alone, "
        "which passes messages to itself, is in none."
    )
    for warning in model.warnings:
        notebook.note(warning)
    published = [table for table in context.library.tables(("ring",))]
    told = [
        f"{str(row['placement']).replace('_', ' ')} {row['latency_us']} µs ({row['node']})"
        for table in published
        for row in table.rows
    ]
    if told and not any(known):
        notebook.note(f"Published of ORFEO ({published[0].paper}, formula 1): {listed(told)}.")
    return [
        Table(
            id="ring_latency",
            kind="ring",
            title=context.title(
                "Latency of a message, from the ring's straight pieces", part.label
            ),
            columns=(
                Column("level", "level", align="left"),
                Column("ranks", "processes", align="left"),
                Column("latency_s", "latency Tₗ"),
                Column("intercept_s", "intercept a"),
            ),
            rows=rows,
            notes=notebook.notes(),
            stub=2,
        )
    ]
