"""Clusters through the years: table 5.1 of HPCF-2018-10 with this machine, or the simulated one.

Mesh and number of nodes are those of that table. Other meshes than its own take their rows from the
published wall-time grids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from haloscope.analysis.cases import Facet, MeasuredCase, facets, values
from haloscope.analysis.iteration_rates import converged
from haloscope.analysis.published import comparable
from haloscope.quantities import number, seconds
from haloscope.report.context import Context
from haloscope.report.tables.model import Cell, Column, Table, label, missing
from haloscope.report.tables.notebook import Notebook

if TYPE_CHECKING:
    from haloscope.papers.tables import Paper, PaperTable, PublishedCell

ROLES = ("serial", "node", "spread", "full")


@dataclass(frozen=True)
class _Form:
    """What the published table of clusters shows: its mesh, and how many nodes several are."""

    n: int
    nodes: int

    @property
    def columns(self) -> tuple[Column, ...]:
        """The cluster, and a column for each role."""
        several = f"{self.nodes} nodes"
        return (
            Column("cluster", "cluster (year)", align="left"),
            Column("serial_s", "serial", "1 node"),
            Column("node_s", "all cores", "1 node"),
            Column("spread_s", "1 process a node", several),
            Column("full_s", "all cores", several),
        )

    def places(self, most: int) -> dict[str, tuple[int, int]]:
        """Nodes and processes per node of each role, where a node has so many cores at most."""
        return {
            "serial": (1, 1),
            "node": (1, most),
            "spread": (self.nodes, 1),
            "full": (self.nodes, most),
        }


@dataclass(frozen=True)
class _Published:
    """One published cluster: its name and paper; time (s), text and speedup for each role there."""

    name: str
    paper: str
    times: Mapping[str, tuple[float, str]]
    speedups: Mapping[str, float]


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table for one mesh: the published one's, else the largest that has published rows."""
    tables = _tables(context.shelf)
    form = _form(tables)
    if form is None:
        return []
    own = [case for case in cases if _is_like(case, tables)]
    published = {n: known for n in values(own, "n") if (known := _published(tables, n, form))}
    if not published:
        return []
    n = form.n if form.n in published else max(published)
    ours = [case for case in own if case.number("n") == n]
    notebook = Notebook(ours, context.all_cases)
    parts = facets(ours, ("n", "nodes", "ppn"))
    rows = [_published_row(known) for known in published[n]]
    rows += [_own_row(part, form, notebook) for part in parts]
    notebook.note("(k): k times as fast as the serial run of the same cluster.")
    if context.machine and context.machine.get("cpu"):
        name = _machine(ours)
        notebook.note(f"{name[0].upper()}{name[1:]}: {context.machine['cpu']}.")
    papers = ", ".join(dict.fromkeys(known.paper for known in published[n]))
    notebook.note(f"Published rows: {papers}.")
    return [
        Table(
            id="clusters",
            kind="clusters",
            title=context.title(f"Clusters through the years, N = {n}"),
            columns=form.columns,
            rows=tuple(rows),
            notes=notebook.notes(),
        )
    ]


def _is_like(case: MeasuredCase, tables: Sequence[PaperTable]) -> bool:
    """Whether a case is a solve like the published ones: to convergence, a thread a process."""
    return (
        case.kernel == "poisson_cg"
        and converged(case)
        and case.settings.get("threads") == 1
        and all(comparable(table, case) for table in tables)
    )


def _machine(cases: Sequence[MeasuredCase]) -> str:
    """What the row of these cases is called."""
    simulated = next((case.cluster for case in cases if case.cluster), None)
    return f"{simulated}, simulated" if simulated else "this machine"


def _tables(shelf: Sequence[Paper]) -> list[PaperTable]:
    every = [table for paper in shelf for table in paper.tables.values()]
    return [table for table in every if table.facts.get("kernel") == "poisson_cg"]


def _form(tables: Sequence[PaperTable]) -> _Form | None:
    """What the first published table of clusters shows; None where there is none."""
    for table in tables:
        if table.kind == "clusters":
            nodes = max(int(str(row["nodes"])) for row in table.rows)
            return _Form(int(table.facts["n"]), nodes)
    return None


def _published(tables: Sequence[PaperTable], n: int, form: _Form) -> list[_Published]:
    """Published clusters for a mesh: the paper's own table, or rows read off the grids."""
    if n == form.n:
        return [row for table in tables if table.kind == "clusters" for row in _listed(table)]
    grids = [table for table in tables if table.kind == "walltime_grid"]
    rows: dict[str, _Published] = {}
    for table in sorted(grids, key=lambda table: table.paper):
        for row in _read_off(table, n, form, tables):
            rows.setdefault(row.name, row)
    return list(rows.values())


def _listed(table: PaperTable) -> list[_Published]:
    """The rows of a published table of clusters."""
    found = []
    for cluster, year in dict.fromkeys((row["cluster"], row["year"]) for row in table.rows):
        name = str(cluster) if str(year) in str(cluster) else f"{cluster} ({year})"
        own = {row["case"]: row for row in table.rows if row["cluster"] == cluster}
        times = {
            role: _timed(table, table.cell("time_s", cluster=str(cluster), case=role))
            for role in ROLES
        }
        speedups = {role: row["speedup"] for role, row in own.items()}
        found.append(_Published(name, table.paper, _present(times), _present(speedups)))
    return found


def _read_off(
    grid: PaperTable, n: int, form: _Form, tables: Sequence[PaperTable]
) -> list[_Published]:
    """The corners of a published grid, its serial run in the finest digits published anywhere."""
    ppns = [row["ppn"] for row in grid.rows if row["n"] == n]
    cluster = grid.facts.get("cluster")
    if not ppns or cluster is None:
        return []
    most = max(int(str(ppn)) for ppn in ppns)
    times = {
        role: _timed(grid, grid.cell("time_s", n=n, nodes=nodes, ppn=ppn))
        for role, (nodes, ppn) in form.places(most).items()
    }
    for table in tables:
        where = {"cluster": cluster, "n": n, "nodes": 1, "ppn": 1}
        if table.kind == "convergence" and table.has(where):
            times["serial"] = _timed(table, table.cell("time_s", **where))
    present = _present(times)
    speedups = {
        role: present["serial"][0] / time[0]
        for role, time in present.items()
        if role != "serial" and "serial" in present and time[0] > 0
    }
    network = grid.facts.get("network")
    name = f"{cluster}, {network}" if network else str(cluster)
    return [_Published(name, grid.paper, present, speedups)]


def _timed(table: PaperTable, cell: PublishedCell | None) -> tuple[float, str] | None:
    """Seconds, and the text: as printed, or in seconds where these were published more finely."""
    if cell is None or isinstance(cell.value, str):
        return None
    fine = table.resolution_s is not None and table.resolution_s < 1
    return float(cell.value), seconds(float(cell.value)) if fine else cell.text


def _present(found: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(key): value for key, value in found.items() if value is not None}


def _published_row(row: _Published) -> tuple[Cell, ...]:
    def cell(role: str) -> Cell:
        if role not in row.times:
            return missing()
        value, text = row.times[role]
        speedup = row.speedups.get(role)
        return Cell(value, text, also=f"({number(speedup)})" if speedup else "")

    return (label(row.name), *(cell(role) for role in ROLES))


def _own_row(part: Facet, form: _Form, notebook: Notebook) -> tuple[Cell, ...]:
    at = {(case.number("nodes"), case.number("ppn")): case for case in part.cases}
    most = max(values(part.cases, "ppn"))
    serial = at.get((1, 1))

    def cell(role: str, place: tuple[int, int]) -> Cell:
        case = at.get(place)
        if role in ("node", "full") and most == 1:
            return missing()
        cell = notebook.time(case)
        if role == "serial" or case is None or not serial or not serial.time or not case.time:
            return cell
        return replace(cell, also=f"{cell.also} ({number(serial.time.value / case.time.value)})")

    name = ", ".join(text for text in (_machine(part.cases), part.label) if text)
    return (label(name), *(cell(role, place) for role, place in form.places(most).items()))
