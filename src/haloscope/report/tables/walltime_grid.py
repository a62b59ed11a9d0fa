# SPDX-License-Identifier: BSD-3-Clause
"""Wall time by nodes (columns) and processes per node (rows), one grid per mesh.

The form of tables 4.1 to 4.3 and 6.1 to 6.3 of HPCF-2018-10, and 4.1 and 5.1 of HPCF-2010-6.
"""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets, values
from haloscope.analysis.context import Context
from haloscope.analysis.published import WALL_TIMES
from haloscope.quantities import count
from haloscope.report.tables.model import Cell, Column, Table, label, lettered
from haloscope.report.tables.notebook import Notebook


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One grid for each N × N mesh, for every combination of the other settings."""
    solves = [case for case in cases if case.kernel == "poisson_cg"]
    parts = facets(solves, ("n", "nodes", "ppn"))
    grids = [_grid(part, n, context) for part in parts for n in values(part.cases, "n")]
    return lettered(grids)


def _grid(part: Facet, n: int, context: Context) -> Table:
    own = [case for case in part.cases if case.number("n") == n]
    at = {(case.number("ppn"), case.number("nodes")): case for case in own}
    notebook = Notebook(own, context.all_cases)
    nodes = values(own, "nodes")

    def cell(ppn: int, on: int) -> Cell:
        case = at.get((ppn, on))
        published = context.library.find(case, "time_s", WALL_TIMES) if case else None
        return notebook.time(case, published)

    rows = [
        (
            label(f"{count(ppn, 'process', 'processes')} per node", ppn),
            *(cell(ppn, on) for on in nodes),
        )
        for ppn in values(own, "ppn")
    ]
    heading = f"Wall time, N × N = {n} × {n}, system dimension {n * n:,}"
    return Table(
        id="walltime_grid",
        kind="walltime_grid",
        title=context.title(heading, part.label),
        columns=(
            Column("ppn", "", align="left"),
            *(Column(f"nodes_{on}_time_s", count(on, "node")) for on in nodes),
        ),
        rows=tuple(rows),
        notes=notebook.notes(),
    )
