# SPDX-License-Identifier: BSD-3-Clause
"""Simulated cells of tables that list runs without their times, for the evaluation of statements.

The figures of the task-mapping paper have no numbers, so its statements about them have no
published cells. Its tables list the tasks and nodes of the runs, and kernels represent its
programs. The runs that a statement names are simulated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from haloscope.clusters import file as cluster_file
from haloscope.layout import Layout
from haloscope.papers import tables as papers
from haloscope.papers.known_cells import KnownCell, keys_of
from haloscope.papers.statements import NO_TABLE, Condition, Statement, statements
from haloscope.papers.tables import PaperTable, Scalar
from haloscope.predict.mapping_tables import transform
from haloscope.predict.paper_validation import simulated
from haloscope.predict.unpredicted import case_of
from haloscope.run.places.places import place
from haloscope.run.places.simulated import SimulatedCluster
from haloscope.run.progress import Teller
from haloscope.stats.estimates import typical
from haloscope.study.case import Value
from haloscope.toolchains.build import KernelProgram
from haloscope.toolchains.simgrid import SIMGRID
from haloscope.topics.mapping import same_name

PLANNED = ("mapping_plan", "clusters")
"""PLANNED are the kinds of tables that list runs: on few and many nodes, and on one node."""
MOST_TASKS, LARGEST = 512, 1024
"""MOST_TASKS is the largest run for a statement that smaller ones can decide; LARGEST applies to
all others, because 2,048 tasks of fe_heat take minutes.
"""
SHARE, MESSAGES_S, VARIABILITY = "communication_share", "communication_s", "variability_percent"
"""SHARE, MESSAGES_S, and VARIABILITY are quantities of a run besides its time, in no table."""
SPREAD = "variability"
"""SPREAD is the kind of tables with the VARIABILITY of runs that other tables list."""
_TIMED = "time_s"
_ITERATIONS = 200
_OF_FOUR = 400
"""_OF_FOUR is the grid size of miniFE with 4 tasks: table 2 has 16 million elements per task, and
no row for 4.
"""


@dataclass(frozen=True)
class PlannedCells:
    """Cells of simulated runs, and notes about them."""

    cells: Sequence[KnownCell] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class PlannedRun:
    """A row of a table on a cluster. keys: the values by which statements select it."""

    table: PaperTable
    cluster: str
    keys: Mapping[str, object]

    def number(self, name: str) -> int:
        """Return a key that is an integer."""
        return int(str(self.keys[name]))

    @property
    def nodes(self) -> int:
        """Nodes, as published for the cluster."""
        own = f"nodes_{self.cluster.lower()}"
        return self.number(own if own in self.keys else "nodes")

    @property
    def telling(self) -> tuple[str, ...]:
        """The keys that distinguish its cell from others of its table."""
        keys = self.table.keys
        return keys if "cluster" in keys else (*keys, "cluster")


def simulated_cells(paper: str, tell: Teller, launches: int = 1) -> PlannedCells:
    """Simulate the listed runs of a paper that its statements name, one cluster after the other."""
    runs = list(needed(paper, launches))
    cells: list[KnownCell] = []
    notes: list[str] = []
    for name in dict.fromkeys(run.cluster for run in runs):
        own = [run for run in runs if run.cluster == name]
        there = place(_file_of(name) or name)
        assert isinstance(there, SimulatedCluster)
        found = _simulated(paper, own, there, tell, launches)
        cells += found.cells
        notes += found.notes
    cells += spread_cells(paper, cells)
    notes += _spreads(paper, cells, launches)
    if runs:
        notes.insert(
            0,
            f"For the statements, {len(runs)} further runs were simulated, because some tables "
            "list runs without times. Kernels represent the programs of the paper, with "
            f"up to {MOST_TASKS} tasks, or with {LARGEST} tasks if fewer tasks do not decide a "
            "statement. Larger runs need `haloscope run STUDY --on CLUSTER`, followed by "
            f"`haloscope validate {paper} --from DIR`.",
        )
    return PlannedCells(cells, notes)


def _file_of(cluster: str) -> str | None:
    """Return the cluster file of a published name."""
    return next((name for name in cluster_file.ready() if same_name(name, cluster)), None)


def needed(paper: str, launches: int) -> Iterator[PlannedRun]:
    """Yield the runs that statements compare, each once."""
    known = list(_listed(paper))
    found: dict[int, PlannedRun] = {}
    for one in statements(paper):
        if not (_quantities(one) or one.tables) or (launches < 2 and _of_spread(paper, one)):
            continue
        own = [run for run in known if _lists(run, paper, one)]
        own = [run for run in own if _meets(run, one.where)]
        for side in (one.one, one.other) if one.other else (one.one,):
            runs = [run for run in own if _meets(run, side)]
            least = min((run.number("ranks") for run in runs), default=0)
            most = min(LARGEST, max(least, MOST_TASKS))
            found |= {id(run): run for run in runs if run.number("ranks") <= most}
    yield from found.values()


def _of_spread(paper: str, one: Statement) -> bool:
    """Return whether a statement is about the variability of launches."""
    kinds = (papers.load(paper).table(name).kind for name in one.tables)
    return VARIABILITY in _quantities(one) or SPREAD in kinds


def _lists(run: PlannedRun, paper: str, one: Statement) -> bool:
    """Return whether a run is in a table of a statement, or in one with other values of
    that table.
    """
    about = [papers.load(paper).table(name) for name in one.tables]
    facts = [table.facts for table in about if table.kind == SPREAD]
    beside = any(fact.items() <= run.keys.items() for fact in facts)
    return not one.tables or beside or run.table.id in one.tables


def spread_cells(paper: str, cells: Sequence[KnownCell]) -> Iterator[KnownCell]:
    """Yield cells of tables of variability: the largest of the runs with the same
    number of tasks.
    """
    for table in papers.load(paper).tables.values():
        for row in table.rows if table.kind == SPREAD else ():
            keys = keys_of(table, row)
            same = {name: keys[name] for name in ("kernel", "cluster", "ranks")}
            apart = [one for one in cells if one.keys.get("quantity") == VARIABILITY]
            if own := [one.low for one in apart if same.items() <= one.keys.items()]:
                yield KnownCell(keys, table.keys, max(own), max(own))


def _spreads(paper: str, cells: Sequence[KnownCell], launches: int) -> Iterator[str]:
    """Describe what is published about variability, and what was simulated."""
    for one in statements(paper):
        if not _of_spread(paper, one):
            continue
        conditions = (*one.where, *one.one)
        own = [cell for cell in cells if cell.keys["table"] in (one.tables or (NO_TABLE,))]
        if found := [c.low for c in own if all(each.holds(c.keys) for each in conditions)]:
            says = f"{one.says[0].lower()}{one.says[1:]}"
            vary = f"vary by {min(found):.1f} to {max(found):.1f} %"
            yield f"The paper reports that {says}. {launches} simulated launches {vary}."


def _listed(paper: str) -> Iterator[PlannedRun]:
    """Yield every row of a paper's tables of runs, on every cluster that has a file and ran it."""
    tables = [one for one in papers.load(paper).tables.values() if one.kind in PLANNED]
    for table in tables:
        named = [
            value
            for one in statements(paper)
            for condition in one.where
            if table.id in one.tables and (condition.column, condition.sign) == ("cluster", "=")
            for value in condition.values
            if _file_of(value)
        ]
        for row in table.rows:
            said = {**table.facts, **row}
            if not {"kernel", "ranks"} <= said.keys() or said.get(_TIMED, 0) is None:
                continue
            own = [str(said["cluster"])] if "cluster" in said else dict.fromkeys(named)
            for name in own:
                keys = {**said, **keys_of(table, row), "cluster": name}
                yield PlannedRun(table, name, keys)


def _quantities(one: Statement) -> list[str]:
    """Return the quantity of a statement, if it is not a time."""
    conditions = (*one.where, *one.one, *one.other)
    return [value for c in conditions if c.column == "quantity" for value in c.values]


def _meets(run: PlannedRun, conditions: Sequence[Condition]) -> bool:
    return all(one.holds(run.keys) for one in conditions if one.column != "quantity")


def _simulated(
    paper: str, runs: Sequence[PlannedRun], there: SimulatedCluster, tell: Teller, launches: int
) -> PlannedCells:
    """Simulate the runs of a cluster. Equal runs of several tables are simulated once."""
    layouts = [layout_of(run, there) for run in runs]
    given = [stand_in(paper, run) for run in runs]
    bench = there.workbench({}, tell)
    bench.build({SIMGRID: [KernelProgram.of(*one) for one in given]}, tell)
    cases = [
        replace(case_of(bench.program, *one, layout), launches=launches)
        for one, layout in zip(given, layouts, strict=True)
    ]
    each = [*{one.id: one for one in cases}.values()]
    records = simulated(f"validate {paper}", each, there, bench, tell)
    cells: list[KnownCell] = []
    notes: list[str] = []
    for run, layout, case in zip(runs, layouts, cases, strict=True):
        own = records[case.id]
        what = f"{run.cluster}: {run.keys['kernel']}, {run.keys['ranks']} tasks on {layout.nodes}"
        if bad := [one for one in own if one["outcome"] != "ok"]:
            notes.append(f"Not simulated: {what} nodes: {bad[0]['reason']}.")
            continue
        if layout.nodes != run.nodes:
            notes.append(f"{what} nodes: the published {run.nodes} have too few cores.")
        cells += cells_of(run, own)
    return PlannedCells(cells, notes)


def layout_of(run: PlannedRun, there: SimulatedCluster) -> Layout:
    """Return the layout of its tasks, distributed evenly on its nodes, with one core per task."""
    ranks = run.number("ranks")
    nodes = max(run.nodes, -(-ranks // there.cluster.node.cores))
    return Layout.of(ranks, nodes, bind="spread")


def stand_in(paper: str, run: PlannedRun) -> tuple[str, dict[str, Value]]:
    """Return the kernel that represents a program, with its parameters, as in built-in studies."""
    ranks, program = run.number("ranks"), run.keys["kernel"]
    if program == "lammps":
        return "md_pppm", {"alike": "once", "repetitions": 1}
    if program == "bigfft":
        return "fft_pencil", transform(paper, ranks)
    rows = [
        row
        for table in papers.load(paper).tables.values()
        for row in table.rows
        if table.kind == PLANNED[0] and "n" in row and row["ranks"] == ranks
    ]
    n = rows[0]["n"] if rows else _OF_FOUR
    return "fe_heat", {"size": f"{n}x{n}x{n}", "iterations": _ITERATIONS}


def cells_of(run: PlannedRun, records: Sequence[Mapping[str, Any]]) -> Iterator[KnownCell]:
    """Yield a run's time in its table, and the quantities that are in no table."""
    times = [float(record["times_s"][0]) for record in records]
    time = typical(times).value
    yield KnownCell(run.keys, run.telling, time, time)
    messages = typical([_messages_s(record) for record in records]).value
    quantities = {SHARE: messages / time, MESSAGES_S: messages}
    if len(times) > 1:
        quantities[VARIABILITY] = 100 * max(abs(one / fmean(times) - 1) for one in times)
    common: dict[str, Scalar] = {
        name: value
        for name in ("kernel", "cluster", "ranks", "mapping")
        if isinstance(value := run.keys.get(name), int | str)
    }
    for name, value in quantities.items():
        keys = {**common, "table": NO_TABLE, "quantity": name}
        yield KnownCell(keys, (*common, "quantity"), value, value)


def _messages_s(record: Mapping[str, Any]) -> float:
    """Return the seconds per step in message phases (without a node model), mean over ranks."""
    own = (one for one in record["phases"] if one["model_s"] is None)
    return sum(float(one["time_s"]["mean"]) for one in own)
