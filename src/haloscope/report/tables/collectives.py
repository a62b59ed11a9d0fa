"""Collective operations: time by message size, a column an operation."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.sweeps import sweep
from haloscope.quantities import SECONDS, size
from haloscope.report.context import Context
from haloscope.report.tables.model import Column, Table, label, missing
from haloscope.report.tables.notebook import Notebook


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table a case: blocking and non-blocking calls, numbers of ranks and libraries apart."""
    own = [case for case in cases if case.kernel == "collectives" and case.launches]
    return [_table(part, context) for part in facets(own, ())]


def _table(part: Facet, context: Context) -> Table:
    (case,) = part.cases
    notebook = Notebook(part.cases, context.all_cases)
    at = {(point.operation, point.size_bytes): point.time for point in sweep(case)}
    operations = list(dict.fromkeys(operation for operation, _ in at))
    rows = tuple(
        (
            label(size(bytes_) if bytes_ else "none", bytes_),
            *(
                notebook.estimate(at[operation, bytes_], case, SECONDS)
                if (operation, bytes_) in at
                else missing("")
                for operation in operations
            ),
        )
        for bytes_ in sorted({bytes_ for _, bytes_ in at})
    )
    how = case.settings["synchronisation"]
    for absent in dict.fromkeys(record.result.get("absent") for record in case.launches):
        if absent:
            notebook.note(f"Absent: {absent}.")
    notebook.note(f"Processes start together by {str(how).replace('_', ' ')}.")
    return Table(
        id="collectives",
        kind="collectives",
        title=context.title("Collective operations by message size", part.label),
        columns=(
            Column("size_bytes", "message", align="left"),
            *(Column(f"{operation}_s", str(operation)) for operation in operations),
        ),
        rows=rows,
        notes=notebook.notes(),
    )
