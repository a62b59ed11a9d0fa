# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of a node in a cluster file, by least squares over a paper's cells.

usage: .venv/bin/python bench/one_node.py

What cores get of the memory, by cells of one node; and how sharp the last cache's edge is, by a
few cells of several nodes, which the cluster files name. By halobench's own node model,
which node_cost.cpp asks: it is compiled for that. A solve's messages within a node
are left out: they take less than 1 % of a cell of 5 s. Nothing is measured, nothing is simulated.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, product
from math import hypot
from pathlib import Path

from turns import ROOT

from haloscope.clusters.file import find
from haloscope.clusters.node import Memory, expected_slowest
from haloscope.clusters.quantity import Quantity
from haloscope.clusters.schema import Cluster
from haloscope.clusters.simgrid.files import machine_file
from haloscope.layout import Layout
from haloscope.papers import tables as papers
from haloscope.study.case import Case
from haloscope.toolchains.build import compiler
from haloscope.toolchains.simgrid import SIMGRID

ITERATIONS = {
    row["n"]: row["iterations"]
    for row in papers.load("hpcf-2018-10").table("3.1").rows
    if isinstance(row["n"], int) and isinstance(row["iterations"], int)
}
"""Of a solve by n: those of hpcf-2010-6 are the same where both have it."""
BYTES, SET_BYTES = 120, 32
"""Of a point: moved in an iteration of the textbook loops, and in their four vectors."""
ROUNDED = 12**-0.5
"""ROUNDED is the standard deviation of what whole seconds leave out; other times leave out none."""
SPREAD = 0.012
"""Of the same solves on one node: node.spread of stampede2 and zenith."""


STAMPEDE2 = ("3.1", "4.1", "4.2", "4.3", "7.1")
"""Tables with cells of one of its nodes."""
SEVERAL = ("4.1", 8192, (8, 16))
"""The table, the mesh and the nodes of cells beyond one node that set the law of the last cache:
working sets of 1.4 to 7.8 times the caches of a node."""
MESSAGES_S = 40e-6
"""MESSAGES_S is what messages of an iteration take of these cells: 15 to 53 us, as simulated."""


@dataclass(frozen=True)
class Cell:
    """A solve. cores: in use on each node, one a thread."""

    n: int
    cores: int
    time_s: float
    nodes: int = 1

    @property
    def off_s(self) -> float:
        """How far a time like that may be off: its standard deviation."""
        return hypot(ROUNDED if self.time_s.is_integer() else 0.0, SPREAD * self.time_s)

    @property
    def swept_s(self) -> float:
        """What sweeps take of it on a node like most: without messages, and the slowest node."""
        messages = MESSAGES_S * ITERATIONS[self.n] if self.nodes > 1 else 0.0
        return (self.time_s - messages) / expected_slowest(SPREAD, self.nodes)


@dataclass(frozen=True)
class Law:
    """What a sweep finds in the last cache."""

    sharpness: float
    knee: float | None


def cells_of(
    paper: str, tables: Sequence[str], n: int | None = None, nodes: Sequence[int] = (1,)
) -> list[Cell]:
    """Of so many nodes; none of one process with threads, which has one socket's memory first.

    n: the mesh; None: any.
    """
    rows = (row for table in tables for row in papers.load(paper).table(table).rows)
    found = []
    for row in rows:
        mesh, ppn, threads, time = row["n"], row["ppn"], row.get("threads", 1), row["time_s"]
        if row["nodes"] not in nodes or mesh not in ITERATIONS or (ppn == 1 and threads != 1):
            continue
        if isinstance(time, int | float) and n in (None, mesh):
            assert isinstance(mesh, int) and isinstance(ppn, int) and isinstance(threads, int)
            found.append(Cell(mesh, ppn * threads, float(time), int(str(row["nodes"]))))
    return found


@dataclass(frozen=True)
class NodeModel:
    """halobench's, in a process that is asked: `node_model` starts it. folder: for its files."""

    program: subprocess.Popen[str]
    folder: Path
    numbers: Iterator[int] = field(default_factory=count)

    def costs(self, machine: str, cells: Sequence[Cell]) -> list[tuple[float, float]]:
        """Seconds of an iteration of each cell, and what the memory moves for one core meanwhile.

        machine: the node, as halobench reads it. Bytes. RuntimeError where it refuses that.
        """
        into, out = self.program.stdin, self.program.stdout
        assert into is not None and out is not None
        file = self.folder / f"machine-{next(self.numbers)}"
        file.write_text(machine, encoding="utf-8")
        for cell in cells:
            points = cell.n**2 / cell.nodes / cell.cores
            into.write(f"{file} {BYTES * points!r} {SET_BYTES * points!r} {cell.cores} 1\n")
        into.flush()
        answers = [out.readline().split() for _ in cells]
        if not all(answers):
            raise RuntimeError(f"{self.program.args!r} gave no answer for\n{machine}")
        return [(float(seconds), float(moved)) for seconds, moved in answers]


@contextmanager
def node_model() -> Iterator[NodeModel]:
    """Compile the program that asks it, and start that."""
    with tempfile.TemporaryDirectory() as name:
        program, sources = Path(name) / "node_cost", ROOT / "halobench"
        parts = [ROOT / "bench" / "node_cost.cpp", sources / "machine" / "node_model.cpp"]
        command = [compiler() or "c++", "-std=c++20", "-O1", f"-I{sources}", *map(str, parts)]
        subprocess.run([*command, "-o", str(program)], check=True)
        pipe = subprocess.PIPE
        with subprocess.Popen([str(program)], text=True, stdin=pipe, stdout=pipe) as process:
            yield NodeModel(process, Path(name))


def machine_of(cluster: Cluster, law: Law, memory_bytes_per_s: float | None = None) -> str:
    """Its node with another law, and where that is given, as much of the memory for any cores."""
    knee = None if law.knee is None else assumed(law.knee)
    other: dict[str, object] = {"sharpness": assumed(law.sharpness), "knee": knee}
    if memory_bytes_per_s is not None:
        memory = Memory(cores=1, bandwidth_bytes_per_s=assumed(memory_bytes_per_s))
        other["memory"] = (memory,)
    described = cluster.model_copy(update={"node": cluster.node.model_copy(update=other)})
    layout = Layout(bind="spread")
    case = Case("poisson_cg", {"variant": "textbook"}, {}, layout, SIMGRID, 0, 1, 600.0, 0)
    return machine_file(described, case)


def assumed(value: float) -> Quantity:
    """A number to be tried."""
    return Quantity(value=value, source="assumed: tried by bench/one_node.py")


def parts(
    model: NodeModel, cluster: Cluster, cells: Sequence[Cell], law: Law
) -> list[tuple[float, float]]:
    """Seconds of each cell in caches, and the bytes that the memory of the node moves beside them.

    A memory that takes no time leaves the caches' part of what the model says.
    """
    costs = model.costs(machine_of(cluster, law, memory_bytes_per_s=1e30), cells)
    return [
        (ITERATIONS[cell.n] * seconds, ITERATIONS[cell.n] * moved * cell.cores)
        for cell, (seconds, moved) in zip(cells, costs, strict=True)
    ]


def memory(
    model: NodeModel, cluster: Cluster, cells: Sequence[Cell], law: Law
) -> Iterator[tuple[int, float, float]]:
    """For each number of cores in use: their bytes a second, and the misfit of their cells.

    Cells of one node choose the rate; where there are others, the misfit is theirs.
    """
    pairs = list(zip(cells, parts(model, cluster, cells, law), strict=True))
    several = any(cell.nodes > 1 for cell in cells)
    for cores in sorted({cell.cores for cell in cells}):
        weighed = [(*both, one) for one, both in pairs if one.cores == cores]
        alone = [each for each in weighed if each[2].nodes == 1]
        above = sum(moved * (one.time_s - cached) / one.off_s**2 for cached, moved, one in alone)
        below = sum(moved**2 / one.off_s**2 for _, moved, one in alone)
        slow = above / below
        judges = [each for each in weighed if (each[2].nodes > 1) == several]
        off = [(c + m * slow - one.swept_s) / one.off_s for c, m, one in judges]
        yield cores, 1 / slow, sum(each**2 for each in off)


def law_of(cluster: Cluster) -> Law:
    """As the file has it."""
    node = cluster.node
    knee = node.knee.value if node.knee else None
    return Law(node.sharpness.value if node.sharpness else 1.0, knee)


def best_law(model: NodeModel, cluster: Cluster, cells: Sequence[Cell]) -> tuple[Law, float]:
    """The law that fits cells of several nodes best, with the memory of each law; its misfit."""

    def off(law: Law) -> float:
        return sum(one[2] for one in memory(model, cluster, cells, law))

    laws = (Law(s / 10, k / 10) for s, k in product(range(10, 31), range(10, 41)))
    return min(((law, off(law)) for law in laws), key=lambda found: found[1])


def tell(model: NodeModel) -> None:
    """Print each machine's numbers."""
    golds = {"zenith-omnipath": "6.1", "rattler": "6.2", "zenith-ethernet": "6.3"}
    machines = {
        **{name: (find(name), cells_of("hpcf-2018-10", [one])) for name, one in golds.items()},
        "stampede2": (find("stampede2"), cells_of("hpcf-2018-10", STAMPEDE2)),
        "tara": (find("tara"), cells_of("hpcf-2010-6", ["4.1", "5.1"])),
    }
    table, n, nodes = SEVERAL
    several = cells_of("hpcf-2018-10", [table], n, nodes)
    cluster, alone = machines["stampede2"]
    law, off = best_law(model, cluster, [*alone, *several])
    found = f"sharpness {law.sharpness:g}, knee {law.knee}"
    print(f"stampede2: {found}; chi squared {off:.0f} of {len(several)} cells of several nodes")
    for name, (cluster, cells) in machines.items():
        law = law_of(cluster)
        print(f"  {name}, sharpness {law.sharpness:g}, knee {law.knee}:")
        for cores, rate, off in memory(model, cluster, cells, law):
            number = sum(one.cores == cores for one in cells)
            print(f"  {cores} cores: {rate / 1e9:.2f} GB/s; chi squared {off:.1f} of {number}")


def main() -> None:
    """Ask halobench's node model."""
    with node_model() as model:
        tell(model)


if __name__ == "__main__":
    main()
