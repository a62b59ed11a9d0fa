# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps of external programs: time and bandwidth by size, as printed."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets_of_kernels
from haloscope.analysis.context import Context
from haloscope.analysis.sweeps import sweep
from haloscope.quantities import BYTES_PER_SECOND, SECONDS, size
from haloscope.report.tables.model import Cell, Column, Table, label, missing
from haloscope.report.tables.notebook import Notebook


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table a case, two columns an operation."""
    own = [case for case in cases if case.external and sweep(case)]
    return [_table(part, context) for part in facets_of_kernels(own, ())]


def _table(part: Facet, context: Context) -> Table:
    (case,) = part.cases
    notebook = Notebook(part.cases, context.all_cases)
    at = {(point.operation, point.size_bytes): point for point in sweep(case)}
    operations = list(dict.fromkeys(operation for operation, _ in at))

    def cells(operation: str | None, bytes_: int) -> tuple[Cell, Cell]:
        point = at.get((operation, bytes_))
        if point is None:
            return missing(), missing()
        speed = notebook.estimate(point.rate, case, BYTES_PER_SECOND) if bytes_ else missing()
        return notebook.estimate(point.time, case, SECONDS), speed

    rows = tuple(
        (
            label(size(bytes_), bytes_, case.id),
            *(cell for operation in operations for cell in cells(operation, bytes_)),
        )
        for bytes_ in sorted({bytes_ for _, bytes_ in at})
    )
    return Table(
        id="points",
        kind="points",
        title=context.title(f"{case.kernel} by size", part.label.removeprefix(case.kernel)),
        columns=(
            Column("size_bytes", "size", align="left"),
            *(column for operation in operations for column in _columns(operation)),
        ),
        rows=rows,
        notes=notebook.notes(),
    )


def _columns(operation: str | None) -> tuple[Column, Column]:
    """Time and bandwidth of an operation; of the only one, which has no name, without it."""
    name = operation or ""
    before = f"{name}_" if name else ""
    return (
        Column(f"{before}time_s", "time", name),
        Column(f"{before}bandwidth_bytes_per_s", "bandwidth", name),
    )
