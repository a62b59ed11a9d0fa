# SPDX-License-Identifier: BSD-3-Clause
"""The node of a cluster file: caches, memory, sockets, GPUs, rates, and variability."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from haloscope.clusters.quantity import ClusterPart, PositiveCount, Quantity, Source, Text


class Cache(ClusterPart):
    """A cache level."""

    level: PositiveCount = Field(description="level: 1, 2, 3")
    size_bytes: PositiveCount = Field(description="size of one cache")
    shared_by: PositiveCount = Field(description="cores that share one cache")
    source: Source = Field(description="source of size and sharing")
    bandwidth_bytes_per_s: Quantity | None = Field(
        None, description="bandwidth of one core; required for simulations"
    )
    crowded_bytes_per_s: Quantity | None = Field(
        None,
        description="bandwidth of one core when all cores of the socket are busy and the clock is "
        "therefore lower; default: the bandwidth of one core alone",
    )
    usable_bytes: Quantity | None = Field(
        None,
        description="capacity available to a sweep, if less than the size, as where other virtual "
        "machines share the processor",
    )
    inclusive: bool = Field(
        True,
        description="true if the cache contains the lines of the level below. If the last level "
        "does not, the caches below it of all cores in use add to its capacity",
    )


class Memory(ClusterPart):
    """Memory bandwidth of a node by the number of cores in use."""

    cores: PositiveCount = Field(description="cores in use")
    bandwidth_bytes_per_s: Quantity = Field(
        description="bandwidth of these cores together, including lines that are read before they "
        "are overwritten"
    )
    store_cost: Quantity | None = Field(
        None,
        description="time per byte written, or read before it is overwritten, relative to a byte "
        "loaded; 1 if omitted. The bandwidth is then that of all STREAM loops together, half "
        "of whose bytes are of this kind",
    )


class SocketMemory(ClusterPart):
    """Memory bandwidth of a socket by the number of its cores in use."""

    cores: PositiveCount = Field(description="cores of the socket in use")
    bandwidth_bytes_per_s: Quantity = Field(
        description="bandwidth of these cores from the memory of their socket, counted as for a "
        "node"
    )


class SocketLink(ClusterPart):
    """The connection between two sockets of a node."""

    bandwidth_bytes_per_s: Quantity = Field(
        description="bandwidth of all messages from one socket to another together"
    )
    latency_s: Quantity | None = Field(
        None,
        description="additional latency of a message to another socket; not needed if there are "
        "`messages` with placement other-socket",
    )


class Socket(ClusterPart):
    """A socket with its own memory, which holds the data of its ranks.

    `memory` of the node is then the bandwidth of ranks that are spread over the sockets.
    """

    memory: tuple[SocketMemory, ...] = Field(
        min_length=1, description="one entry per number of cores"
    )
    link: SocketLink = Field(description="connection to another socket")


class ParallelRegion(ClusterPart):
    """Time to start and end a parallel region, by the number of threads of a rank."""

    threads: PositiveCount = Field(description="threads of a rank")
    cost_s: Quantity = Field(description="time to start and end a parallel region")


class Protocol(ClusterPart):
    """A range of message sizes with the time latency + size / bandwidth."""

    first_bytes: int = Field(ge=0, strict=True, description="smallest message size, from 0")
    last_bytes: int = Field(ge=0, strict=True, description="largest message size")
    latency_s: Quantity | None = Field(None, description="latency of a message")
    bandwidth_bytes_per_s: Quantity | None = Field(
        None, description="bandwidth; omitted if the time does not depend on the size"
    )


class GpuMessages(ClusterPart):
    """Messages between the memories of two GPUs, by the position of the GPUs."""

    placement: Literal["same-gpu", "same-socket", "other-socket", "other-node"] = Field(
        description="position of the two GPUs: same-gpu, same-socket, other-socket, or other-node"
    )
    receive_overhead_s: Quantity | None = Field(
        None,
        description="part of the latency that occupies the core of the receiving rank, which "
        "processes one message after the other; 0 if omitted",
    )
    protocols: tuple[Protocol, ...] = Field(
        min_length=1, description="one entry per range of sizes"
    )


class Gpu(ClusterPart):
    """The GPUs of a node: equally many per socket, each with its own memory."""

    gpu: Text = Field(description="name")
    number: PositiveCount = Field(description="GPUs per node, equally many per socket")
    memory_bytes: PositiveCount = Field(description="memory of one GPU")
    source: Source = Field(description="source of number and memory_bytes")
    memory_bandwidth_bytes_per_s: Quantity = Field(description="memory bandwidth of one GPU")
    copy_bandwidth_bytes_per_s: Quantity = Field(
        description="bandwidth of copies to and from host memory, each way"
    )
    socket_bandwidth_bytes_per_s: Quantity = Field(
        description="bandwidth of all messages together from GPUs of one socket to GPUs of another"
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
        None, description="time to query the memory of an address; 0 if omitted"
    )
    operation_s: Quantity | None = Field(
        None, description="additional time per operation of a star forest library; 0 if omitted"
    )
    messages: tuple[GpuMessages, ...] = Field(
        (), description="messages of GPU-aware MPI: one entry per placement"
    )


class KernelRate(ClusterPart):
    """The rate of a core in one kernel, where it is known from a program on this machine."""

    kernel: str = Field(description="kernel (haloscope list)")
    variant: str | None = Field(
        None,
        description="variant of the kernel, if it has several; other variants are not simulated",
    )
    core_flops_per_s: Quantity = Field(description="rate of one core")
    crowded_flops_per_s: Quantity | None = Field(
        None,
        description="rate of one core while all cores of the socket work; that of one core alone "
        "if omitted",
    )


class NodeSpread(ClusterPart):
    """Variability between nodes: standard deviations of the logarithm of computation times.

    Simulated replicates draw their nodes from it. Without replicates all nodes are alike.
    """

    nodes: Quantity | None = Field(
        None, description="standard deviation between nodes, and between launches on them"
    )
    phases: Quantity | None = Field(
        None, description="additional standard deviation of one phase on one node"
    )
    slowest: bool = Field(
        False,
        description="true if simulations without replicates use the expected speed of the slowest "
        "node, by `nodes`, because programs wait for it; otherwise the median node",
    )

    @property
    def deviations(self) -> tuple[float, float]:
        """Both, 0 for one that is not given."""
        nodes, phases = (one.value if one else 0.0 for one in (self.nodes, self.phases))
        return nodes, phases


class Unbound(ClusterPart):
    """The cost of badly placed unbound processes: far from their memory, or sharing a core.

    Such nodes delay all others. Costs are interpolated between entries, by processes per node.
    """

    processes: PositiveCount = Field(description="processes per node")
    share: Quantity = Field(
        description="share of the time in which the processes of a node are badly placed, "
        "independently per node"
    )
    slower: Quantity = Field(
        description="ratio of computation time to that of bound processes, from 1"
    )
    resume_s: Quantity | None = Field(
        None,
        description="additional time per communication compared with bound processes; 0 if omitted",
    )


class Node(ClusterPart):
    """A node."""

    cpu: Text = Field(description="name of the processor")
    sockets: PositiveCount = Field(description="sockets per node")
    cores: PositiveCount = Field(description="cores per node")
    threads_per_core: PositiveCount = Field(description="hardware threads per core")
    memory_bytes: PositiveCount = Field(description="memory per node")
    source: Source = Field(description="source of the counts and of memory_bytes")
    clock_ghz: Quantity | None = Field(None, description="nominal clock, without boost")
    core_flops_per_s: Quantity | None = Field(
        None, description="rate of one core; required for simulations"
    )
    kernels: tuple[KernelRate, ...] = Field((), description="rates of individual kernels")
    sharpness: Quantity | None = Field(
        None,
        description="sharpness of the transition from one cache level to the next; 1 if omitted",
    )
    knee: Quantity | None = Field(
        None,
        description="sharpness of the step at the size of the last cache: a working set of exactly "
        "this size has a hit rate of 2^(-1 / knee), because of conflicts; 1 if omitted",
    )
    smt_gain: Quantity | None = Field(
        None,
        description="throughput of all hardware threads of a core relative to one thread; 1 if "
        "omitted",
    )
    memory: tuple[Memory, ...] = Field(
        min_length=1, description="one entry per number of cores in use"
    )
    socket: Socket | None = Field(
        None, description="memory per socket; if omitted, all cores share one memory equally"
    )
    gpu: Gpu | None = Field(None, description="the GPUs of a node, all alike")
    caches: tuple[Cache, ...] = Field((), description="one entry per level")
    regions: tuple[ParallelRegion, ...] = Field(
        (), description="one entry per number of threads; parallel regions take no time if omitted"
    )
    spread: NodeSpread | None = Field(
        None, description="variability between nodes; all other numbers describe the median node"
    )
    unbound: tuple[Unbound, ...] = Field(
        (), description="one entry per number of processes; missing binding has no cost if omitted"
    )

    @property
    def processor(self) -> str:
        """What it is called, with its clock where that is known."""
        return f"{self.cpu}, {self.clock_ghz.value:g} GHz" if self.clock_ghz else self.cpu

    @property
    def variants(self) -> dict[str, list[str]]:
        """Kernels that have rates for some of their variants alone, and these."""
        found: dict[str, list[str]] = {}
        for one in self.kernels:
            if one.variant is not None:
                found.setdefault(one.kernel, []).append(one.variant)
        return found
