"""Simulations set against published figures: predicted, published, ratio, cell by cell.

The honest protocol: what a cluster file takes from a paper it takes from cells of one node (wall
times), or of one rank, one socket or one whole node (Jacobi). Those cells are reported apart from
the others, which are predicted only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from haloscope.errors import Problem, UserError, nearest
from haloscope.papers import tables as papers
from haloscope.papers.tables import PaperTable, Scalar
from haloscope.run.places import place
from haloscope.run.progress import RunView, Teller
from haloscope.run.simulated import SimulatedCluster
from haloscope.run.workbench import Workbench
from haloscope.study.case import Case, Launch, Layout
from haloscope.study.plan import Program
from haloscope.toolchains.simgrid import SIMGRID

SHORTEST_S = 5.0
"""Below, a wall time printed in whole seconds says too little."""
WALL_TIME, JACOBI = "wall time", "jacobi"


@dataclass(frozen=True)
class Cell:
    """A published figure and its prediction: seconds, or MLUP/s in tables of Jacobi.

    keys: what tells it from others in its table. reading: of what the paper says, where there are
    several. fitted: could the cluster file's numbers have been taken from it? telling: has it
    digits enough for an error? step: in which it was printed. problem: why there is no prediction,
    if there is none.
    """

    table: str
    kind: str
    keys: Mapping[str, Scalar]
    published: float
    fitted: bool
    reading: str = ""
    telling: bool = True
    step: float = 0.0
    predicted: float | None = None
    problem: str | None = None

    @property
    def unit(self) -> str:
        """Of both figures."""
        return "MLUP/s" if self.kind == JACOBI else "s"

    @property
    def error(self) -> float | None:
        """Relative to what was published; None without a prediction, or if that says too little."""
        if self.predicted is None or not self.telling:
            return None
        return self.predicted / self.published - 1

    @property
    def as_printed(self) -> bool | None:
        """Could the prediction have been printed like this? None without one."""
        if self.predicted is None:
            return None
        return abs(self.predicted - self.published) <= self.step / 2


@dataclass(frozen=True)
class Errors:
    """Absolute relative errors of some cells; of no cells, None."""

    cells: int
    median: float | None
    worst: float | None

    @classmethod
    def of(cls, cells: Sequence[Cell]) -> Errors:
        """Those of the cells that have one."""
        errors = [abs(cell.error) for cell in cells if cell.error is not None]
        return cls(len(errors), median(errors) if errors else None, max(errors, default=None))


def tables_of(paper_id: str, wanted: Sequence[str]) -> list[PaperTable]:
    """The tables of a paper that name a cluster file, or those of them that are wanted."""
    paper = papers.load(paper_id)
    able = [table for table in paper.tables.values() if table.facts.get("cluster_file")]
    unable = [one for one in wanted if one not in [table.id for table in able]]
    for one in (one for one in wanted if one not in paper.tables):
        mend = nearest(one, [table.id for table in able])
        raise UserError(Problem(f"validate {paper_id}", f"there is no table '{one}'", mend))
    if unable or not able:
        known = ", ".join(table.id for table in able) or "none"
        what = f"no cluster file describes the machine of {', '.join(unable) or 'its tables'}"
        raise UserError(Problem(f"validate {paper_id}", what, f"tables with one: {known}"))
    return [table for table in able if not wanted or table.id in wanted]


def validate(table: PaperTable, tell: Teller) -> list[Cell]:
    """Simulate every cell of a table that has a figure, in each reading."""
    there = place(str(table.facts["cluster_file"]))
    assert isinstance(there, SimulatedCluster)
    bench = there.workbench({}, tell)
    todo = list(_todo(table, there))
    cases = [one.case(bench.program) for one in todo]
    found = simulated(f"validate {table.paper}", cases, there, bench, tell)
    return [one.answered(found[case.id]) for one, case in zip(todo, cases, strict=True)]


def simulated(
    study: str, cases: Sequence[Case], there: SimulatedCluster, bench: Workbench, tell: Teller
) -> dict[str, Mapping[str, Any]]:
    """The record of each case, by its id."""
    launches = {case.id: Launch(case, 0) for case in cases}
    found: dict[str, Mapping[str, Any]] = {}
    runner = there.runner(study, 0, bench, {})
    with RunView(tell.console, list(launches.values()), {}) as view:
        for record in runner.run(view.watch(list(launches.values()))):
            found[record["case"]] = record
            view.ended(launches[record["case"]], record)
    return found


@dataclass(frozen=True)
class _Todo:
    """A cell to be predicted. of: its prediction, from the record of its case."""

    cell: Cell
    kernel: str
    given: Mapping[str, Any]
    layout: Layout
    of: Callable[[Mapping[str, Any]], float]

    def case(self, program: Program) -> Case:
        forecast = program.forecast(self.kernel, self.given, self.layout.ranks, self.layout.threads)
        return Case(
            kernel=self.kernel,
            given=self.given,
            params=forecast.params,
            layout=self.layout,
            toolchain=SIMGRID,
            run=0,
            launches=1,
            timeout_s=600,
            memory_bytes=forecast.memory_bytes,
        )

    def answered(self, record: Mapping[str, Any]) -> Cell:
        good = record["outcome"] == "ok"
        predicted = self.of(record) if good else None
        return replace(self.cell, predicted=predicted, problem=record["reason"])


def _todo(table: PaperTable, there: SimulatedCluster) -> Iterator[_Todo]:
    for row in table.rows:
        said = {**table.facts, **row}
        if table.kind == JACOBI:
            yield from _sweeps(table.id, said, there)
        elif isinstance(said["time_s"], int | float):
            yield _solve(table, said)


def _solve(table: PaperTable, said: Mapping[str, Any]) -> _Todo:
    """The published program's variant and exchange are facts of the table.

    Nothing is said of where a node's processes are: they are taken to be spread over its sockets,
    as by ready studies. OMP_PROC_BIND, which some tables name, places the threads of one process.
    """
    keys = {name: said.get(name, 1) for name in ("n", "nodes", "ppn", "threads")}
    published = float(said["time_s"])
    cell = Cell(
        *(table.id, WALL_TIME, keys, published),
        fitted=keys["nodes"] == 1,
        telling=published >= SHORTEST_S,
        step=table.resolution_s or 0.0,
    )
    given = {"n": keys["n"], "variant": said["variant"], "exchange": said["exchange"]}
    alone = keys["ppn"] == 1 and keys["threads"] != 1  # one process, with threads to be placed
    bind = str(said.get("omp_proc_bind", "spread")) if alone else "spread"
    layout = Layout(int(keys["nodes"]), int(keys["ppn"]), int(keys["threads"]), bind=bind)
    return _Todo(cell, "poisson_cg", given, layout, lambda record: float(record["times_s"][0]))


def _sweeps(table: str, said: Mapping[str, Any], there: SimulatedCluster) -> Iterator[_Todo]:
    """A cube of n^3 points on every rank, as the paper says, and n^3 points in all.

    The paper's figures look like the second: time lost to communication grows with the number of
    ranks, and 48 such cubes would need 1.3 TB on one node.
    """
    node, ranks, n = there.cluster.node, int(said["ranks"]), said["n"]
    grid = "x".join(str(said[axis]) for axis in ("px", "py", "pz"))
    whole = said["nodes"] == 1 and ranks in (node.cores, node.cores * node.threads_per_core)
    cell = Cell(
        *(table, JACOBI, {"ranks": ranks, "grid": grid, "nodes": said["nodes"]}),
        float(said["mlups"]),
        fitted=ranks == 1 or said["bind"] == "close" or whole,
    )
    layout = Layout(said["nodes"], ranks // int(said["nodes"]), 1, "threads", said["bind"])
    readings = {f"{n}^3 points a rank": {"L": n}, f"{n}^3 points in all": {"size": f"{n}x{n}x{n}"}}
    for reading, size in readings.items():
        given = {**size, "topology": grid, "repetitions": 1, "warmup": 0}
        yield _Todo(
            *(replace(cell, reading=reading), "jacobi3d", given, layout),
            lambda record: float(record["result"]["mlups"]),
        )
