# SPDX-License-Identifier: BSD-3-Clause
"""Memory bandwidth by cores and working set, one column per operation, with the memory level."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.context import Context
from haloscope.analysis.sweeps import Swept, level_of, sweep
from haloscope.quantities import BYTES_PER_SECOND, size
from haloscope.report.tables.model import Cell, Column, Table, label, missing
from haloscope.report.tables.notebook import Notebook

OPERATIONS = ("copy", "scale", "add", "triad", "dot")


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table for every combination of settings but the cores."""
    own = [case for case in cases if case.kernel == "stream"]
    return [_table(part, context) for part in facets(own, ("nodes", "ppn", "threads"))]


def _table(part: Facet, context: Context) -> Table:
    notebook = Notebook(part.cases, context.all_cases)
    rows: list[tuple[Cell, ...]] = []
    known = {point.operation for case in part.cases for point in sweep(case)}
    operations = [name for name in OPERATIONS if name in known]
    for case in sorted(part.cases, key=lambda case: (case.cores, case.ranks)):
        rows += _rows(case, operations, notebook, context)
    notebook.note("working set: of one process, all arrays together.")
    if context.machine and context.machine.get("caches"):
        notebook.note("level: the smallest that holds the working sets of all cores in use.")
    return Table(
        id="stream",
        kind="stream",
        title=context.title("Memory bandwidth by cores and working set", part.label),
        columns=(
            Column("cores", "cores", align="left"),
            Column("working_set_bytes", "working set", align="left"),
            Column("level", "level", align="left"),
            *(Column(f"{name}_bytes_per_s", name, "bandwidth") for name in operations),
        ),
        rows=tuple(rows),
        notes=notebook.notes(),
        stub=3,
    )


def _rows(
    case: MeasuredCase, operations: Sequence[str], notebook: Notebook, context: Context
) -> list[tuple[Cell, ...]]:
    points: dict[int, dict[str | None, Swept]] = {}
    for point in sweep(case):
        points.setdefault(point.size_bytes, {})[point.operation] = point
    cores = label(_cores(case), case.cores)
    if not points:
        empty = (notebook.absent(case) for _ in operations)
        return [(cores, missing(), missing(), *empty)]

    def cell(by_operation: dict[str | None, Swept], name: str) -> Cell:
        point = by_operation.get(name)
        if point is None:
            return missing()
        return notebook.estimate(point.rate, case, BYTES_PER_SECOND)

    return [
        (
            cores,
            label(size(bytes_), bytes_),
            label(level_of(bytes_ * case.ranks, case, context.machine)),
            *(cell(by_operation, name) for name in operations),
        )
        for bytes_, by_operation in sorted(points.items())
    ]


def _cores(case: MeasuredCase) -> str:
    threads = case.number("threads")
    return f"{case.cores}" if threads == 1 else f"{case.cores} ({case.ranks} × {threads} threads)"
