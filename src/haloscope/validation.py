"""Simulations set against published wall times: predicted, published, ratio, cell by cell.

The honest protocol: what a cluster file takes from a paper it takes from cells of one node. Those
cells are reported apart from the others, which are predicted only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from haloscope import papers
from haloscope.case import Case, Job, Layout
from haloscope.errors import Problem, UserError
from haloscope.papers import PaperTable, Scalar
from haloscope.places import SIMGRID, Simulated, place
from haloscope.plan import Program
from haloscope.progress import RunView, Teller

SHORTEST_S = 5.0
"""Below, a wall time printed in whole seconds says too little."""


@dataclass(frozen=True)
class Cell:
    """A published wall time and its prediction, both in seconds.

    keys: what tells it from others in its table: n, nodes, ppn, threads. problem: why there is no
    prediction, if there is none.
    """

    table: str
    keys: Mapping[str, Scalar]
    published_s: float
    predicted_s: float | None
    problem: str | None = None

    @property
    def fitted(self) -> bool:
        """Could the cluster file's numbers have been taken from it? One node's could."""
        return self.keys["nodes"] == 1

    @property
    def error(self) -> float | None:
        """Relative to the published time; None without a prediction, or if that is too short."""
        if self.predicted_s is None or self.published_s < SHORTEST_S:
            return None
        return self.predicted_s / self.published_s - 1


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
    if unable or not able:
        known = ", ".join(table.id for table in able) or "none"
        what = f"no cluster file describes the machine of {', '.join(unable) or 'its tables'}"
        raise UserError(Problem(f"validate {paper_id}", what, f"tables with one: {known}"))
    return [table for table in able if not wanted or table.id in wanted]


def validate(table: PaperTable, tell: Teller) -> list[Cell]:
    """Simulate every cell of a table that has a wall time."""
    there = place(str(table.facts["cluster_file"]))
    assert isinstance(there, Simulated)
    bench = there.workbench({}, tell)
    rows = [row for row in table.rows if isinstance(row["time_s"], int | float)]
    cases = [_case(table, row, bench.program) for row in rows]
    todo = {case.id: Job(case, 0) for case in cases}
    found: dict[str, Mapping[str, Any]] = {}
    runner = there.runner(f"validate {table.paper}", 0, bench, {})
    with RunView(tell.console, list(todo.values()), {}) as view:
        for record in runner.run(view.watch(list(todo.values()))):
            found[record["case"]] = record
            view.ended(todo[record["case"]], record)
    return [_cell(table, row, found[case.id]) for row, case in zip(rows, cases, strict=True)]


def _case(table: PaperTable, row: Mapping[str, Any], program: Program) -> Case:
    """The published program is the textbook variant, with the exchange that the table names."""
    said = {**table.facts, **row}
    given = {"n": said["n"], "variant": "textbook", "exchange": said["exchange"]}
    layout = Layout(said["nodes"], said["ppn"], said.get("threads", 1))
    forecast = program.forecast("poisson_cg", given, layout.ranks, layout.threads)
    return Case(
        kernel="poisson_cg",
        given=given,
        params=forecast.params,
        layout=layout,
        toolchain=SIMGRID,
        run=0,
        launches=1,
        timeout_s=600,
        memory_bytes=forecast.memory_bytes,
    )


def _cell(table: PaperTable, row: Mapping[str, Any], record: Mapping[str, Any]) -> Cell:
    said = {**table.facts, **row}
    keys = {name: said.get(name, 1) for name in ("n", "nodes", "ppn", "threads")}
    good = record["outcome"] == "ok"
    predicted = record["times_s"][0] if good else None
    return Cell(table.id, keys, float(row["time_s"]), predicted, record["reason"])
