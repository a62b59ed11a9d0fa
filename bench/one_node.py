# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of a node in a cluster file, by least squares over a paper's cells of one node.

usage: .venv/bin/python bench/one_node.py

What cores get of the memory, and of nodes whose own cells tell more, the sharpness and the rate of
the last cache, by halobench's own node model, which node_cost.cpp asks: it is compiled for that. A
solve's messages are left out: within a node they take less than 1 % of a cell of 5 s. Nothing is
measured, nothing is simulated.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, product
from math import hypot, inf
from pathlib import Path

from turns import ROOT

from haloscope.clusters.file import find
from haloscope.clusters.schema import Cluster, Memory, Quantity
from haloscope.clusters.simgrid_files import machine_file
from haloscope.papers import tables as papers
from haloscope.study.case import Case, Layout
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


@dataclass(frozen=True)
class Cell:
    """A solve on one node. cores: in use, one a thread."""

    n: int
    cores: int
    time_s: float

    @property
    def off_s(self) -> float:
        """How far a time like that may be off: its standard deviation."""
        return hypot(ROUNDED if self.time_s.is_integer() else 0.0, SPREAD * self.time_s)


@dataclass(frozen=True)
class Law:
    """What a sweep finds in the last cache, and what a core takes from there, alone."""

    sharpness: float
    rate: float


def cells_of(paper: str, tables: Sequence[str]) -> list[Cell]:
    """Of one node; none of one process with threads, which has one socket's memory first."""
    rows = (row for table in tables for row in papers.load(paper).table(table).rows)
    found = []
    for row in rows:
        n, ppn, threads, time = row["n"], row["ppn"], row.get("threads", 1), row["time_s"]
        if row["nodes"] != 1 or n not in ITERATIONS or (ppn == 1 and threads != 1):
            continue
        if isinstance(time, int | float):
            assert isinstance(n, int) and isinstance(ppn, int) and isinstance(threads, int)
            found.append(Cell(n, ppn * threads, float(time)))
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
            points = cell.n**2 / cell.cores
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
    node = cluster.node
    *caches, last = sorted(node.caches, key=lambda one: one.size_bytes)
    alone, crowded = last.bandwidth_bytes_per_s, last.crowded_bytes_per_s
    assert alone is not None
    rates = {"bandwidth_bytes_per_s": assumed(law.rate)}
    if crowded:
        rates["crowded_bytes_per_s"] = assumed(law.rate * crowded.value / alone.value)
    other = {
        "caches": (*caches, last.model_copy(update=rates)),
        "sharpness": assumed(law.sharpness),
    }
    if memory_bytes_per_s is not None:
        memory = Memory(cores=1, bandwidth_bytes_per_s=assumed(memory_bytes_per_s))
        other["memory"] = (memory,)
    described = cluster.model_copy(update={"node": node.model_copy(update=other)})
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
    """For each number of cores in use: their bytes a second, and the misfit of their cells."""
    told = list(zip(cells, parts(model, cluster, cells, law), strict=True))
    for cores in sorted({cell.cores for cell in cells}):
        weighed = [(*both, one.time_s, one.off_s) for one, both in told if one.cores == cores]
        above = sum(moved * (time - cached) / off**2 for cached, moved, time, off in weighed)
        below = sum(moved**2 / off**2 for _, moved, _, off in weighed)
        slow = above / below
        misfit = sum(((c + m * slow - time) / off) ** 2 for c, m, time, off in weighed)
        yield cores, 1 / slow, misfit


def law_of(cluster: Cluster) -> Law:
    """As the file has it."""
    node = cluster.node
    last = max(node.caches, key=lambda one: one.size_bytes)
    assert last.bandwidth_bytes_per_s is not None
    return Law(node.sharpness.value if node.sharpness else 1.0, last.bandwidth_bytes_per_s.value)


def best_law(
    model: NodeModel, machines: Sequence[tuple[Cluster, Sequence[Cell]]]
) -> tuple[Law, float]:
    """The law that fits all of them best, each with a memory of its own; and its misfit."""
    best, least = Law(1, 1), inf
    for k, rate in product(range(16, 29), range(48, 72)):
        law = Law(k / 20, rate / 2 * 1e9)
        misfit = sum(one[2] for each, cells in machines for one in memory(model, each, cells, law))
        if misfit < least:
            best, least = law, misfit
    return best, least


def tell(model: NodeModel) -> None:
    """Print each machine's numbers."""
    golds = {"zenith-omnipath": "6.1", "rattler": "6.2", "zenith-ethernet": "6.3"}
    machines = {
        **{name: (find(name), cells_of("hpcf-2018-10", [one])) for name, one in golds.items()},
        "stampede2": (find("stampede2"), cells_of("hpcf-2018-10", STAMPEDE2)),
        "tara": (find("tara"), cells_of("hpcf-2010-6", ["4.1", "5.1"])),
    }
    common = tell_best(model, ", ".join(golds), [machines[name] for name in golds])
    for name, (cluster, cells) in machines.items():
        if name != "tara":
            tell_best(model, name, [(cluster, cells)])
        law = common if name in golds else law_of(cluster)
        print(f"  {name}, sharpness {law.sharpness:g}, last cache {law.rate / 1e9:g} GB/s:")
        for cores, rate, misfit in memory(model, cluster, cells, law):
            number = sum(one.cores == cores for one in cells)
            print(f"  {cores} cores: {rate / 1e9:.2f} GB/s; chi squared {misfit:.1f} of {number}")


def tell_best(
    model: NodeModel, name: str, machines: Sequence[tuple[Cluster, Sequence[Cell]]]
) -> Law:
    """Print the law that fits them best."""
    law, misfit = best_law(model, machines)
    number = sum(len(cells) for _, cells in machines)
    print(
        f"{name}: best sharpness {law.sharpness:g}, last cache {law.rate / 1e9:g} GB/s alone; "
        f"chi squared {misfit:.0f} of {number} cells"
    )
    return law


def main() -> None:
    """Ask halobench's node model."""
    with node_model() as model:
        tell(model)


if __name__ == "__main__":
    main()
