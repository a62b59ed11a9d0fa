# SPDX-License-Identifier: BSD-3-Clause
"""Cluster files: what they must say, as data classes (`clusters/file.py` reads the files).

Every number has its source beside it: its own, or that of its table. Units are part of the keys'
names: bytes, seconds, bytes per second. `missing_for_simulation` lists what a simulation needs and
a file does not have.
"""

from __future__ import annotations

import hashlib
from math import prod
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    StrictFloat,
    StrictInt,
    StrictStr,
    StringConstraints,
    model_serializer,
)

from haloscope.errors import Problem, UserError
from haloscope.host.machine import OTHER_SOCKET
from haloscope.study.schema import OneOrMore

SAME_NODE = "same-node"
OTHER_NODE = "other-node"
SAME_SOCKET = ("same-socket", "same-cache")


PositiveCount = Annotated[int, Field(gt=0, strict=True)]
"""A whole number from 1, as TOML has it: no text and no true."""

Number = Annotated[float, Field(strict=True)]
"""A number as TOML has it, whole or not: no text and no true."""


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Some words: no empty ones."""

Source = Text
"""Where numbers are from: a data sheet, a paper, a calibration; or "assumed", and why."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


CellValues = Annotated[
    tuple[StrictInt | StrictFloat | StrictStr, ...], OneOrMore(), Field(min_length=1)
]


class SetBy(_Part):
    """Published cells that a number was fitted to; they never count as predicted."""

    paper: Text = Field(description="the paper's id (haloscope paper list)")
    tables: tuple[Text, ...] = Field(min_length=1, description="ids of its tables")
    where: dict[str, CellValues] = Field(
        default_factory=dict,
        description="values of these cells by column; all cells of the tables if omitted",
    )


_CONTENT_ONLY = "content only"
"""The key of a serialization's context that leaves out what simulations do not depend on."""


class Quantity(_Part):
    """A number in the unit of its key, its interval, and its source."""

    value: Annotated[Number, Field(gt=0)] = Field(description="the number, above 0")
    low: Number | None = Field(None, description="the lower end of its interval")
    high: Number | None = Field(None, description="the upper end of its interval")
    source: Source = Field(
        description="source of the number: a data sheet, a paper, or a calibration; or 'assumed', "
        "with the reason"
    )
    set_by: tuple[SetBy, ...] = Field(
        (), description="published cells that the number was fitted to; none if omitted"
    )

    @model_serializer(mode="wrap")
    def _without_empty(
        self, handler: SerializerFunctionWrapHandler, info: SerializationInfo
    ) -> dict[str, Any]:
        """All keys; `set_by` only where there are such cells and the content is not all."""
        found: dict[str, Any] = handler(self)
        if not self.set_by or (info.context or {}).get(_CONTENT_ONLY):
            found.pop("set_by", None)
        return found


class Cache(_Part):
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


class Memory(_Part):
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


class SocketMemory(_Part):
    """Memory bandwidth of a socket by the number of its cores in use."""

    cores: PositiveCount = Field(description="cores of the socket in use")
    bandwidth_bytes_per_s: Quantity = Field(
        description="bandwidth of these cores from the memory of their socket, counted as for a "
        "node"
    )


class SocketLink(_Part):
    """The connection between two sockets of a node."""

    bandwidth_bytes_per_s: Quantity = Field(
        description="bandwidth of all messages from one socket to another together"
    )
    latency_s: Quantity | None = Field(
        None,
        description="additional latency of a message to another socket; not needed if there are "
        "`messages` with placement other-socket",
    )


class Socket(_Part):
    """A socket with its own memory, which holds the data of its ranks.

    `memory` of the node is then the bandwidth of ranks that are spread over the sockets.
    """

    memory: tuple[SocketMemory, ...] = Field(
        min_length=1, description="one entry per number of cores"
    )
    link: SocketLink = Field(description="connection to another socket")


class ParallelRegion(_Part):
    """Time to start and end a parallel region, by the number of threads of a rank."""

    threads: PositiveCount = Field(description="threads of a rank")
    cost_s: Quantity = Field(description="time to start and end a parallel region")


class Protocol(_Part):
    """A range of message sizes with the time latency + size / bandwidth."""

    first_bytes: int = Field(ge=0, strict=True, description="smallest message size, from 0")
    last_bytes: int = Field(ge=0, strict=True, description="largest message size")
    latency_s: Quantity | None = Field(None, description="latency of a message")
    bandwidth_bytes_per_s: Quantity | None = Field(
        None, description="bandwidth; omitted if the time does not depend on the size"
    )


class GpuMessages(_Part):
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


class Gpu(_Part):
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


class KernelRate(_Part):
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


class NodeSpread(_Part):
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


class Unbound(_Part):
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


class Node(_Part):
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


class NetworkLevel(_Part):
    """One level of a fat tree, from the nodes up.

    With a blocking factor of two, parents x links is half the number of children of a switch.
    """

    children: PositiveCount = Field(description="nodes or switches below each switch of this level")
    parents: PositiveCount = Field(
        1,
        description="switches of this level that each child is linked to; at the first level "
        "parents x links is the number of network cards per node",
    )
    links: PositiveCount = Field(1, description="parallel links to each parent")
    ports: PositiveCount | None = Field(
        None,
        description="ports per switch of this level, up and down; not simulated, but an upper "
        "limit of the links",
    )
    left: Quantity | None = Field(
        None,
        description="share of each link's bandwidth that is not used by other jobs; computed from "
        "`others` if omitted",
    )


class Network(_Part):
    """The network between nodes. The ranks of a node share its card, a link like all others."""

    name: Text = Field(description="name")
    topology: Literal["fat_tree", "torus", "flat"] = Field(
        description="fat_tree (give levels), torus (give dimensions), or flat (one switch for all "
        "nodes)"
    )
    link_bandwidth_bytes_per_s: Quantity = Field(
        description="bandwidth of each link, including the card of a node"
    )
    link_latency_s: Quantity = Field(
        description="latency of each link on the route, including its switch"
    )
    levels: tuple[NetworkLevel, ...] = Field(
        (), description="levels of a fat tree, from the nodes up"
    )
    dimensions: tuple[PositiveCount, ...] = Field(
        (),
        description="nodes along each dimension of a torus. Each node has its own switch, with one "
        "link in each direction of each dimension",
    )
    source: Source = Field(description="source of the topology")

    @property
    def places(self) -> int | None:
        """Nodes that it has places for; None where it does not say."""
        if self.topology == "fat_tree":
            return prod(level.children for level in self.levels)
        return prod(self.dimensions) if self.topology == "torus" else None


class Others(_Part):
    """Other jobs on the cluster, which occupy nodes and use the links of the network.

    Their sizes, nodes, and traffic are drawn at random (src/haloscope/clusters/others.py).
    """

    occupancy: Quantity = Field(
        description="share of all nodes in use by jobs, including the simulated one"
    )
    traffic: Quantity | None = Field(
        None,
        description="traffic of a node of another job, averaged over jobs, as a share of the "
        "bandwidth of its cards; 0.1 if omitted",
    )


class Algorithm(_Part):
    """The algorithm of a collective operation, by its name in SimGrid, and its source."""

    algorithm: str = Field(description="name of the algorithm in SimGrid (smpi_collectives.py)")
    source: Source = Field(description="source")


class Mpi(_Part):
    """An MPI library. defaults.py has the values of omitted keys."""

    library: Text = Field(description="name")
    rendezvous_bytes: Quantity = Field(
        description="smallest message that waits for its receive (rendezvous protocol)"
    )
    send_overhead_s: Quantity | None = Field(None, description="processor time per message")
    receive_overhead_s: Quantity | None = Field(None, description="processor time per message")
    rendezvous_latencies: Quantity | None = Field(
        None, description="number of latencies of a rendezvous: request, answer, and data"
    )
    cached_bytes: Quantity | None = Field(
        None,
        description="size of the largest messages within a node that stay in cache and use no "
        "memory bandwidth",
    )
    collectives: dict[str, Algorithm] = Field(
        default_factory=dict,
        description='algorithms by operation; or "selector", by SimGrid\'s name of a whole choice',
    )


class Messages(_Part):
    """Messages between two ranks, by their placement and MPI library.

    Simulated messages between nodes take the time of the network's links.
    """

    placement: str = Field(
        description="placement as in a study, or same-node for any two ranks of a node"
    )
    mpi: str = Field(description="name of the library")
    latency_s: Quantity = Field(description="parameter of the Hockney model for all sizes")
    bandwidth_bytes_per_s: Quantity = Field(
        description="parameter of the Hockney model for all sizes"
    )
    memory_bytes_per_byte: Quantity | None = Field(
        None,
        description="bytes moved in memory per byte of a message within a node that does not fit a "
        "cache: about 3 if a rank copies from the memory of the other, 6 (default) if both "
        "copy through a buffer",
    )
    protocols: tuple[Protocol, ...] = Field(
        (),
        description="pieces of the model, one entry per range of sizes; between nodes, for two "
        "nodes that are two links apart",
    )


class Overheads(_Part):
    """LogGP parameters of small messages, in seconds; values not above 0 are omitted."""

    latency_s: Quantity | None = Field(None, description="LogGP's L")
    send_overhead_s: Quantity | None = Field(None, description="LogGP's o of the sender")
    receive_overhead_s: Quantity | None = Field(None, description="LogGP's o of the receiver")
    gap_s: Quantity | None = Field(None, description="LogGP's g")
    gap_s_per_byte: Quantity | None = Field(None, description="LogGP's G")


class Cluster(_Part):
    """A cluster file. name: the name of the file, which is not a key."""

    name: str = Field(exclude=True)
    nodes: PositiveCount = Field(description="largest number of nodes of a simulated job")
    source: Source = Field(
        description="source of the number of nodes, and a summary of all other sources"
    )
    disturbed: tuple[Text, ...] = Field((), description="signs of other load during a calibration")
    node: Node = Field(description="one node; all nodes are alike")
    network: Network | None = Field(
        None, description="network between the nodes; required for simulations of several nodes"
    )
    others: Others | None = Field(None, description="other jobs on the cluster; none if omitted")
    mpi: Mpi | None = Field(None, description="MPI library; required for simulations")
    messages: tuple[Messages, ...] = Field(
        (), description="one entry per placement of two ranks; simulations need same-node"
    )
    overheads: Overheads | None = Field(
        None, description="calibrated LogGP parameters of small messages"
    )


def require_undisturbed(cluster: Cluster, option: str) -> None:
    """UserError for a file whose numbers were measured while something else was running."""
    remedy = f"calibrate on an otherwise idle machine, or accept it: {option}"
    if problems := [Problem(f"cluster {cluster.name}", why, remedy) for why in cluster.disturbed]:
        raise UserError(problems)


MOST_PLACES = 200_000
"""Of nodes in a simulation, used or not: each takes 6.5 kB and 60 us of every case."""


def missing_for_simulation(cluster: Cluster) -> list[Problem]:
    """What a simulation needs that this file does not say."""
    found = {}
    if cluster.node.core_flops_per_s is None:
        found["node.core_flops_per_s"] = "flops per second of one core"
    if any(cache.bandwidth_bytes_per_s is None for cache in cluster.node.caches):
        found["node.caches.bandwidth_bytes_per_s"] = "each level's, of one core"
    if cluster.mpi is None:
        found["mpi"] = "library and rendezvous_bytes"
    if cluster.node.cores > 1 and within_node(cluster) is None:
        found["messages"] = 'an entry with placement = "same-node": latency and bandwidth'
    if cluster.nodes > 1 and cluster.network is None:
        found["network"] = "topology, link_bandwidth_bytes_per_s and link_latency_s"
    if cluster.node.cores > 1 and all(one.cores == 1 for one in cluster.node.memory):
        found["node.memory"] = "what several cores get of it together: an entry with cores = ..."
    where = f"cluster {cluster.name}"
    problems = [Problem(f"{where}: {key}", "is missing", f"give {v}") for key, v in found.items()]
    places = max(cluster.nodes, (cluster.network and cluster.network.places) or 0)
    if places > MOST_PLACES:
        what = f"{places:,} places for nodes are too many to simulate"
        remedy = f"describe a part of the machine with at most {MOST_PLACES:,}"
        problems.append(Problem(f"{where}: network", what, remedy))
    return problems


def within_node(cluster: Cluster) -> Messages | None:
    """Messages between ranks of one node: the entry "same-node", else the first of a placement."""
    own = [one for one in cluster.messages if one.placement != OTHER_NODE]
    return next((one for one in own if one.placement == SAME_NODE), own[0] if own else None)


def within_socket(cluster: Cluster) -> Messages | None:
    """Messages between ranks of a socket that has a memory of its own."""
    named = {one.placement: one for one in reversed(cluster.messages)}
    own = (named[placement] for placement in SAME_SOCKET if placement in named)
    return next(own, within_node(cluster))


def between_sockets(cluster: Cluster) -> Messages | None:
    """Messages between ranks of two sockets, where they are described beyond the link."""
    return next((one for one in cluster.messages if one.placement == OTHER_SOCKET), None)


def between_nodes(cluster: Cluster) -> Messages | None:
    """Messages between ranks of two nodes, where they are described beyond the network's links."""
    return next((one for one in cluster.messages if one.placement == OTHER_NODE), None)


def state(cluster: Cluster) -> str:
    """12 hexadecimal digits of all that a cluster file says that a simulation may depend on.

    Sources too: a number that another source gives is another statement. Not whether it was
    disturbed, nor which published cells set its numbers.
    """
    node = cluster.node
    later: dict[str, Any] = {  # keys that there were not always: as before, where they say nothing
        "node": {
            **{key: True for key in ("socket", "gpu", "knee", "unbound") if not getattr(node, key)},
            **({"spread": {"slowest"}} if node.spread and not node.spread.slowest else {}),
            "caches": {i: {"inclusive"} for i, cache in enumerate(node.caches) if cache.inclusive},
        }
    }
    if mpi := cluster.mpi:
        new = ("rendezvous_latencies", "cached_bytes")
        later["mpi"] = {key for key in new if getattr(mpi, key) is None}
    exclude: dict[str, Any] = {"disturbed": True, **later}
    if cluster.others is None:
        exclude["others"] = True
    said = cluster.model_dump_json(exclude=exclude, context={_CONTENT_ONLY: True})
    return hashlib.sha256(said.encode()).hexdigest()[:12]
