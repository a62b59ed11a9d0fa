"""MPI libraries, transports and placements set against each other, size by size, by a test."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.comparison import Contrast, Measure, contrasts
from haloscope.analysis.fits import exchanges
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.quantities import SECONDS, size
from haloscope.report.context import Context
from haloscope.report.tables.contrast import COLUMNS, cells, explain
from haloscope.report.tables.model import Cell, Column, Table, label, missing
from haloscope.report.tables.notebook import Notebook
from haloscope.study.settings import describe, varying

AXES = ("toolchain", "transport", "placement", "nodes", "ppn", "places")
SIZES = (8, 1 << 10, 1 << 16, 1 << 20)


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """A table for every combination of the other settings: all cases against its first."""
    own = [case for case in cases if exchanges(case) and case.launches]
    parts = [part for part in facets(own, AXES) if len(part.cases) > 1]
    found = []
    for part in parts:
        first, *others = part.cases
        pairs = [
            (_measure(first, a), _measure(other, b))
            for other in others
            for a, b in _shared(first, other)
        ]
        found.append(_table(part.label, contrasts(pairs, context.seed), part.cases, context))
    return found


def _shared(first: MeasuredCase, other: MeasuredCase) -> list[tuple[Swept, Swept]]:
    """The points at a few sizes that both have."""
    at = {point.size_bytes: point for point in sweep(other)}
    return [
        (p, at[p.size_bytes]) for p in sweep(first) if p.size_bytes in SIZES and p.size_bytes in at
    ]


def _measure(case: MeasuredCase, point: Swept) -> Measure:
    return Measure(case, size(point.size_bytes), point.sample_one_way, point.one_way)


def _table(
    name: str, found: list[Contrast], cases: Sequence[MeasuredCase], context: Context
) -> Table:
    notebook = Notebook(cases, context.all_cases)
    apart = varying([case.settings for case in cases])
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        rows.append((
            label(describe(one.second.case.settings, apart)),
            label(one.second.what),
            notebook.estimate(one.first.time, one.first.case, SECONDS),
            notebook.estimate(one.second.time, one.second.case, SECONDS),
            *cells(one, notebook),
        ))  # fmt: skip
    explain(found, notebook)
    reference = describe(cases[0].settings, apart)
    return Table(
        id="libraries",
        kind="libraries",
        title=context.title(f"Half round trip against {reference}", name),
        columns=(
            Column("setting", "setting", align="left"),
            Column("size", "message", align="left"),
            Column("reference_s", reference),
            Column("time_s", "this one"),
            *COLUMNS,
        ),
        rows=tuple(rows) or ((label("–"), label("–"), *(missing(),) * 5),),
        notes=notebook.notes(),
        stub=2,
    )
