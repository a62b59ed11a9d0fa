# SPDX-License-Identifier: BSD-3-Clause
"""The capacity of a place: nodes, cores, memory, MPI libraries, transports, and placements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from haloscope.errors import Problem, outside
from haloscope.layout import Layout
from haloscope.quantities import count, size
from haloscope.study.case import Case, ranks_sharing_a_gpu
from haloscope.study.known_iterations import executes, why_executed
from haloscope.study.program import Forecast
from haloscope.study.values import LAUNCHES_LIMIT


@dataclass(frozen=True)
class PlaceFacts:
    """The properties of a place that planning and campaigns depend on.

    clock: the clock of its records. remote: whether its nodes are not this machine.
    deterministic: whether every launch of a case takes the same time, so that one launch is
        enough, except for replicates that draw their nodes at random.
    """

    clock: Literal["wall", "simulated"] = "wall"
    remote: bool = False
    deterministic: bool = False

    @property
    def simulated(self) -> bool:
        """Whether times are simulated."""
        return self.clock == "simulated"


HERE = PlaceFacts()


MANY_SENDS = 1000
"""MANY_SENDS is the number of messages in a row from which on the cost of a send counts."""


def sends_in_a_row(case: Case) -> int:
    """Return how many messages a rank sends before it waits: in a window, a burst, or to all
    others.
    """
    if case.kernel == "pingpong" and "stream" in str(case.params.get("mode")):
        return int(case.params["window"])
    if case.kernel == "collectives" and case.params.get("operation") in ("all", "alltoall"):
        return case.layout.ranks - 1
    if case.kernel == "fft_pencil" and case.params.get("transpose") != "pairwise":
        grid = str(case.params.get("topology")).split("x")
        return max((int(side) for side in grid if side.isdigit()), default=1) - 1
    return int(case.params.get("burst", 0))


@dataclass(frozen=True)
class Site:
    """The place that cases run in.

    nodes:            the number of nodes, or the limit for one job (nodes_limited).
    cores, hardware_threads: the numbers that a job may use on a node.
    memory_bytes:     the free memory of a node.
    oversubscribe:    whether ranks and threads may share cores.
    toolchains:       the MPI libraries of runs that name none.
    transports:       the transports of each available MPI library.
    missing:          the unavailable MPI libraries, with reasons.
    placements:       the possible placements of two ranks.
    facts, name:      the place's properties and name; the name is printed if it is remote.
    arithmetic_bytes: the memory of this machine for the arithmetic of simulated cases.
    shared_cores:     the cores of all nodes together, if the nodes share one machine.
    variants:         by kernel, the only variants with known rates; other kernels have all.
    allocations:      the supported allocations, of layout.ALLOCATIONS.
    gpus:             the GPUs of a simulated node; elsewhere devices are emulated or probed.
    gpu_bytes:        the memory of one GPU.
    sockets:          the sockets of a simulated node.
    sockets_differ:   whether messages in a simulated node depend on the sockets of the ranks.
    nodes_differ:     whether the variability between simulated nodes is known, so that launches
                      of a case can be replicates.
    doubts:           what is not plausible in the description of the place.
    sends_are_free:   whether a send keeps no core busy, because its cost is not known.
    """

    nodes: int
    cores: int
    hardware_threads: int
    memory_bytes: int
    oversubscribe: bool = False
    toolchains: tuple[str, ...] = ("system",)
    transports: Mapping[str, Sequence[str]] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    placements: Sequence[str] = ()
    facts: PlaceFacts = HERE
    name: str = "this machine"
    arithmetic_bytes: int = 0
    variants: Mapping[str, Sequence[str]] = field(default_factory=dict)
    shared_cores: int | None = None
    allocations: Sequence[str] = (Layout.allocation,)
    nodes_differ: bool = False
    nodes_limited: bool = False
    gpus: int = 0
    gpu_bytes: int = 0
    sockets: int = 1
    sockets_differ: bool = False
    doubts: Sequence[str] = ()
    sends_are_free: bool = False

    def replicates(self, asked: int | None) -> Iterator[Problem]:
        """Yield the problems of a number of replicates per case; None: none requested."""
        if asked is None:
            return
        yield from outside("--replicates", asked, LAUNCHES_LIMIT, least=2)
        if not self.nodes_differ:
            key = 'node.spread.nodes = { value = ..., source = "..." }'
            remedy = f"remove --replicates, or give the spread in the cluster file: {key}"
            what = f"{self.name} has no node-to-node variability, so replicates would be identical"
            yield Problem(f"--replicates {asked}", what, remedy)

    def doubts_of(self, cases: Sequence[Case]) -> list[str]:
        """Return what is implausible about the place, including sends without cost for
        these cases.
        """
        most = max((sends_in_a_row(case) for case in cases), default=0)
        if not self.sends_are_free or most < MANY_SENDS:
            return [*self.doubts]
        what = (
            f"mpi.send_overhead_s is missing, so a rank sends {most:,} messages in a row at no cost"
        )
        return [*self.doubts, f"cluster file {self.name}: {what}"]

    @property
    def where(self) -> str:
        """Return "here" or "on NAME"."""
        return f"on {self.name}" if self.facts.remote else "here"

    @property
    def node(self) -> str:
        """Return "a node of NAME", or "this machine"."""
        return f"a node of {self.name}" if self.facts.remote else "this machine"

    @property
    def extent(self) -> str:
        """Return a sentence with the number of nodes."""
        if not self.facts.remote:
            return "this machine is a single node"
        if self.nodes_limited:
            return f"{self.name} allows at most {count(self.nodes, 'node')} per job"
        return f"{self.name} has {count(self.nodes, 'node')}"

    def shares(self, layout: Layout) -> bool:
        """Whether ranks of a layout share cores because nodes do."""
        if self.shared_cores is None:
            return False
        return layout.nodes > 1 or layout.cores_of_a_node > self.shared_cores

    def slots(self, layout: Layout) -> int:
        """Return how many threads of a layout a node can run without oversubscription."""
        return self.hardware_threads if layout.places == "threads" else self.cores

    def slots_of(self, layout: Layout) -> str:
        """Return `slots` with its unit."""
        unit = "hardware thread" if layout.places == "threads" else "core"
        return count(self.slots(layout), unit)

    def rooms(self, case: Case) -> list[Room]:
        """Return the memories that a case's arrays must fit in: of nodes, GPUs, this machine."""
        free = self.memory_bytes, case.layout.nodes
        if not self.facts.remote:
            return [Room(*free, "memory", "free memory")]
        more = "use more nodes"
        rooms = [Room(*free, "memory per node", more, owner=self.node)]
        if case.device_bytes and self.gpus:
            shared = ranks_sharing_a_gpu(case.params)
            used = sum(-(-ranks // shared) for ranks in case.layout.ranks_of_nodes)
            gpu, more = f"a GPU of {self.name}", "use more GPUs"
            rooms.append(Room(self.gpu_bytes, used, "memory per GPU", more, owner=gpu, gpus=True))
        if self.facts.simulated and executes(case):
            of = f"memory of this machine for {(why := why_executed(case))[0]}"
            rooms.append(Room(self.arithmetic_bytes, 1, of, why[1], here=True))
        return rooms


Fits = Callable[[Mapping[str, Any]], bool]
FEW = 64
"""Some kernels accept only even numbers, or multiples of 16 bytes."""


@dataclass(frozen=True)
class Room:
    """Memory for the arrays of one case.

    bytes: free on each node. nodes: how many nodes, or GPUs. of: its name, "memory per node".
    instead: the remedy besides a smaller case. owner: the simulated node that has this memory.
    here: whether it is memory of this machine that a simulation needs. gpus: whether it is memory
    of GPUs, not of nodes.
    """

    bytes: int
    nodes: int
    of: str
    instead: str
    owner: str | None = None
    here: bool = False
    gpus: bool = False

    @property
    def total_bytes(self) -> int:
        """The memory of all nodes, or GPUs."""
        return self.bytes * self.nodes

    @property
    def free(self) -> str:
        """Return a sentence with the size of this memory."""
        of = self.of.removesuffix(" per node").removesuffix(" per GPU")
        if self.owner:
            return f"{self.owner} has {size(self.bytes)} of {of}"
        return f"only {size(self.bytes)} of {of} is free"

    def taken(self, arrays: Case | Forecast) -> int:
        """Return how much of it a case needs, in bytes."""
        return arrays.device_bytes if self.gpus else arrays.memory_bytes

    def share(self, case: Case) -> str:
        """Return the size that a case needs per node, or per GPU, as text."""
        return size(self.taken(case) / self.nodes)

    def refusal(
        self, case: Case, needs: Callable[[Mapping[str, Any]], Forecast]
    ) -> tuple[str, str]:
        """Return what is wrong with a case that is too large, and what to do."""
        largest = largest_that_fits(
            case.given,
            case.params,
            lambda given: self.taken(needs(given)) <= self.total_bytes,
            lambda given: not needs(given).problems,
        )
        smaller = f"use at most {largest}" if largest else "reduce the problem size"
        available = size(self.bytes)
        available = f"{self.owner} has {available}" if self.owner else f"{available} is free"
        what = f"{case.label} needs {self.share(case)} of {self.of}, but {available}"
        return what, f"{smaller}, or {self.instead}"


def largest_that_fits(
    given: Mapping[str, Any], params: Mapping[str, Any], fits: Fits, accepted: Fits
) -> str | None:
    """Return key=value of the largest size that fits, or None if there is none.

    The size is a mesh (size=400x400x400, whose shape is kept), the edge of a cube (L), or of a
    square (n). given, params: of a case that is too large. fits: whether a case with other
    parameters fits; its needs grow with the size.
    accepted: whether the kernel accepts them: some refuse odd numbers.
    """

    def largest(key: str, most: int, value: Callable[[int], object]) -> int | None:
        def asked(number: int) -> Mapping[str, Any]:
            return {**given, key: value(number)}

        return _largest(most, lambda one: fits(asked(one)), lambda one: accepted(asked(one)))

    size = str(params.get("size", ""))
    if size.replace("x", "").isdigit():
        extents = [int(extent) for extent in size.split("x")]
        longest = max(extents)

        def scaled(edge: int) -> str:
            return "x".join(str(max(1, extent * edge // longest)) for extent in extents)

        edge = largest("size", longest, scaled)
        return f"size={scaled(edge)}" if edge else None
    key = next((key for key in ("L", "n") if isinstance(params.get(key), int)), None)
    if key is None:
        return None
    found = largest(key, params[key], lambda value: value)
    return f"{key}={found}" if found else None


def _largest(
    too_large: int, fits: Callable[[int], bool], accepted: Callable[[int], bool]
) -> int | None:
    """Return the largest accepted number that fits, or None if there is none.

    Only the FEW largest that fit are tried.
    """
    low, high = 0, too_large
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return next((one for one in range(low, max(0, low - FEW), -1) if accepted(one)), None)
