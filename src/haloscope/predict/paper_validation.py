# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of simulations with published values: predicted, published, and ratio, by cell.

Cells that set a number of the cluster file (`set_by` beside that number) are reported separately
from the others, which are only predicted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from haloscope.analysis.validation.predictions import (
    COARSEST,
    JACOBI,
    STEP,
    WALL_TIME,
    PredictedCell,
)
from haloscope.analysis.validation.published import called
from haloscope.clusters.node import NodeSpread
from haloscope.clusters.other_jobs import occupied
from haloscope.clusters.quantity import Quantity
from haloscope.clusters.set_by import set_by
from haloscope.errors import Problem, UserError, nearest
from haloscope.layout import CORES, Layout
from haloscope.papers import tables as papers
from haloscope.papers.tables import ExactTime, PaperTable, PublishedValue, exact_times
from haloscope.predict import gpu_tables, mapping_tables
from haloscope.predict.naive import with_guesses
from haloscope.predict.unpredicted import Unpredicted
from haloscope.run.places.places import place
from haloscope.run.places.simulated import SimulatedCluster
from haloscope.run.prepare.workbench import Workbench
from haloscope.run.progress import Teller
from haloscope.run.run_view import RunView
from haloscope.study.case import Case, Launch
from haloscope.toolchains.build import KernelProgram
from haloscope.toolchains.simgrid import SIMGRID
from haloscope.topics.grids import PRINTED_SPLITS

_MAPPING = "mapping"
"""_MAPPING is the kind of tables of one job on few and on many nodes."""
_SUMS, _RING = "matrix_sum", "ring"
"""_SUMS and _RING are the kinds of tables of sums, and of messages around a ring."""
_EXCHANGE = "nonblocking"
"""_EXCHANGE is the exchange of tables that name none: those of one process, which exchanges
nothing, and those of the newest program.
"""


def tables_of(paper_id: str, selected: Sequence[str]) -> list[PaperTable]:
    """Return the tables of a paper that name a cluster file; `selected`: only these.

    A table with several machines is returned as several tables with the same id.
    """
    paper = papers.load(paper_id)
    able = [part for table in paper.tables.values() for part in table.by_machine()]
    unable = [name for name in selected if name not in [table.id for table in able]]
    for name in (name for name in unable if name not in paper.tables):
        remedy = nearest(name, [table.id for table in able])
        raise UserError(Problem(f"validate {paper_id}", f"unknown table '{name}'", remedy))
    if unable or not able:
        known = ", ".join(dict.fromkeys(table.id for table in able)) or "none"
        which = f"table {', '.join(unable)}" if unable else "its tables"
        what = f"{which} cannot be predicted"
        remedy = f"choose a table that names a cluster file: {known}"
        raise UserError(Problem(f"validate {paper_id}", what, remedy))
    return [table for table in able if not selected or table.id in selected]


@dataclass(frozen=True)
class Replicates:
    """Number of simulations per cell, with nodes and other jobs drawn anew.

    spread: assumed standard deviation of node times; None: that of the cluster file.
    """

    number: int
    spread: float | None = None

    def of(self, there: SimulatedCluster) -> SimulatedCluster:
        """Return the place with that spread. Raise UserError if its file has no variability."""
        node = there.cluster.node
        if self.spread is not None:
            assumed = Quantity(value=self.spread, source="assumed: --spread")
            node = node.model_copy(update={"spread": NodeSpread(nodes=assumed)})
        elif node.spread is None and there.cluster.others is None:
            what = (
                f"the cluster file of {there.name} describes neither node-to-node variability nor "
                "other jobs, so replicates would be identical"
            )
            remedy = (
                "remove --replicates, or assume some variability, for example with --spread 0.02"
            )
            raise UserError(Problem(f"--replicates {self.number}", what, remedy))
        return replace(there, cluster=there.cluster.model_copy(update={"node": node}))


def validate(
    table: PaperTable, tell: Teller, replicates: Replicates | None = None
) -> list[PredictedCell]:
    """Simulate every cell of a table that has a value, in each reading."""
    there = simulated_place(table)
    if replicates is None:
        return predicted(table, there, tell)
    return predicted(table, replicates.of(there), tell, replicates.number)


def simulated_place(table: PaperTable) -> SimulatedCluster:
    """Return the machine of a table, as described by its cluster file or its example."""
    there = place(str(table.facts["cluster_file"]))
    assert isinstance(there, SimulatedCluster)
    return replace(there, cluster=gpu_tables.as_assumed(table, there.cluster))


def predicted(
    table: PaperTable, there: SimulatedCluster, tell: Teller, launches: int = 1
) -> list[PredictedCell]:
    """Simulate the cells on another machine, or on the same one with a changed number."""
    cells = _answered(table, list(_unpredicted(table, there)), there, tell, launches)
    return with_guesses(table, cells)


def not_predicted(paper_id: str) -> list[str]:
    """Describe the tables of a paper that cannot be predicted, with reasons."""
    tables = papers.load(paper_id).tables.values()
    why = [(called(one.id), one.not_predicted) for one in tables if one.not_predicted]
    return [f"Not predicted: {name}: {reason}." for name, reason in why]


def unreadable(table: PaperTable) -> list[str]:
    """Describe the cells of a table that could not be read, with what is known about them."""
    return [f"Left out of {called(table.id)}: {what}" for what in table.omitted]


def said(table: PaperTable) -> tuple[str, ...]:
    """Return notes about the table, and about other jobs assumed in the simulation."""
    return (*table.notes, *occupied.notes(simulated_place(table).cluster))


def _answered(
    table: PaperTable,
    cells: Sequence[Unpredicted],
    there: SimulatedCluster,
    tell: Teller,
    launches: int,
) -> list[PredictedCell]:
    """Return the cells with their predictions on a machine; each case is simulated once."""
    bench = there.workbench({}, tell)
    every = [one for cell in cells for one in (cell, cell.over) if one is not None]
    bench.build({SIMGRID: [KernelProgram.of(one.kernel, one.given) for one in every]}, tell)
    program = bench.program

    def case(one: Unpredicted) -> Case:
        return replace(one.case(program), launches=launches)

    cases = [(case(one), case(one.over) if one.over else None) for one in cells]
    each = {one.id: one for pair in cases for one in pair if one is not None}
    records = simulated(f"validate {table.paper}", [*each.values()], there, bench, tell)
    return [
        cell.answered(records[one.id], records[over.id] if over else ())
        for cell, (one, over) in zip(cells, cases, strict=True)
    ]


def simulated(
    study: str, cases: Sequence[Case], there: SimulatedCluster, bench: Workbench, tell: Teller
) -> dict[str, list[Mapping[str, Any]]]:
    """Return the records of each case by its id, one per launch."""
    launches = {
        (case.id, number): Launch(case, number) for case in cases for number in range(case.launches)
    }
    records: dict[str, list[Mapping[str, Any]]] = {}
    runner = there.runner(study, 0, bench, {})
    with RunView(tell.console, list(launches.values()), {}, at_once=there.at_once) as view:
        for record in runner.run(view.watch(list(launches.values()))):
            records.setdefault(record["case"], []).append(record)
            view.ended(launches[record["case"], record["launch"]], record)
    return records


def _unpredicted(table: PaperTable, there: SimulatedCluster) -> Iterator[Unpredicted]:
    if table.kind == _MAPPING:
        yield from mapping_tables.unpredicted(table, there.cluster)
        return
    for row, exact in _published(table):
        said = {**table.facts, **row}
        sets = set_by(there.cluster, table, row)
        if said.get("memory") == "gpu":
            cells = iter([gpu_tables.unpredicted(table, said)])
        elif table.kind == _SUMS:
            cells = iter([_sum(table, said)])
        elif table.kind == _RING:
            cells = iter([_ring(table, said, there.cluster.node.cores)])
        elif table.kind == JACOBI:
            cells = _sweeps(table.id, said, there)
        elif isinstance(said["time_s"], int | float):
            cells = iter([_solve(table, said, there, exact)])
        else:
            continue
        known = exact.row if exact else row
        yield from (replace(one, cell=replace(one.cell, sets=sets, row=known)) for one in cells)


def _published(
    table: PaperTable,
) -> Iterator[tuple[Mapping[str, PublishedValue], ExactTime | None]]:
    """Yield the rows of a table with their more exact times; then cells that only these have."""
    exact = exact_times(table)
    for row in table.rows:
        yield row, exact.pop(tuple(row[key] for key in table.keys), None)
    yield from ((one.row, one) for one in exact.values())


@cache
def _iterations(n: int) -> int:
    """Return the iterations of a solve on a mesh, from either paper's table of convergence."""
    for paper in papers.list_papers():
        for table in paper.tables.values():
            if table.kind == "convergence" and (found := table.cell("iterations", n=n)):
                return int(found.value)
    return 0


def _solve(
    table: PaperTable, said: Mapping[str, Any], there: SimulatedCluster, exact: ExactTime | None
) -> Unpredicted:
    """Return a cell of a solve; the published variant and exchange are facts of the table.

    The papers do not state the placement of a node's processes: they are assumed to be spread over
    its sockets, as in built-in studies. If the cluster file has the costs of unbound processes,
    those on several nodes are assumed to be unbound; cells on one node set the memory's parameters.
    OMP_PROC_BIND, which some tables state, places the threads of each process.
    """
    keys = {name: said.get(name, 1) for name in ("n", *CORES)}
    published = exact.time_s if exact else float(said["time_s"])
    step = exact.step_s if exact else table.resolution_s or 0.0
    cell = PredictedCell(
        *(table.id, WALL_TIME, keys, published),
        telling=step / 2 <= COARSEST * published,
        step=step,
        iterations=_iterations(int(keys["n"])),
        whole_nodes=keys["ppn"] * keys["threads"] >= there.cluster.node.cores,
    )
    given = {
        "n": keys["n"],
        "variant": said["variant"],
        "exchange": said.get("exchange", _EXCHANGE),
    }
    layout = Layout(
        nodes=int(keys["nodes"]),
        ppn=int(keys["ppn"]),
        threads=int(keys["threads"]),
        bind="none" if there.cluster.node.unbound and keys["nodes"] > 1 else "spread",
        thread_bind=str(said.get("omp_proc_bind", Layout.thread_bind)),
    )
    return Unpredicted(cell, "poisson_cg", given, layout)


def _sweeps(table: str, said: Mapping[str, Any], there: SimulatedCluster) -> Iterator[Unpredicted]:
    """Yield a cube of n^3 points per rank, as the paper states, and n^3 points in total.

    Each rank has its own core if there are enough: rates are per core. The paper's figures look
    like the second reading: time lost to communication grows with the number of ranks, and 48 such
    cubes would need 1.3 TB on one node.
    """
    ranks, n = int(said["ranks"]), said["n"]
    grid = "x".join(str(said[axis]) for axis in ("px", "py", "pz"))
    cell = PredictedCell(
        *(table, JACOBI, {"ranks": ranks, "grid": grid, "nodes": said["nodes"]}),
        float(said["mlups"]),
    )
    ppn = ranks // int(said["nodes"])
    places = "cores" if ppn <= there.cluster.node.cores else "threads"
    layout = Layout(said["nodes"], ppn, 1, places, said["bind"])
    readings = {
        f"{n}^3 points per rank": {"L": n},
        f"{n}^3 points in total": {"size": f"{n}x{n}x{n}"},
    }
    for reading, size in readings.items():
        given = {**size, "variant": "plain", "topology": grid, "repetitions": 1, "warmup": 0}
        yield Unpredicted(
            *(replace(cell, reading=reading), "jacobi3d", given, layout),
            lambda record: float(record["result"]["mlups"]),
        )


def _sum(table: PaperTable, said: Mapping[str, Any]) -> Unpredicted:
    """Return a sum. The published value is the middle of an interval of the mean."""
    low, high = float(said["time_low_s"]), float(said["time_high_s"])
    grid = "x".join(str(said[axis]) for axis in ("px", "py", "pz"))
    split = next(ours for ours, printed in PRINTED_SPLITS.items() if printed == said["split"])
    keys = {"topology": grid, "distribution": split}
    cell = PredictedCell(table.id, STEP, keys, (low + high) / 2, step=high - low)
    size = "x".join(str(said[axis]) for axis in ("nx", "ny", "nz"))
    layout = Layout(nodes=said["nodes"], ppn=said["ranks"] // said["nodes"], bind="close")
    return Unpredicted(cell, "sum3d", {"size": size, **keys, "repetitions": 1}, layout)


def _ring(table: PaperTable, said: Mapping[str, Any], cores: int) -> Unpredicted:
    """Return the time of a message with the most processes of a linear piece.

    The paper prints half the slope over the processes. Simulated cycles have no intercept.
    """
    ranks = int(said["ranks_to"])
    nodes = max(1, ranks // cores)
    cell = PredictedCell(
        *(table.id, STEP, {"ranks": ranks}, float(said["latency_s"])),
        step=table.resolution_s or 0.0,
    )
    layout = Layout(nodes=nodes, ppn=ranks // nodes, bind="close")
    return Unpredicted(
        *(cell, "ring", {"repetitions": 1}, layout),
        lambda record: float(record["times_s"][0]) / (2 * ranks),
    )
