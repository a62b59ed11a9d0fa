# SPDX-License-Identifier: BSD-3-Clause
"""A case: the settings of one measurement, and the layout of its ranks and threads."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Self

from haloscope.quantities import count
from haloscope.toolchains.launching.job import shares

Value = bool | int | float | str
ALLOCATIONS = ("best_fit", "contiguous", "by_switch", "by_pod", "random")
"""Which nodes of a cluster a job gets. best_fit: those that a scheduler finds among nodes left by
other jobs, contiguous on an empty cluster. contiguous: adjacent nodes, regardless of other jobs.
by_switch, by_pod: in turn from each switch of the first level, or from each part below the topmost
one. random: any.
"""


def is_list(mapping: str) -> bool:
    """Return whether a mapping is a list of the nodes of ranks: 0,1,1,0."""
    return _LIST.fullmatch(mapping) is not None


LIST = r"[0-9]{1,7}(,[0-9]{1,7})+"
_LIST = re.compile(LIST)


def thread_bind_of(layout: Mapping[str, Any]) -> str | None:
    """Return the binding of each process's threads in a record or settings; None if irrelevant.

    Older records have no `thread_bind`: their threads followed `bind`.
    """
    if (layout.get("threads") or 1) == 1 or layout.get("bind") == "none":
        return None
    return layout.get("thread_bind") or layout.get("bind")


def node_bind(layout: Mapping[str, Any]) -> str | None:
    """Return how the used cores of a node are distributed: as its processes, or its process's
    threads.
    """
    threads = thread_bind_of(layout)
    return threads if threads and layout.get("ppn") == 1 else layout.get("bind")


@dataclass(frozen=True)
class Layout:
    """The requested placement of one case's ranks and threads.

    bind, thread_bind: distribution of a node's ranks over its cores, and of each rank's threads.
    placement: relative position of two ranks, one of machine.PLACEMENTS, or None. mapping: which
    ranks share a node. block fills nodes one after the other, round_robin distributes ranks to
    nodes in turn, random shuffles block mapping by mapping_seed; a list such as 0,1,1,0 is the node
    of each rank, counted from 0 in the job. tasks: total number of ranks, if given and distributed
    over nodes: the first nodes have ppn of them, and the others one less if they cannot be divided
    evenly. None: each node has ppn. allocation: which nodes of a simulated cluster are used, one of
    ALLOCATIONS; random ones by allocation_seed. `nodes_of_ranks` counts the job's own nodes.
    """

    nodes: int = 1
    ppn: int = 1
    threads: int = 1
    places: str = "cores"
    bind: str = "close"
    placement: str | None = None
    mapping: str = "block"
    mapping_seed: int | None = None
    tasks: int | None = None
    allocation: str = ALLOCATIONS[0]
    allocation_seed: int | None = None
    thread_bind: str = "close"

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
    def ranks_of_nodes(self) -> list[int]:
        """Number of ranks on each node of the job."""
        return shares(self.ranks, self.nodes)

    @property
    def problem(self) -> str | None:
        """Why its numbers contradict each other, or None."""
        if self.tasks is not None and self.ranks_of_nodes[0] != self.ppn:
            shape = f"{count(self.nodes, 'node')} with {self.ppn} tasks per node"
            return f"tasks = {self.tasks} does not match {shape}"
        if not is_list(self.mapping):
            return None
        if (given := len(self.nodes_of_ranks)) != self.ranks:
            return f"mapping lists the nodes of {given} ranks, but the layout has {self.ranks}"
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
    def _threads_apart(self) -> bool:
        return thread_bind_of(vars(self)) not in (None, self.bind)

    @property
    def _allocation(self) -> str:
        if self.allocation == Layout.allocation:
            return ""
        seed = "" if self.allocation_seed is None else f" {self.allocation_seed}"
        return f", allocation {self.allocation}{seed}"

    def as_recorded(self) -> dict[str, Any]:
        """Return the layout for a record, without irrelevant values and those not requested."""
        own = ("tasks", "allocation", "allocation_seed")
        said = {**vars(self), "thread_bind": thread_bind_of(vars(self))}
        moot = ("thread_bind",) if said["thread_bind"] is None else ()
        return {
            key: v
            for key, v in said.items()
            if key not in moot and (key not in own or v != getattr(Layout, key))
        }

    @classmethod
    def recorded(cls, layout: Mapping[str, Any]) -> Self:
        """Return the layout of a record."""
        known = {key: layout[key] for key in cls.__dataclass_fields__ if key in layout}
        return cls(**{**known, "thread_bind": thread_bind_of(layout) or cls.thread_bind})

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


def ranks_sharing_a_gpu(params: Mapping[str, Any]) -> int:
    """Return how many consecutive ranks of a node (of a socket, if simulated) may share a GPU."""
    return int(params.get("gpus_shared", 1))


def gpus_lacking(gpus: int, layout: Layout, shared: int, where: str) -> str | None:
    """Return why the GPUs of a node are too few for a layout's ranks, or None.

    shared: maximum number of ranks per GPU. where: name of the simulated cluster.
    """
    ranks = layout.ranks_of_nodes[0]
    if gpus == 0:
        what = f"memory=device needs a GPU, and nodes of {where} have none (node.gpu in its file)"
        return f"{what}; choose a cluster with GPUs, or memory=host"
    if ranks <= gpus * shared:
        return None
    what = f"memory=device: {count(ranks, 'rank')} per node of {where}, which has "
    what += count(gpus, "GPU")
    if shared > 1:
        what += f" for {shared} ranks each"
    return f"{what}; use fewer ranks per node, or set gpus_shared = {-(-ranks // gpus)}"


@dataclass(frozen=True)
class Case:
    """One case to measure; equal settings have the same id in any study.

    given: requested parameters. params: all parameters, resolved by halobench. memory_bytes:
    predicted, summed over ranks. oversubscribed: more threads than cores. transport: as a toolchain
    names it; None: the library's choice. files: folder of the files that its parameters name, if
    any. execute: whether to compute and verify the result in a simulation, too. It is not a
    setting, because the time is the same. absent: why it cannot run here, or None; it is then a
    record with that reason, without a launch. stopped: with a precision, why there are no more
    launches: "narrow" intervals, the maximum "count" or "time", or "parted" if no two cases'
    intervals overlap. device_bytes: memory on GPUs.
    """

    kernel: str
    given: Mapping[str, Value]
    params: Mapping[str, Any]
    layout: Layout
    toolchain: str
    run: int
    launches: int
    timeout_s: float
    memory_bytes: int
    oversubscribed: bool = False
    transport: str | None = None
    files: str | None = None
    execute: bool = False
    absent: str | None = None
    stopped: str | None = None
    device_bytes: int = 0

    @cached_property
    def id(self) -> str:
        """Hash of all settings: 12 hexadecimal digits."""
        return identity(self.kernel, self.params, self.layout, self.toolchain, self.transport)

    @property
    def setting(self) -> str:
        """Kernel and given parameters, for messages."""
        return " ".join([self.kernel, *self.arguments])

    @property
    def label(self) -> str:
        """Kernel, given parameters, and layout, for messages."""
        return f"{self.setting}, {self.layout}"

    @property
    def title(self) -> str:
        """The label with the MPI library and the transport."""
        return ", ".join([self.label, " ".join(filter(None, (self.toolchain, self.transport)))])

    @property
    def options(self) -> list[str]:
        """Return the options of halobench before the kernel's name."""
        return ["--files", self.files] if self.files else []

    @property
    def arguments(self) -> list[str]:
        """Return the given parameters as command-line arguments of halobench."""
        return [f"{key}={text(value)}" for key, value in self.given.items()]

    def as_dict(self) -> dict[str, Any]:
        """Return the case for plan.json."""
        return {"case": self.id, **asdict(self)}


def identity(
    kernel: str, params: Mapping[str, Any], layout: Layout, toolchain: str, transport: str | None
) -> str:
    """Return the id of the case with these settings."""
    setting = {
        "kernel": kernel,
        "params": dict(params),
        "layout": layout.as_setting(),
        "toolchain": toolchain,
        "transport": transport,
    }
    canonical = json.dumps(setting, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Launch:
    """One launch of a case: the unit of replication. number: counted from 0 in each case."""

    case: Case
    number: int


def text(value: Value) -> str:
    """Format a parameter's value for halobench's command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)
