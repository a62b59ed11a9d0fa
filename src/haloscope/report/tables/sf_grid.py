# SPDX-License-Identifier: BSD-3-Clause
"""One-way latencies of grid halos by a star forest (table 4 of the report on Summit)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.context import Context
from haloscope.analysis.star_forests import about_published, by_n, published_latency
from haloscope.analysis.sweeps import Swept
from haloscope.quantities import SECONDS, printed_seconds
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook
from haloscope.report.words import clock


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Table 4: grids in columns, points of a rank along an axis in rows."""
    own = [case for case in cases if case.kernel == "sf_grid" and case.launches]
    parts = facets(own, ())
    return [_grid(parts, context)] if parts else []


def _grid(parts: Sequence[Facet], context: Context) -> Table:
    cases = [part.cases[0] for part in parts]
    notebook = Notebook(cases, context.all_cases)
    points = [by_n(case) for case in cases]

    def cell(case: MeasuredCase, own: Mapping[int, Swept], n: int) -> Cell:
        if n not in own:
            return missing()
        ours = notebook.estimate(own[n].one_way, case, SECONDS)
        return notebook.beside(ours, published_latency(case, n, context.library))

    measured = {
        n: [cell(case, own, n) for case, own in zip(cases, points, strict=True)]
        for n in sorted({n for own in points for n in own})
    }
    matched = any(one.published for cells in measured.values() for one in cells)
    emulated = any(case.emulated for case in cases)
    others = [] if matched or emulated else _published_grids(context)
    notebook.note(
        "One way: half of filling the halo and adding it back. n: points of a rank along each "
        "axis; a message has 8 n bytes in two dimensions, 8 n² in three."
    )
    if matched or others:
        notebook.note(about_published(cases))
    return Table(
        id="sf_grid",
        kind="sf_grid",
        title=context.title("One-way latency of grid halos by a star forest"),
        columns=(
            Column("n", "n", align="left"),
            *(
                Column(f"latency_s_{index}", part.label or clock(part.cases))
                for index, part in enumerate(parts)
            ),
            *(Column(f"published_s_{index}", title) for index, (title, _) in enumerate(others)),
        ),
        rows=tuple(
            (label(str(n), n), *cells, *(column.get(n, missing()) for _, column in others))
            for n, cells in measured.items()
        ),
        notes=notebook.notes(),
    )


def _published_grids(context: Context) -> list[tuple[str, dict[int, Cell]]]:
    """The paper's Table 4 in columns of its own, where no case here has its number of nodes."""
    columns: dict[str, dict[int, Cell]] = {}
    for table in context.library.tables(("neighbours",)):
        for row in table.rows:
            title = f"published, {table.facts['ranks']} processes on {row['nodes']} nodes"
            time_s = float(str(row["latency_s"]))
            columns.setdefault(title, {})[int(str(row["n"]))] = plain(
                time_s, printed_seconds(time_s, table.resolution_s)
            )
    return list(columns.items())
