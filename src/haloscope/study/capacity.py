# SPDX-License-Identifier: BSD-3-Clause
"""What a place has room for: nodes, cores, memory; MPI libraries, transports, placements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from haloscope.errors import Problem
from haloscope.quantities import count
from haloscope.study.case import Case, Layout, ranks_sharing_a_gpu
from haloscope.study.known_iterations import executes, why_executed
from haloscope.study.memory import Room
from haloscope.study.schema import LAUNCHES_LIMIT


@dataclass(frozen=True)
class PlaceFacts:
    """What planning and campaigns decide by, whatever the place is.

    clock: whose times its records have. remote: whether its nodes are others than this machine.
    deterministic: whether every launch of a case takes the same time, so that one tells all, but
        for replicates that draw their nodes.
    """

    clock: Literal["wall", "simulated"] = "wall"
    remote: bool = False
    deterministic: bool = False

    @property
    def simulated(self) -> bool:
        """Whether times are those of a simulated clock."""
        return self.clock == "simulated"


HERE = PlaceFacts()
"""Of this machine."""


@dataclass(frozen=True)
class Site:
    """The place that cases are to run in.

    nodes:            how many there are, or how many a job gets at most (nodes_limited).
    cores, hardware_threads: how many of each a job may use on a node.
    memory_bytes:     the memory that is free on a node.
    oversubscribe:    whether ranks and threads may share cores.
    toolchains:       the MPI libraries that a run is measured with if it names none.
    transports:       the transports of each MPI library that is there.
    missing:          the MPI libraries that are not there, and why.
    placements:       the placements that two ranks can have.
    facts, name:      of the place; remote ones are called by their names.
    arithmetic_bytes: the memory of this machine that simulated cases may take for their arithmetic.
    shared_cores:     those that all nodes together have, where they share one machine's.
    variants:         by kernel, the only variants that the place knows; other kernels have all.
    allocations:      which nodes a job may ask for, one of case.ALLOCATIONS each.
    gpus:             of a simulated node; elsewhere devices are emulated, or found out by a case.
    gpu_bytes:        the memory of one of these.
    sockets_differ:   whether messages of a simulated node depend on its ranks' sockets.
    nodes_differ:     whether it is known how far simulated nodes lie apart, so that launches of a
                      case can be replicates of each other.
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
    sockets_differ: bool = False

    def replicates(self, asked: int | None) -> Iterator[Problem]:
        """What is wrong with so many replicates of each case; None asks for none."""
        if asked is None:
            return
        if not 2 <= asked <= LAUNCHES_LIMIT:
            mend = f"give a number from 2 to {LAUNCHES_LIMIT:,}"
            yield Problem(f"--replicates {asked}", "can't be", mend)
        if not self.nodes_differ:
            key = 'node.spread.nodes = { value = ..., source = "..." }'
            mend = f"leave it out, or say in its file how far they lie apart: {key}"
            yield Problem(f"--replicates {asked}", f"nodes of {self.name} are all alike", mend)

    @property
    def where(self) -> str:
        """In words: here, or on what is elsewhere."""
        return f"on {self.name}" if self.facts.remote else "here"

    @property
    def node(self) -> str:
        """A node in words."""
        return f"a node of {self.name}" if self.facts.remote else "a node here"

    @property
    def extent(self) -> str:
        """In words, how many nodes there are."""
        if not self.facts.remote:
            return "this machine is one node"
        if self.nodes_limited:
            return f"{self.name} gives a job at most {count(self.nodes, 'node')}"
        return f"{self.name} has {count(self.nodes, 'node')}"

    @property
    def instead(self) -> str:
        """What helps where a node has too many ranks or threads, besides fewer of them."""
        more = "share them out to more nodes"
        return more if self.facts.remote else "share cores with --oversubscribe"

    def shares(self, layout: Layout) -> bool:
        """Whether ranks of such a layout share cores because nodes do."""
        if self.shared_cores is None:
            return False
        return layout.nodes > 1 or layout.ppn * layout.threads > self.shared_cores

    def slots(self, layout: Layout) -> int:
        """How many threads of such a layout a node can run on places of their own."""
        return self.hardware_threads if layout.places == "threads" else self.cores

    def slots_of(self, layout: Layout) -> str:
        """These in words."""
        unit = "hardware thread" if layout.places == "threads" else "core"
        return count(self.slots(layout), unit)

    def rooms(self, case: Case) -> list[Room]:
        """The memories that a case's arrays must fit in: of its nodes; where simulated, of here."""
        free = self.memory_bytes, case.layout.nodes
        more = "spread it over more nodes"
        if not self.facts.remote:
            return [Room(*free, "memory a node", more)]
        rooms = [Room(*free, "memory a node", more, owner=self.node)]
        if case.device_bytes and self.gpus:
            shared = ranks_sharing_a_gpu(case.params)
            used = sum(-(-ranks // shared) for ranks in case.layout.ranks_of_nodes)
            gpu, more = f"a GPU of {self.name}", "spread it over more GPUs"
            rooms.append(Room(self.gpu_bytes, used, "memory a GPU", more, owner=gpu, gpus=True))
        if self.facts.simulated and executes(case):
            of = f"this machine's memory for {(why := why_executed(case))[0]}"
            rooms.append(Room(self.arithmetic_bytes, 1, of, why[1], here=True))
        return rooms
