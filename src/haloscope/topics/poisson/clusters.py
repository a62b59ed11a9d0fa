# SPDX-License-Identifier: BSD-3-Clause
"""Clusters by year: table 5.1 of HPCF-2018-10, with a row for this or the simulated machine.

Mesh and number of nodes are those of that table. Rows of other meshes are from the published
wall-time grids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from haloscope.analysis.cases import MeasuredCase, values
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet, facets
from haloscope.analysis.validation.published import Reference, comparable, other_variant, source
from haloscope.grouped import grouped
from haloscope.layout import PROCESSES
from haloscope.papers.tables import Paper, PaperTable, Scalar
from haloscope.quantities import capitalised, listed, number, printed_seconds
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import Cell, Column, Table, label, missing, plain
from haloscope.topics.common.words import ratio_between
from haloscope.topics.poisson import converged

SERIAL = "serial"
ROLES = (SERIAL, "node", "spread", "full")


@dataclass(frozen=True)
class _Form:
    """The form of the published table of clusters: its mesh, and its number of several nodes."""

    n: int
    nodes: int

    def columns(self, n: int) -> tuple[Column, ...]:
        """Return the columns: the cluster, its processes per node, and each role's time and
        speedup.
        """
        several = f"{self.nodes} nodes"
        return (
            Column("cluster", "cluster (year)" if n == self.n else "cluster", align="left"),
            Column("ppn", "all cores"),
            Column("serial_s", "serial", "1 node"),
            Column("node_s", "all cores", "1 node"),
            Column("node_speedup", "×", "1 node"),
            Column("spread_s", "1 process per node", several),
            Column("spread_speedup", "×", several),
            Column("full_s", "all cores", several),
            Column("full_speedup", "×", several),
        )

    def places(self, most: int) -> dict[str, tuple[int, int]]:
        """Return nodes and processes per node of each role, with at most `most` cores per node."""
        return {
            "serial": (1, 1),
            "node": (1, most),
            "spread": (self.nodes, 1),
            "full": (self.nodes, most),
        }


@dataclass(frozen=True)
class _Published:
    """One published cluster: its name, its table, its processes per node, and its time by role.

    speedups: as printed, if they are.
    """

    name: str
    table: PaperTable
    ppn: int
    times: Mapping[str, Reference]
    speedups: Mapping[str, float] = field(default_factory=dict)

    def speedup(self, role: str) -> str:
        """Return the speedup relative to its serial run, as a range if rounding leaves it open."""
        serial, time = self.times.get("serial"), self.times[role]
        if role == "serial" or serial is None or time.low <= 0:
            return ""
        ends = serial.low / time.high, serial.high / time.low
        value = self.speedups.get(role, serial.value / time.value)
        return ratio_between(value, *ends, digits=3)


def clusters_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Clusters by year: table 5.1 of HPCF-2018-10, with a row for this or the simulated machine."""
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
    rows = [_published_row(known) for known in published[n]]
    rows += _own_rows(ours, form, _others(published[n], ours), notebook)
    notebook.note(
        "'All cores' means one process per core. × is the speedup over the serial run on the same "
        "cluster. a–b is the range implied by the rounding of the published time."
    )
    if context.machine and context.machine.get("cpu"):
        notebook.note(f"{capitalised(_machine(ours))}: {context.machine['cpu']}.")
    _note_published(published[n], ours, notebook)
    title = "Clusters through the years" if n == form.n else "Clusters compared"
    return [notebook.table("clusters", context.title(title, f"n = {n}"), form.columns(n), rows)]


def _note_published(
    published: Sequence[_Published], ours: Sequence[MeasuredCase], notebook: Notebook
) -> None:
    tables = [known.table for known in published]
    papers = listed([*dict.fromkeys(table.paper for table in tables)])
    others = listed([f"the {variant} solver" for variant in _others(published, ours)])
    with_it = f", and were measured with {others}" if others else ""
    notebook.note(f"Published rows are from {papers}{with_it}.")
    for paper, note in dict.fromkeys(
        (table.paper, note) for table in tables for note in table.notes
    ):
        notebook.note(f"{paper}: {note}")


def _others(published: Sequence[_Published], ours: Sequence[MeasuredCase]) -> list[str]:
    variants = (other_variant(known.table, case) for known in published for case in ours)
    return [variant for variant in dict.fromkeys(variants) if variant]


def _is_like(case: MeasuredCase, tables: Sequence[PaperTable]) -> bool:
    """Return whether a case is a solve like the published ones: converged, one thread
    per process.
    """
    return (
        case.kernel == "poisson_cg"
        and converged(case)
        and case.settings.get("threads") == 1
        and all(comparable(table, case) for table in tables)
    )


def _machine(cases: Sequence[MeasuredCase]) -> str:
    simulated = next((case.cluster for case in cases if case.cluster), None)
    return f"{simulated}, simulated" if simulated else "this machine"


def _tables(shelf: Sequence[Paper]) -> list[PaperTable]:
    every = [table for paper in shelf for table in paper.tables.values()]
    return [table for table in every if table.facts.get("kernel") == "poisson_cg"]


def _form(tables: Sequence[PaperTable]) -> _Form | None:
    for table in tables:
        if table.kind == "clusters":
            nodes = max(int(str(row["nodes"])) for row in table.rows)
            return _Form(int(table.facts["n"]), nodes)
    return None


def _published(tables: Sequence[PaperTable], n: int, form: _Form) -> list[_Published]:
    if n == form.n:
        return [row for table in tables if table.kind == "clusters" for row in _listed(table)]
    grids = [table for table in tables if table.kind == "walltime_grid"]
    rows: dict[str, _Published] = {}
    for table in sorted(grids, key=lambda table: table.paper):
        for row in _read_off(table, n, form, tables):
            rows.setdefault(row.name, row)
    return list(rows.values())


def _listed(table: PaperTable) -> Iterator[_Published]:
    for cluster, year in dict.fromkeys((row["cluster"], row["year"]) for row in table.rows):
        name = str(cluster) if str(year) in str(cluster) else f"{cluster} ({year})"
        own = {row["case"]: row for row in table.rows if row["cluster"] == cluster}
        ppn = {role: int(str(own[role]["ppn"])) for role in ROLES if role in own}
        times = {
            role: _timed(table, cluster=str(cluster), case=role, ppn=each)
            for role, each in ppn.items()
        }
        speedups = {str(role): float(row["speedup"]) for role, row in own.items() if row["speedup"]}
        most = next((ppn[role] for role in ("node", "full") if role in ppn), 1)
        yield _Published(name, table, most, _present(times), speedups)


def _read_off(
    grid: PaperTable, n: int, form: _Form, tables: Sequence[PaperTable]
) -> list[_Published]:
    """Return the corners of a published grid, its serial run with the most published digits."""
    ppns = [row["ppn"] for row in grid.rows if row["n"] == n]
    cluster = grid.facts.get("cluster")
    if not ppns or cluster is None:
        return []
    most = max(int(str(ppn)) for ppn in ppns)
    times = {
        role: _timed(grid, n=n, nodes=nodes, ppn=ppn)
        for role, (nodes, ppn) in form.places(most).items()
    }
    for table in tables:
        where = {"cluster": cluster, "n": n, "nodes": 1}
        if table.kind == "convergence" and table.has({**where, "ppn": 1}):
            times["serial"] = _timed(table, ppn=1, **where)
    network = grid.facts.get("network")
    name = f"{cluster}, {network}" if network else str(cluster)
    return [_Published(name, grid, most, _present(times))]


def _timed(table: PaperTable, **where: Scalar) -> Reference | None:
    """Return a published time in seconds."""
    cell = table.cell("time_s", **where)
    if cell is None or isinstance(cell.value, str):
        return None
    value = float(cell.value)
    text = printed_seconds(value, table.resolution_s) if value else "< 1 s"
    return Reference(value, text, cell.low or 0.0, cell.high or value, source(table))


def _present(times: Mapping[str, Reference | None]) -> dict[str, Reference]:
    return {role: time for role, time in times.items() if time is not None}


def _published_row(row: _Published) -> tuple[Cell, ...]:
    def cells(role: str) -> list[Cell]:
        time = row.times.get(role)
        shown = Cell(time.value, time.text) if time else missing()
        if role == SERIAL:
            return [shown]
        speedup = row.speedup(role) if time else ""
        return [shown, Cell(None, speedup) if speedup else missing()]

    most = plain(row.ppn) if {"node", "full"} & row.times.keys() else missing()
    return (label(row.name), most, *(cell for role in ROLES for cell in cells(role)))


def _own_rows(
    ours: Sequence[MeasuredCase], form: _Form, others: Sequence[str], notebook: Notebook
) -> Iterator[tuple[Cell, ...]]:
    for variant, cases in grouped(ours, lambda case: str(case.settings["variant"])).items():
        for part in facets(cases, ("n", *PROCESSES)):
            name = (_machine(part.cases), variant if others else "", part.label)
            yield _own_row(", ".join(text for text in name if text), part, form, notebook)


def _own_row(name: str, part: Facet, form: _Form, notebook: Notebook) -> tuple[Cell, ...]:
    at = {(case.layout.nodes, case.layout.ppn): case for case in part.cases}
    most = max(values(part.cases, "ppn"))
    serial = at.get((1, 1))

    def cells(role: str, place: tuple[int, int]) -> list[Cell]:
        case = at.get(place)
        if role in ("node", "full") and most == 1:
            return [missing(), missing()]
        shown = notebook.time(case)
        if role == SERIAL:
            return [shown]
        if case is None or not serial or not serial.time or not case.time:
            return [shown, missing()]
        speedup = serial.time.value / case.time.value
        return [shown, plain(speedup, number(speedup))]

    shown = (cell for role, place in form.places(most).items() for cell in cells(role, place))
    return (label(name), plain(most) if most > 1 else missing(), *shown)
