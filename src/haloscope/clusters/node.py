# SPDX-License-Identifier: BSD-3-Clause
"""The node of a cluster file: caches, memory, sockets, GPUs, rates, and variability."""

from __future__ import annotations

from itertools import pairwise
from math import exp, fsum
from statistics import NormalDist
from typing import Literal

from pydantic import Field

from haloscope.clusters.quantity import PositiveCount, Quantity, Source, Text
from haloscope.toml import TomlTable


class Cache(TomlTable):
    """One level of the data caches of a core."""

    level: PositiveCount
    """level of the cache: 1, 2, or 3"""
    size_bytes: PositiveCount
    """size of one cache"""
    shared_by: PositiveCount
    """number of cores that share one cache"""
    source: Source
    """source of `size_bytes` and `shared_by`"""
    bandwidth_bytes_per_s: Quantity | None = None
    """bandwidth of one core from this cache; required for simulations"""
    crowded_bytes_per_s: Quantity | None = None
    """bandwidth of one core when all cores of the socket are busy and the clock is therefore lower;
    if omitted, the bandwidth of one core alone"""
    usable_bytes: Quantity | None = None
    """capacity available to a sweep, if it is less than the size, for example because other virtual
    machines share the processor"""
    inclusive: bool = True
    """true if the cache also contains the lines of the level below. If this is false for the last
    level, the lower-level caches of all cores in use add to its capacity"""


class Memory(TomlTable):
    """Memory bandwidth of a node by the number of cores in use."""

    cores: PositiveCount
    """number of cores in use"""
    bandwidth_bytes_per_s: Quantity
    """combined bandwidth of these cores, including lines that are read before they are
    overwritten"""
    store_cost: Quantity | None = None
    """time per byte that is written, or read before it is overwritten, relative to a byte that is
    loaded; 1 if omitted. With this key, the bandwidth is the combined bandwidth of all STREAM
    loops, in which half of the bytes are of this kind"""


class SocketMemory(TomlTable):
    """Memory bandwidth of a socket by the number of its cores in use."""

    cores: PositiveCount
    """number of cores of the socket in use"""
    bandwidth_bytes_per_s: Quantity
    """combined bandwidth of these cores from the memory of their socket, including lines that are
    read before they are overwritten"""


class SocketLink(TomlTable):
    """The connection between two sockets of a node."""

    bandwidth_bytes_per_s: Quantity
    """total bandwidth of all messages from one socket to another"""
    latency_s: Quantity | None = None
    """additional latency of a message to another socket; not needed if the file has `messages` with
    the placement other-socket"""


class Socket(TomlTable):
    """A socket with its own memory, which holds the data of its ranks.

    The `memory` tables of the node then describe ranks that are distributed across the sockets.
    """

    memory: tuple[SocketMemory, ...] = Field(min_length=1)
    """memory bandwidth of the socket, one entry per number of cores in use"""
    link: SocketLink
    """connection between two sockets"""


class ParallelRegion(TomlTable):
    """Time to start and end a parallel region, by the number of threads of a rank."""

    threads: PositiveCount
    """number of threads of a rank"""
    cost_s: Quantity
    """time to start and end a parallel region"""


class Protocol(TomlTable):
    """A range of message sizes in which the time is latency + size / bandwidth."""

    first_bytes: int = Field(ge=0, strict=True)
    """smallest message size, from 0"""
    last_bytes: int = Field(ge=0, strict=True)
    """largest message size"""
    latency_s: Quantity | None = None
    """latency of a message of this size range"""
    bandwidth_bytes_per_s: Quantity | None = None
    """bandwidth of messages of this size range; omit it if the time does not depend on the size"""


class GpuMessages(TomlTable):
    """Messages between the memory of one GPU and that of another, by their relative position."""

    placement: Literal["same-gpu", "same-socket", "other-socket", "other-node"]
    """position of the two GPUs: same-gpu, same-socket, other-socket, or other-node"""
    receive_overhead_s: Quantity | None = None
    """part of the latency during which the core of the receiving rank is busy; the core processes
    one message at a time; 0 if omitted"""
    protocols: tuple[Protocol, ...] = Field(min_length=1)
    """latency and bandwidth, one entry per range of message sizes"""


class Gpu(TomlTable):
    """The GPUs of a node. All sockets have the same number, and each GPU has its own memory."""

    gpu: Text
    """name of the GPU model"""
    number: PositiveCount
    """number of GPUs per node, the same for each socket"""
    memory_bytes: PositiveCount
    """memory of one GPU"""
    source: Source
    """source of `number` and `memory_bytes`"""
    memory_bandwidth_bytes_per_s: Quantity
    """memory bandwidth of one GPU"""
    copy_bandwidth_bytes_per_s: Quantity
    """bandwidth of copies to and from host memory, in each direction"""
    socket_bandwidth_bytes_per_s: Quantity
    """total bandwidth of all messages from GPUs of one socket to GPUs of another"""
    launch_s: Quantity
    """host time to launch a kernel or a copy"""
    launch_latency_s: Quantity | None = None
    """time from the launch of a kernel to its start on the GPU; 0 if omitted"""
    stream_sync_s: Quantity
    """host time to synchronise with a stream or an event, without waiting"""
    device_sync_s: Quantity
    """host time to synchronise with all streams, without waiting"""
    query_s: Quantity | None = None
    """time to query whether an address is in host or GPU memory; 0 if omitted"""
    operation_s: Quantity | None = None
    """additional time per operation of a star forest library; 0 if omitted"""
    messages: tuple[GpuMessages, ...] = ()
    """messages of GPU-aware MPI, one entry per placement"""


class KernelRate(TomlTable):
    """Computation rate of a core in one kernel, determined with a program on this machine."""

    kernel: str
    """name of the kernel (haloscope list)"""
    variant: str | None = None
    """variant of the kernel, if it has several; variants without an entry are not simulated"""
    core_flops_per_s: Quantity
    """computation rate of one core in this kernel"""
    crowded_flops_per_s: Quantity | None = None
    """computation rate of one core when all cores of the socket are busy; if omitted, the rate of
    one core alone"""


class NodeSpread(TomlTable):
    """Variability between nodes: standard deviations of the logarithm of computation times.

    Simulated replicates draw node speeds from this distribution. Without replicates, all nodes are
    identical.
    """

    nodes: Quantity | None = None
    """standard deviation between nodes, and between launches on the same node"""
    phases: Quantity | None = None
    """additional standard deviation for each phase on a node"""
    slowest: bool = False
    """true if simulations without replicates use the expected speed of the slowest node (computed
    from `nodes`), because programs wait for it; false if they use the median node"""

    @property
    def deviations(self) -> tuple[float, float]:
        """Return both standard deviations, 0 if not given."""
        nodes, phases = (one.value if one else 0.0 for one in (self.nodes, self.phases))
        return nodes, phases


class Unbound(TomlTable):
    """The cost of unbound processes that run far from their memory or share a core.

    A node with such processes delays all other nodes. Costs are interpolated between entries by the
    number of processes per node.
    """

    processes: PositiveCount
    """number of processes per node"""
    share: Quantity
    """share of the time during which the processes of a node are badly placed, independently of
    other nodes"""
    slower: Quantity
    """computation time of badly placed processes relative to that of bound processes, at least 1"""
    resume_s: Quantity | None = None
    """additional time per communication, compared with bound processes; 0 if omitted"""


class Node(TomlTable):
    """A node of the cluster."""

    cpu: Text
    """name of the processor model"""
    sockets: PositiveCount
    """number of sockets per node"""
    cores: PositiveCount
    """number of cores per node"""
    threads_per_core: PositiveCount
    """number of hardware threads per core"""
    memory_bytes: PositiveCount
    """memory per node"""
    source: Source
    """source of `sockets`, `cores`, `threads_per_core`, and `memory_bytes`"""
    clock_ghz: Quantity | None = None
    """nominal clock frequency, without boost"""
    core_flops_per_s: Quantity | None = None
    """computation rate of one core; required for simulations"""
    kernels: tuple[KernelRate, ...] = ()
    """computation rates of individual kernels"""
    sharpness: Quantity | None = None
    """sharpness of the transition from one cache level to the next; 1 if omitted"""
    knee: Quantity | None = None
    """sharpness of the transition at the size of the last-level cache: a working set of exactly
    this size has a hit rate of 2^(-1 / knee), because of conflict misses; 1 if omitted"""
    smt_gain: Quantity | None = None
    """throughput of a core with all hardware threads, relative to its throughput with one thread; 1
    if omitted"""
    memory: tuple[Memory, ...] = Field(min_length=1)
    """memory bandwidth of the node, one entry per number of cores in use"""
    socket: Socket | None = None
    """memory of each socket; if omitted, all cores share one memory equally"""
    gpu: Gpu | None = None
    """GPUs of a node, which are identical"""
    caches: tuple[Cache, ...] = ()
    """caches of a core, one entry per level"""
    regions: tuple[ParallelRegion, ...] = ()
    """cost of parallel regions, one entry per number of threads; if omitted, parallel regions take
    no time"""
    spread: NodeSpread | None = None
    """variability between nodes; all other numbers describe the median node"""
    unbound: tuple[Unbound, ...] = ()
    """cost of unbound processes, one entry per number of processes; if omitted, unbound processes
    have no cost"""

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
