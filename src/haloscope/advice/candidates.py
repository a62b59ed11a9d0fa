# SPDX-License-Identifier: BSD-3-Clause
"""Layouts worth comparing for a fixed number of tasks, and the studies that compare them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from haloscope.errors import Problem, UserError
from haloscope.layout import Layout, is_list, shares
from haloscope.quantities import count
from haloscope.study.case import Value
from haloscope.study.checks.capacity import Site

MOST_SPREAD = 8
"""MOST_SPREAD is the largest number of nodes among candidates, as a multiple of the fewest nodes,
because each doubling of nodes doubles the cost of time that does not shrink with it."""


@dataclass(frozen=True)
class Candidate(Layout):
    """A layout of a fixed number of tasks, made by `Candidate.of`.

    bind: spread if cores stay free, so that ranks use the memory bandwidth of every socket;
    otherwise close. called: name of a mapping that is a list of nodes.
    """

    called: str = field(default="", compare=False)

    @property
    def mapped(self) -> str:
        """Name of the mapping; "" on one node."""
        if self.nodes == 1:
            return ""
        if is_list(self.mapping):
            return self.called or "node list"
        return self.mapping.replace("_", " ")

    def __str__(self) -> str:
        """Describe the layout in words: 4 nodes, 16 tasks per node x 2 threads, block mapping."""
        threads = f" x {count(self.threads, 'thread')}" if self.threads > 1 else ""
        where = f"{count(self.nodes, 'node')}, {count(self.ppn, 'task')} per node{threads}"
        return ", ".join(filter(None, (where, self.mapped and f"{self.mapped} mapping")))

    def keys(self) -> Mapping[str, Value]:
        """Return the layout's keys in a study."""
        names = ("tasks", "nodes", "threads", "bind", "mapping", "mapping_seed")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


def default(tasks: int, site: Site) -> Candidate:
    """Return the layout of a job that requests only tasks: fewest nodes, in order, one
    thread each.
    """
    return _shape(tasks, -(-tasks // site.cores), 1, site)


def shapes(tasks: int, site: Site, most_nodes: int | None = None) -> list[Candidate]:
    """Return the layouts that fit a place, by number of nodes, the default first.

    The tasks per node are the cores of a node and their halves; the maximum number of nodes is also
    a candidate. Each task has one thread, or all cores that are free. most_nodes: maximum number of
    nodes; None: MOST_SPREAD times the fewest. Raise UserError if not even the fewest nodes fit.
    """
    fewest = -(-tasks // site.cores)
    limit = min(site.nodes, tasks, most_nodes or MOST_SPREAD * fewest)
    if fewest > limit:
        what = f"requires {count(fewest, 'node')} with {count(site.cores, 'core')} each"
        who = f"--most-nodes {most_nodes}" if most_nodes == limit else repr(site.name or "local")
        remedy = f"give at most {limit * site.cores} tasks, because {who} allows "
        remedy += count(limit, "node")
        raise UserError(Problem(f"--tasks {tasks}", what, remedy))
    numbers = []
    ppn = site.cores
    while (nodes := -(-tasks // ppn)) < limit and ppn > 1:
        numbers.append(nodes)
        ppn = -(-ppn // 2)
    found = []
    for number in dict.fromkeys([*numbers, limit]):
        free = site.cores // shares(tasks, number)[0]
        found += [_shape(tasks, number, threads, site) for threads in dict.fromkeys((1, free))]
    return list(dict.fromkeys(found))


def _shape(tasks: int, nodes: int, threads: int, site: Site) -> Candidate:
    spread = shares(tasks, nodes)[0] * threads < site.cores
    return Candidate.of(tasks, nodes, threads=threads, bind="spread" if spread else "close")


def grid_of(topology: object) -> list[int]:
    """Return the ranks along each axis of a `topology` such as 4x2x1; empty for any other text."""
    extents = str(topology or "").split("x")
    return [int(one) for one in extents] if all(one.isdigit() for one in extents) else []


def remapped(one: Candidate, grid: Sequence[int]) -> Iterator[Candidate]:
    """Yield the layout with other mappings of ranks to nodes; nothing on one node.

    grid: ranks along each axis, if the kernel has a Cartesian grid of ranks; otherwise empty.
    """
    if one.nodes == 1:
        return
    yield replace(one, mapping="round_robin")
    yield replace(one, mapping="random", mapping_seed=1)
    if (nodes := bricks(grid, one.ranks, one.nodes)) is not None:
        yield listed(one, "bricks", nodes)


def listed(one: Candidate, name: str, nodes: Sequence[int]) -> Candidate:
    """Return the layout with its ranks on these nodes, and with the name of that mapping."""
    return replace(one, mapping=",".join(map(str, nodes)), called=name)


def bricks(grid: Sequence[int], ranks: int, nodes: int) -> list[int] | None:
    """Return the node of every rank if each node holds a compact brick of a grid of ranks.

    Ranks are numbered as by MPI_Cart_create, the last axis fastest. Of the bricks that tile the
    grid, the one that separates the fewest neighbours is used. None if no brick of that size tiles
    the grid, or if the best one equals block mapping.
    """
    if not grid or prod(grid) != ranks or ranks % nodes:
        return None
    size = ranks // nodes
    fitting = [brick for brick in _boxes(size, tuple(grid)) if prod(brick) == size]
    if not fitting:
        return None
    best = min(fitting, key=lambda brick: _cut(brick, grid))
    along = [extent // part for extent, part in zip(grid, best, strict=True)]
    found = []
    for rank in range(ranks):
        place, rest = 0, rank
        where = []
        for extent in reversed(grid):
            rest, position = divmod(rest, extent)
            where.append(position)
        for position, part, number in zip(reversed(where), best, along, strict=True):
            place = place * number + position // part
        found.append(place)
    return None if found == sorted(found) else found


def _boxes(size: int, grid: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the extents that divide those of a grid and whose product divides `size`."""
    if not grid:
        yield ()
        return
    for extent in range(1, grid[0] + 1):
        if grid[0] % extent == 0 and size % extent == 0:
            for rest in _boxes(size // extent, grid[1:]):
                yield (extent, *rest)


def _cut(brick: Sequence[int], grid: Sequence[int]) -> int:
    """Count the pairs of neighbours in a non-periodic grid of ranks that are in
    different bricks.
    """
    ranks = prod(grid)
    return sum(
        (extent // part - 1) * ranks // extent for part, extent in zip(brick, grid, strict=True)
    )


def study(
    title: str,
    kernel: str,
    params: Mapping[str, Value],
    candidates: Sequence[Candidate],
    launches: int,
    timeout_s: int | None = None,
) -> str:
    """Return the text of a study that compares candidates.

    timeout_s: time limit per launch; None: the default of a study.
    """
    lines = [f"title = {json.dumps(title)}", f"launches = {launches}"]
    lines += [] if timeout_s is None else [f"timeout_s = {timeout_s}"]
    given = _table(params)
    for one in candidates:
        lines += ["", "[[runs]]", f"kernel = {json.dumps(kernel)}", f"params = {given}"]
        lines += [f"layout = {_table(one.keys())}", "skip_too_large = true"]
    return "\n".join(lines) + "\n"


def layout(one: Candidate) -> str:
    """Return the text of a layout file for `haloscope run --layout`."""
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in one.keys().items())


def _table(values: Mapping[str, Value]) -> str:
    """Format an inline TOML table; scalars are written as in JSON."""
    pairs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in values.items())
    return f"{{ {pairs} }}" if pairs else "{}"
