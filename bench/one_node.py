"""Numbers of a node in a cluster file, by least squares over a paper's cells of one node.

usage: .venv/bin/python bench/one_node.py

What cores get of the memory, and of nodes whose own cells tell more, the sharpness and the rate of
the last cache, by the law of halobench/machine/node_model.hpp. A solve's messages are left out:
within a node they take less than 1 % of a cell of 5 s. Nothing is measured, nothing is simulated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, floor, hypot, inf

from haloscope.clusters.file import find
from haloscope.clusters.schema import Node
from haloscope.papers import tables as papers

ITERATIONS = {
    row["n"]: row["iterations"]
    for row in papers.load("hpcf-2018-10").table("3.1").rows
    if isinstance(row["n"], int) and isinstance(row["iterations"], int)
}
"""Of a solve by n: those of hpcf-2010-6 are the same where both have it."""
BYTES, SET_BYTES = 120, 32
"""Of a point: moved in an iteration of the textbook loops, and in their four vectors."""
ROUNDED = 12**-0.5
"""ROUNDED is the standard deviation of what is lost to whole seconds."""
SPREAD = 0.012
"""Of the same solves on one node: node.spread of stampede2 and zenith."""


@dataclass(frozen=True)
class Cell:
    """A solve on one node. cores: in use, one a thread."""

    n: int
    cores: int
    time_s: float


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
            found.append(Cell(n, ppn * threads, time))
    return found


def parts(node: Node, cell: Cell, law: Law) -> tuple[float, float]:
    """Seconds of a cell in caches, and the bytes that the memory of the node moves beside them."""
    in_use, socket = cell.cores, node.cores / node.sockets
    crowd = min(1.0, (ceil(in_use / node.sockets) - 1) / (socket - 1))
    own = 1 / ceil(in_use / node.cores)
    points = cell.n**2 / in_use
    found = seconds = 0.0
    caches = sorted(node.caches, key=lambda one: one.size_bytes)
    for cache in caches:
        alone, full = cache.bandwidth_bytes_per_s, cache.crowded_bytes_per_s
        assert alone is not None
        left = full.value / alone.value if full else 1.0
        last = cache is caches[-1]
        sharing = max(1, ceil(in_use * cache.shared_by / node.cores))
        share = min(1.0, cache.size_bytes / sharing / (SET_BYTES * points))
        held = share**law.sharpness if last else floor(share)
        if held > found:
            fast = (law.rate if last else alone.value) * lerped(left, crowd) * own
            seconds, found = seconds + (held - found) / fast, held
    moved = BYTES * points * ITERATIONS[cell.n]
    return moved * seconds, moved * (1 - found) * in_use


def lerped(left: float, crowd: float) -> float:
    """What is left of a rate, between one core of a socket and all."""
    return 1 + crowd * (left - 1)


def memory(node: Node, cells: Sequence[Cell], law: Law) -> Iterator[tuple[int, float, float]]:
    """For each number of cores in use: their bytes a second, and the misfit of their cells."""
    for cores in sorted({cell.cores for cell in cells}):
        own = [cell for cell in cells if cell.cores == cores]
        weighed = [
            (*parts(node, one, law), one.time_s, hypot(ROUNDED, SPREAD * one.time_s)) for one in own
        ]
        above = sum(moved * (time - cached) / off**2 for cached, moved, time, off in weighed)
        below = sum(moved**2 / off**2 for _, moved, _, off in weighed)
        slow = above / below
        misfit = sum(((c + m * slow - time) / off) ** 2 for c, m, time, off in weighed)
        yield cores, 1 / slow, misfit


def law_of(node: Node) -> Law:
    """As the file has it."""
    last = max(node.caches, key=lambda one: one.size_bytes)
    assert last.bandwidth_bytes_per_s is not None
    return Law(node.sharpness.value if node.sharpness else 1.0, last.bandwidth_bytes_per_s.value)


def best_law(machines: Sequence[tuple[Node, Sequence[Cell]]]) -> tuple[Law, float]:
    """The law that fits all of them best, each with a memory of its own; and its misfit."""
    best, least = Law(1, 1), inf
    for k, rate in product(range(16, 29), range(48, 72)):
        law = Law(k / 20, rate / 2 * 1e9)
        misfit = sum(one[2] for node, cells in machines for one in memory(node, cells, law))
        if misfit < least:
            best, least = law, misfit
    return best, least


def main() -> None:
    """Print each machine's numbers."""
    xeons = {"zenith-omnipath": "6.1", "rattler": "6.2", "zenith-ethernet": "6.3"}
    by_file = {
        name: (find(name).node, cells_of("hpcf-2018-10", [table])) for name, table in xeons.items()
    }
    for name, machines in [*((one, [by_file[one]]) for one in xeons), ("all", [*by_file.values()])]:
        law, misfit = best_law(machines)
        number = sum(len(cells) for _, cells in machines)
        print(
            f"{name}: sharpness {law.sharpness:g}, last cache {law.rate / 1e9:g} GB/s alone; "
            f"chi squared {misfit:.0f} of {number} cells"
        )
    common, _ = best_law([*by_file.values()])
    others = {
        "stampede2": ("hpcf-2018-10", ["4.1", "4.2", "4.3", "7.1"]),
        "tara": ("hpcf-2010-6", ["4.1", "5.1"]),
    }
    fitted = {name: (*one, common) for name, one in by_file.items()}
    for name, (paper, tables) in others.items():
        node = find(name).node
        fitted[name] = (node, cells_of(paper, tables), law_of(node))
    for name, (node, cells, law) in fitted.items():
        print(f"{name}, sharpness {law.sharpness:g}, last cache {law.rate / 1e9:g} GB/s:")
        for cores, rate, misfit in memory(node, cells, law):
            number = sum(one.cores == cores for one in cells)
            print(f"  {cores} cores: {rate / 1e9:.2f} GB/s; chi squared {misfit:.1f} of {number}")


if __name__ == "__main__":
    main()
