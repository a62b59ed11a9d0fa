# SPDX-License-Identifier: BSD-3-Clause
"""Collective operations: growth with processes, and time by message size."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.collectives import growth, ladders, law_named, parts
from haloscope.analysis.context import Context
from haloscope.analysis.sweeps import sweep
from haloscope.quantities import SECONDS, count, size
from haloscope.report.tables.model import Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Growth with processes, then one table a case: calls, ranks and libraries apart."""
    own = [case for case in cases if case.kernel == "collectives" and case.launches]
    grown = [
        _growth(least, most, part.label, context)
        for part in parts(own)
        for least, *_, most in ladders(part)
    ]
    return [*grown, *(_table(part, context) for part in facets(own, ()))]


def _growth(few: MeasuredCase, many: MeasuredCase, label_: str, context: Context) -> Table:
    """A row for each operation at its smallest and its largest message."""
    notebook = Notebook([few, many], context.all_cases)
    rows = tuple(
        (
            label(one.operation),
            plain(one.size_bytes, size(one.size_bytes) if one.size_bytes else "none"),
            notebook.estimate(one.few.time, few, SECONDS),
            notebook.estimate(one.many.time, many, SECONDS),
            notebook.estimate(one.times, many),
            plain(law_named(one).removeprefix("nearest to ") or "–"),
        )
        for one in growth(few, many, context.seed)
    )
    notebook.note(
        "nearest to: of no growth, log₂ p and p, in all of the interval; a dash where so few "
        "processes tell none apart."
    )
    first, last = (case.number("nodes") for case in (few, many))
    where = f"from {few.ranks} to {many.processes} on one node"
    if last > 1:
        where = f"from {few.processes} on {count(first, 'node')} to {many.ranks} on {last}"
    return Table(
        id="collectives_growth",
        kind="collectives",
        title=context.title(f"Growth of collective operations {where}", label_),
        columns=(
            Column("operation", "operation", align="left"),
            Column("size_bytes", "message"),
            Column("few_s", few.processes),
            Column("many_s", many.processes),
            Column("times", "times as long"),
            Column("law", "nearest to", align="left"),
        ),
        rows=rows,
        notes=notebook.notes(),
        stub=2,
    )


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
