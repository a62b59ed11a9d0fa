# SPDX-License-Identifier: BSD-3-Clause
"""Wall time by nodes (columns) and processes and threads per node (rows), one grid per mesh.

The form of tables 7.1 and 7.2 of HPCF-2018-10.
"""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets, values
from haloscope.analysis.context import Context
from haloscope.quantities import count
from haloscope.report.tables.model import Cell, Column, Table, label, lettered
from haloscope.report.tables.notebook import Notebook


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One grid for each mesh and number of cores a node that were shared out in several ways."""
    solves = [case for case in cases if case.kernel == "poisson_cg"]
    parts = facets(solves, ("n", "nodes", "ppn", "threads"))
    grids = []
    for part in parts:
        for n in values(part.cases, "n"):
            own = [case for case in part.cases if case.number("n") == n]
            for cores in sorted({_cores(case) for case in own}):
                group = [case for case in own if _cores(case) == cores]
                if len(values(group, "ppn")) > 1:
                    grids.append(_grid(part, n, cores, group, context))
    return lettered(grids)


def _cores(case: MeasuredCase) -> int:
    return case.number("ppn") * case.number("threads")


def _grid(part: Facet, n: int, cores: int, own: list[MeasuredCase], context: Context) -> Table:
    at = {(case.number("ppn"), case.number("nodes")): case for case in own}
    notebook = Notebook(own, context.all_cases)
    nodes = values(own, "nodes")

    def cell(ppn: int, on: int) -> Cell:
        case = at.get((ppn, on))
        published = context.library.find(case, "time_s", ("hybrid_grid",)) if case else None
        return notebook.time(case, published)

    rows = [
        (
            label(count(ppn, "MPI process", "MPI processes"), ppn),
            label(count(cores // ppn, "thread"), cores // ppn),
            *(cell(ppn, on) for on in nodes),
        )
        for ppn in values(own, "ppn")
    ]
    heading = f"Wall time, {count(cores, 'core')} a node, N × N = {n} × {n}"
    return Table(
        id="hybrid_grid",
        kind="hybrid_grid",
        title=context.title(heading, part.label),
        columns=(
            Column("ppn", "processes", "per node", "left"),
            Column("threads", "threads each", "per node", "left"),
            *(Column(f"nodes_{on}_time_s", count(on, "node")) for on in nodes),
        ),
        rows=tuple(rows),
        notes=notebook.notes(),
        stub=2,
    )
