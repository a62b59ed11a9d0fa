# SPDX-License-Identifier: BSD-3-Clause
"""The node of a cluster file: caches, memory, sockets, GPUs, rates, and variability."""

from __future__ import annotations

from itertools import pairwise
from math import exp, fsum
from statistics import NormalDist
from typing import Literal

from pydantic import Field

from haloscope.clusters.quantity import ClusterPart, PositiveCount, Quantity, Source, Text


class Cache(ClusterPart):
    """One level of the data caches of a core."""

    level: PositiveCount = Field(description="level of the cache: 1, 2, or 3")
    size_bytes: PositiveCount = Field(description="size of one cache")
    shared_by: PositiveCount = Field(description="number of cores that share one cache")
    source: Source = Field(description="source of `size_bytes` and `shared_by`")
    bandwidth_bytes_per_s: Quantity | None = Field(
        None, description="bandwidth of one core from this cache; required for simulations"
    )
    crowded_bytes_per_s: Quantity | None = Field(
        None,
        description="bandwidth of one core when all cores of the socket are busy and the clock "
        "is therefore lower; if omitted, the bandwidth of one core alone",
    )
    usable_bytes: Quantity | None = Field(
        None,
        description="capacity available to a sweep, if it is less than the size, for example "
        "because other virtual machines share the processor",
    )
    inclusive: bool = Field(
        True,
        description="true if the cache also contains the lines of the level below. If this is "
        "false for the last level, the lower-level caches of all cores in use add "
        "to its capacity",
    )


class Memory(ClusterPart):
    """Memory bandwidth of a node by the number of cores in use."""

    cores: PositiveCount = Field(description="number of cores in use")
    bandwidth_bytes_per_s: Quantity = Field(
        description="combined bandwidth of these cores, including lines that are read before they "
        "are overwritten"
    )
    store_cost: Quantity | None = Field(
        None,
        description="time per byte that is written, or read before it is overwritten, relative "
        "to a byte that is loaded; 1 if omitted. With this key, the bandwidth is "
        "the combined bandwidth of all STREAM loops, in which half of the bytes "
        "are of this kind",
    )


class SocketMemory(ClusterPart):
    """Memory bandwidth of a socket by the number of its cores in use."""

    cores: PositiveCount = Field(description="number of cores of the socket in use")
    bandwidth_bytes_per_s: Quantity = Field(
        description="combined bandwidth of these cores from the memory of their socket, "
        "including lines that are read before they are overwritten"
    )


class SocketLink(ClusterPart):
    """The connection between two sockets of a node."""

    bandwidth_bytes_per_s: Quantity = Field(
        description="total bandwidth of all messages from one socket to another"
    )
    latency_s: Quantity | None = Field(
        None,
        description="additional latency of a message to another socket; not needed if the file "
        "has `messages` with the placement other-socket",
    )


class Socket(ClusterPart):
    """A socket with its own memory, which holds the data of its ranks.

    The `memory` tables of the node then describe ranks that are spread over the sockets.
    """

    memory: tuple[SocketMemory, ...] = Field(
        min_length=1,
        description="memory bandwidth of the socket, one entry per number of cores in use",
    )
    link: SocketLink = Field(description="connection between two sockets")


class ParallelRegion(ClusterPart):
    """Time to start and end a parallel region, by the number of threads of a rank."""

    threads: PositiveCount = Field(description="number of threads of a rank")
    cost_s: Quantity = Field(description="time to start and end a parallel region")


class Protocol(ClusterPart):
    """A range of message sizes in which the time is latency + size / bandwidth."""

    first_bytes: int = Field(ge=0, strict=True, description="smallest message size, from 0")
    last_bytes: int = Field(ge=0, strict=True, description="largest message size")
    latency_s: Quantity | None = Field(None, description="latency of a message of this size range")
    bandwidth_bytes_per_s: Quantity | None = Field(
        None,
        description="bandwidth of messages of this size range; omit it if the time does not "
        "depend on the size",
    )


class GpuMessages(ClusterPart):
    """Messages between the memories of two GPUs, by the position of the GPUs."""

    placement: Literal["same-gpu", "same-socket", "other-socket", "other-node"] = Field(
        description="position of the two GPUs: same-gpu, same-socket, other-socket, or other-node"
    )
    receive_overhead_s: Quantity | None = Field(
        None,
        description="part of the latency during which the core of the receiving rank is busy; "
        "the core processes one message at a time; 0 if omitted",
    )
    protocols: tuple[Protocol, ...] = Field(
        min_length=1, description="latency and bandwidth, one entry per range of message sizes"
    )


class Gpu(ClusterPart):
    """The GPUs of a node: the same number per socket, each with its own memory."""

    gpu: Text = Field(description="name of the GPU model")
    number: PositiveCount = Field(description="number of GPUs per node, the same for each socket")
    memory_bytes: PositiveCount = Field(description="memory of one GPU")
    source: Source = Field(description="source of `number` and `memory_bytes`")
    memory_bandwidth_bytes_per_s: Quantity = Field(description="memory bandwidth of one GPU")
    copy_bandwidth_bytes_per_s: Quantity = Field(
        description="bandwidth of copies to and from host memory, in each direction"
    )
    socket_bandwidth_bytes_per_s: Quantity = Field(
        description="total bandwidth of all messages from GPUs of one socket to GPUs of another"
    )
    launch_s: Quantity = Field(description="host time to launch a kernel or a copy")
    launch_latency_s: Quantity | None = Field(
        None, description="time from a launch to its start on the GPU; 0 if omitted"
    )
    stream_sync_s: Quantity = Field(
        description="host time to synchronise with a stream or an event, without waiting"
    )
    device_sync_s: Quantity = Field(
        description="host time to synchronise with all streams, without waiting"
    )
    query_s: Quantity | None = Field(
        None, description="time to query whether an address is in host or GPU memory; 0 if omitted"
    )
    operation_s: Quantity | None = Field(
        None, description="additional time per operation of a star forest library; 0 if omitted"
    )
    messages: tuple[GpuMessages, ...] = Field(
        (), description="messages of GPU-aware MPI, one entry per placement"
    )


class KernelRate(ClusterPart):
    """Computation rate of a core in one kernel, if determined with a program on this machine."""

    kernel: str = Field(description="name of the kernel (haloscope list)")
    variant: str | None = Field(
        None,
        description="variant of the kernel, if it has several; variants without an entry are "
        "not simulated",
    )
    core_flops_per_s: Quantity = Field(description="computation rate of one core in this kernel")
    crowded_flops_per_s: Quantity | None = Field(
        None,
        description="computation rate of one core when all cores of the socket are busy; if "
        "omitted, the rate of one core alone",
    )


class NodeSpread(ClusterPart):
    """Variability between nodes: standard deviations of the logarithm of computation times.

    Simulated replicates draw node speeds from this distribution. Without replicates, all nodes are
    identical.
    """

    nodes: Quantity | None = Field(
        None, description="standard deviation between nodes, and between launches on the same node"
    )
    phases: Quantity | None = Field(
        None, description="additional standard deviation for each phase on a node"
    )
    slowest: bool = Field(
        False,
        description="true if simulations without replicates use the expected speed of the "
        "slowest node (computed from `nodes`), because programs wait for it; false "
        "if they use the median node",
    )

    @property
    def deviations(self) -> tuple[float, float]:
        """Return both standard deviations, 0 if not given."""
        nodes, phases = (one.value if one else 0.0 for one in (self.nodes, self.phases))
        return nodes, phases


class Unbound(ClusterPart):
    """The cost of unbound processes that run far from their memory or share a core.

    A node with such processes delays all other nodes. Costs are interpolated between entries by the
    number of processes per node.
    """

    processes: PositiveCount = Field(description="number of processes per node")
    share: Quantity = Field(
        description="share of the time during which the processes of a node are badly placed, "
        "independently of other nodes"
    )
    slower: Quantity = Field(
        description="computation time of badly placed processes relative to that of bound "
        "processes, at least 1"
    )
    resume_s: Quantity | None = Field(
        None,
        description="additional time per communication, compared with bound processes; 0 if "
        "omitted",
    )


class Node(ClusterPart):
    """A node of the cluster."""

    cpu: Text = Field(description="name of the processor model")
    sockets: PositiveCount = Field(description="number of sockets per node")
    cores: PositiveCount = Field(description="number of cores per node")
    threads_per_core: PositiveCount = Field(description="number of hardware threads per core")
    memory_bytes: PositiveCount = Field(description="memory per node")
    source: Source = Field(
        description="source of `sockets`, `cores`, `threads_per_core`, and `memory_bytes`"
    )
    clock_ghz: Quantity | None = Field(None, description="nominal clock frequency, without boost")
    core_flops_per_s: Quantity | None = Field(
        None, description="computation rate of one core; required for simulations"
    )
    kernels: tuple[KernelRate, ...] = Field(
        (), description="computation rates of individual kernels"
    )
    sharpness: Quantity | None = Field(
        None,
        description="sharpness of the transition from one cache level to the next; 1 if omitted",
    )
    knee: Quantity | None = Field(
        None,
        description="sharpness of the transition at the size of the last-level cache: a "
        "working set of exactly this size has a hit rate of 2^(-1 / knee), because "
        "of conflict misses; 1 if omitted",
    )
    smt_gain: Quantity | None = Field(
        None,
        description="throughput of a core with all hardware threads, relative to its "
        "throughput with one thread; 1 if omitted",
    )
    memory: tuple[Memory, ...] = Field(
        min_length=1,
        description="memory bandwidth of the node, one entry per number of cores in use",
    )
    socket: Socket | None = Field(
        None, description="memory of each socket; if omitted, all cores share one memory equally"
    )
    gpu: Gpu | None = Field(None, description="GPUs of a node, which are identical")
    caches: tuple[Cache, ...] = Field((), description="caches of a core, one entry per level")
    regions: tuple[ParallelRegion, ...] = Field(
        (),
        description="cost of parallel regions, one entry per number of threads; if omitted, "
        "parallel regions take no time",
    )
    spread: NodeSpread | None = Field(
        None, description="variability between nodes; all other numbers describe the median node"
    )
    unbound: tuple[Unbound, ...] = Field(
        (),
        description="cost of unbound processes, one entry per number of processes; if omitted, "
        "missing binding has no cost",
    )

    @property
    def processor(self) -> str:
        """The processor's name, with its clock if known."""
        return f"{self.cpu}, {self.clock_ghz.value:g} GHz" if self.clock_ghz else self.cpu

    @property
    def variants(self) -> dict[str, list[str]]:
        """Kernels with rates for some of their variants only, and these variants."""
        found: dict[str, list[str]] = {}
        for one in self.kernels:
            if one.variant is not None:
                found.setdefault(one.kernel, []).append(one.variant)
        return found


_PARTS = 1000
"""_PARTS is the number of equally probable parts of the slowest node's time for its mean."""


def expected_slowest(deviation: float, nodes: int) -> float:
    """Return the expected time of the slowest of `nodes` nodes, relative to the median node.

    deviation: standard deviation of the logarithm of their normally distributed times. 1 for one
    node.
    """
    if nodes == 1:
        return 1.0
    normal = NormalDist()
    shares = (((part + 0.5) / _PARTS) ** (1 / nodes) for part in range(_PARTS))
    return fsum(exp(deviation * normal.inv_cdf(share)) for share in shares) / _PARTS


def unbound(node: Node, processes: int, nodes: int) -> tuple[float, float]:
    """Return the cost of unbound processes on several nodes.

    It consists of the ratio of computation times to those of bound processes, and of seconds after
    each communication. Both are means over time, in which all wait while any node is badly placed;
    interpolated between entries of the file, or the nearest one's.
    """
    if not node.unbound:
        return 1.0, 0.0
    costs = [
        (one.processes, *_costs(one, nodes))
        for one in sorted(node.unbound, key=lambda one: one.processes)
    ]
    for (low, *few), (high, *many) in pairwise(costs):
        if low <= processes <= high:
            part = (processes - low) / (high - low)
            slower, resume_s = (a + part * (b - a) for a, b in zip(few, many, strict=True))
            return slower, resume_s
    _, slower, resume_s = costs[0] if processes < costs[0][0] else costs[-1]
    return slower, resume_s


def _costs(one: Unbound, nodes: int) -> tuple[float, float]:
    held_up = 1 - (1 - one.share.value) ** nodes
    resume_s = one.resume_s.value if one.resume_s else 0.0
    return 1 + (one.slower.value - 1) * held_up, resume_s * held_up
