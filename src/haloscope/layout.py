# SPDX-License-Identifier: BSD-3-Clause
"""The layout of a case's ranks and threads, from the study to the report.

Keys of records (`records.keys`), settings of cases (`study.settings`), and axes of studies
(`study.schema`) take names, order, meanings, and defaults from its fields.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self, get_args, get_type_hints

from haloscope.keys import Key
from haloscope.quantities import count

MOST_RANKS = 10**9
ThreadPlaces = Literal["cores", "threads", "sockets"]
Bind = Literal["close", "spread", "none"]
ThreadBind = Literal["close", "spread"]
PLACES: tuple[str, ...] = get_args(ThreadPlaces)
BINDS: tuple[str, ...] = get_args(Bind)
THREAD_BINDS: tuple[str, ...] = get_args(ThreadBind)
MAPPINGS = ("block", "round_robin", "random")
"""MAPPINGS are the words that decide which ranks share a node, besides a list of nodes."""
ALLOCATIONS = ("best_fit", "contiguous", "by_switch", "by_pod", "random")
"""Which nodes of a cluster a job gets. best_fit: those that a scheduler finds among nodes left by
other jobs, contiguous on an empty cluster. contiguous: adjacent nodes, regardless of other jobs.
by_switch, by_pod: in turn from each switch of the first level, or from each part below the topmost
one. random: any.
"""
LIST = r"[0-9]{1,7}(,[0-9]{1,7})+"
_LIST = re.compile(LIST)


def is_list(mapping: str) -> bool:
    """Return whether a mapping is a list of the nodes of ranks: 0,1,1,0."""
    return _LIST.fullmatch(mapping) is not None


def shares(ranks: int, nodes: int) -> list[int]:
    """Return the ranks per node, distributed evenly; the first nodes may have one more."""
    each, left = divmod(ranks, nodes)
    return [each + (node < left) for node in range(nodes)]


@dataclass(frozen=True)
class Layout:
    """The requested placement of one case's ranks and threads.

    bind: close puts ranks side by side on the first processors of a node, spread distributes them
    over all, none gives all processors to each rank. thread_bind: the same for a rank's threads:
    close, or spread over its share of processors, which is one of the node's equal shares if ranks
    are spread, or for a single rank. placement: one of machine.PLACEMENTS. mapping: block fills
    nodes one after the other, round_robin distributes ranks to nodes in turn, random shuffles block
    mapping; a list counts the job's own nodes from 0. allocation: one of ALLOCATIONS.
    """

    nodes: Annotated[int, Key("number of nodes", least=1, most=MOST_RANKS)] = 1
    ppn: Annotated[int, Key("processes per node", least=1, most=MOST_RANKS)] = 1
    threads: Annotated[int, Key("threads per process", least=1, most=MOST_RANKS)] = 1
    places: Annotated[
        str, Key("unit to which each thread is bound: cores, threads, or sockets")
    ] = PLACES[0]
    bind: Annotated[
        str, Key("binding of the processes of a node: close, spread, or none", values=BINDS)
    ] = BINDS[0]
    thread_bind: Annotated[
        str,
        Key(
            "binding of the threads of a process: close or spread",
            values=THREAD_BINDS,
            absent="absent for one thread per process, if bind is none, and in older records "
            "(where bind also applies to threads)",
        ),
    ] = THREAD_BINDS[0]
    placement: Annotated[
        str | None, Key("relative position of two ranks", absent="null unless requested")
    ] = None
    tasks: Annotated[
        int | None,
        Key(
            "total number of processes, if the study sets it; the first nodes then "
            "have ppn processes, and the other nodes may have one process fewer",
            least=1,
            most=MOST_RANKS,
            absent="absent unless the study sets tasks",
        ),
    ] = None
    mapping: Annotated[
        str,
        Key(
            "mapping of ranks to nodes: block, round_robin, random, or a list with the "
            "node of each rank, such as 0,1,1,0"
        ),
    ] = MAPPINGS[0]
    mapping_seed: Annotated[
        int | None, Key("seed of a random mapping", absent="null for other mappings")
    ] = None
    allocation: Annotated[
        str,
        Key(
            "choice of nodes on a simulated cluster: contiguous, by_switch, by_pod, or random",
            absent="absent for best_fit, the choice of a scheduler",
        ),
    ] = ALLOCATIONS[0]
    allocation_seed: Annotated[
        int | None, Key("seed of a random allocation", absent="absent for other allocations")
    ] = None

    @classmethod
    def of(cls, ranks: int, nodes: int = 1, **fields: Any) -> Self:
        """Return the layout of ranks that are distributed evenly over nodes."""
        return cls(nodes=nodes, ppn=shares(ranks, nodes)[0], tasks=ranks, **fields)

    @property
    def nodes_of_ranks(self) -> list[int]:
        """The node of each rank, counted from 0 in the job."""
        if is_list(self.mapping):
            return [int(node) for node in self.mapping.split(",")]
        if self.mapping == "round_robin":
            return [rank % self.nodes for rank in range(self.ranks)]
        filled = [node for node, ranks in enumerate(self.ranks_of_nodes) for _ in range(ranks)]
        if self.mapping == "random":
            random.Random(self.mapping_seed).shuffle(filled)
        return filled

    @property
    def ranks(self) -> int:
        """Total number of processes over all nodes."""
        return self.tasks or self.nodes * self.ppn

    @property
    def cores_of_a_node(self) -> int:
        """The cores in use on a node if each thread has its own."""
        return self.ppn * self.threads

    @property
    def ranks_of_nodes(self) -> list[int]:
        """Number of ranks on each node of the job."""
        return shares(self.ranks, self.nodes)

    @property
    def even(self) -> bool:
        """Whether every node has the same number of ranks."""
        return self.ranks % self.nodes == 0

    def seats(self, processors: Sequence[int], ranks: int) -> list[tuple[int, ...]]:
        """Return the processors of each of the ranks of a node: one per thread, or all of the
        node's if they are too few or ranks are not bound.
        """
        free, used, own = len(processors), ranks * self.threads, range(self.threads)
        if used > free or self.bind == "none":
            return [tuple(processors)] * ranks
        if self.bind != "spread" and ranks > 1:
            free = used
        if self.thread_bind == "spread":
            return [
                tuple(processors[(rank * self.threads + thread) * free // used] for thread in own)
                for rank in range(ranks)
            ]
        return [
            tuple(processors[rank * free // ranks + thread] for thread in own)
            for rank in range(ranks)
        ]

    @property
    def problem(self) -> str | None:
        """Why its numbers contradict each other, or None."""
        if self.tasks is not None and self.ranks_of_nodes[0] != self.ppn:
            shape = f"{count(self.nodes, 'node')} with {self.ppn} tasks per node"
            return f"tasks = {self.tasks} does not match {shape}"
        if not is_list(self.mapping):
            return None
        if (given := len(self.nodes_of_ranks)) != self.ranks:
            return f"mapping assigns {count(given, 'rank')}, but the layout has {self.ranks}"
        each = Counter(self.nodes_of_ranks)
        for node, ranks in enumerate(self.ranks_of_nodes):
            if each[node] != ranks:
                own = f"the layout has {count(ranks, 'rank')} there"
                return f"mapping lists node {node} {count(each[node], 'time')}, but {own}"
        return None

    def __str__(self) -> str:
        """Describe the layout: 4 ranks x 2 threads on 2 nodes."""
        threads = f" x {count(self.threads, 'thread')}" if self.threads > 1 else ""
        nodes = f" on {self.nodes} nodes" if self.nodes > 1 else ""
        usual = (self.places, self.bind) == (Layout.places, Layout.bind)
        binding = "" if usual else f", {self.places} {self.bind}"
        if self._threads_apart:
            binding += f", threads {self.thread_bind}"
        placement = f", {self.placement}" if self.placement else ""
        seed = "" if self.mapping_seed is None else f" {self.mapping_seed}"
        mapping = "" if self.mapping == Layout.mapping else f", {self.mapping}{seed}"
        where = f"{threads}{nodes}{binding}{placement}{mapping}{self._allocation}"
        return f"{count(self.ranks, 'rank')}{where}"

    @property
    def threads_bound(self) -> str | None:
        """The binding of each process's threads; None if irrelevant."""
        return None if self.threads == 1 or self.bind == "none" else self.thread_bind

    @property
    def cores_bound(self) -> str:
        """How the used cores of a node are distributed: as processes, or one process's threads."""
        return (self.threads_bound if self.ppn == 1 else None) or self.bind

    @property
    def _threads_apart(self) -> bool:
        return self.threads_bound not in (None, self.bind)

    @property
    def _allocation(self) -> str:
        if self.allocation == Layout.allocation:
            return ""
        seed = "" if self.allocation_seed is None else f" {self.allocation_seed}"
        return f", allocation {self.allocation}{seed}"

    def as_recorded(self) -> dict[str, Any]:
        """Return the layout for a record, without irrelevant values and those not requested."""
        said = {**vars(self), "thread_bind": self.threads_bound}
        unsaid = dict.fromkeys(("thread_bind", "tasks", "allocation_seed"))
        unsaid["allocation"] = Layout.allocation
        return {key: v for key, v in said.items() if key not in unsaid or v != unsaid[key]}

    @classmethod
    def recorded(cls, layout: Mapping[str, Any]) -> Self:
        """Return the layout of a record or of settings.

        Older records have no `thread_bind`: their threads followed `bind`.
        """
        known = {key: layout[key] for key in LAYOUT if layout.get(key) is not None}
        threads = layout.get("thread_bind") or layout.get("bind") or cls.thread_bind
        found = cls(**{**known, "thread_bind": threads})
        return found if found.threads_bound else replace(found, thread_bind=cls.thread_bind)

    def as_setting(self) -> dict[str, Any]:
        """Return the fields that identify the layout; later additions only if they have
        an effect.
        """
        later = ("mapping", "mapping_seed", "tasks", "allocation", "allocation_seed")
        return {
            key: value
            for key, value in vars(self).items()
            if (
                self._threads_apart
                if key == "thread_bind"
                else key not in later or value != getattr(Layout, key)
            )
        }


LAYOUT_KEYS: Mapping[str, Any] = get_type_hints(Layout, include_extras=True)
"""The type of each field, with its `Key`."""
LAYOUT = tuple(LAYOUT_KEYS)
PROCESSES = ("nodes", "ppn")
CORES = (*PROCESSES, "threads")
"""PROCESSES and CORES are the fields that give the number of processes, and of cores in use."""


def key_of(field: str) -> Key:
    """Return the description of a field."""
    key: Key = LAYOUT_KEYS[field].__metadata__[0]
    return key
