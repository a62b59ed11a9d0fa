# SPDX-License-Identifier: BSD-3-Clause
"""Cluster files: what they must say, as data classes (`clusters/file.py` reads the files).

Every number has its source beside it: its own, or that of the table it stands in. Units are part of
the keys' names: bytes, seconds, bytes a second. What a simulation needs and a file does not say is
named by `missing_for_simulation`.
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
"""Placements of messages within a socket, the most telling first."""


PositiveCount = Annotated[int, Field(gt=0, strict=True)]
"""A whole number from 1, as TOML has it: no text and no true."""

Number = Annotated[float, Field(strict=True)]
"""A number as TOML has it, whole or not: no text and no true."""


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Some words: no empty ones."""

Source = Text
"""Where numbers are from: a data sheet, a paper, a calibration; or "assumed", and why."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


CellValues = Annotated[
    tuple[StrictInt | StrictFloat | StrictStr, ...], OneOrMore(), Field(min_length=1)
]
"""One value of a column of a published table, or several."""


class SetBy(_Part):
    """Published cells that a number was chosen by: they never count as predicted.

    paper, tables: by id. where: the values that these cells have, by column; all cells of the
    tables if not given.
    """

    paper: Text
    tables: tuple[Text, ...] = Field(min_length=1)
    where: dict[str, CellValues] = Field(default_factory=dict)


_CONTENT_ONLY = "content only"
"""The key of a serialization's context that leaves out what simulations do not depend on."""


class Quantity(_Part):
    """A number above 0 in the unit of its key, the ends of its interval, and where it is from.

    set_by: the published cells that it was chosen by; none if not given.
    """

    value: Annotated[Number, Field(gt=0)]
    low: Number | None = None
    high: Number | None = None
    source: Source
    set_by: tuple[SetBy, ...] = ()

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
    """A cache level: size of one cache, cores that share it, what one core gets from it.

    source: of size and sharing.
    crowded_bytes_per_s: the same when all cores of its socket work and their clock is lower; as
    for one alone if not given. usable_bytes: what a sweep finds room for, where that is less than
    the size: other machines on the same processor take their part.
    """

    level: PositiveCount
    size_bytes: PositiveCount
    shared_by: PositiveCount
    source: Source
    bandwidth_bytes_per_s: Quantity | None = None
    crowded_bytes_per_s: Quantity | None = None
    usable_bytes: Quantity | None = None


class Memory(_Part):
    """What the memory of a node gives to so many cores together.

    All that it moves counts: lines that are read only to be overwritten, too. store_cost: what a
    byte that is written, or read only to be overwritten, takes over one that is loaded, for which a
    core waits; 1 if not given. The bandwidth is then that of stream's loops together, half of
    whose bytes are such.
    """

    cores: PositiveCount
    bandwidth_bytes_per_s: Quantity
    store_cost: Quantity | None = None


class SocketMemory(_Part):
    """What the memory of one socket gives to so many of its cores together, as `Memory` counts."""

    cores: PositiveCount
    bandwidth_bytes_per_s: Quantity


class SocketLink(_Part):
    """The way from one socket of a node to another.

    bandwidth_bytes_per_s: of all messages from the one to the other together. latency_s: what a
    message takes beside what it takes within a socket; not needed where `messages` of the
    placement other-socket say what they take.
    """

    bandwidth_bytes_per_s: Quantity
    latency_s: Quantity | None = None


class Socket(_Part):
    """A socket with a memory of its own: one rank's data lie in that of its socket.

    Where it is not given, all cores of a node share one memory alike. Where it is, `memory` of the
    node is what ranks get that are spread over the sockets, for ranks that have cores of several.
    """

    memory: tuple[SocketMemory, ...] = Field(min_length=1)
    link: SocketLink


class ParallelRegion(_Part):
    """What it takes a rank of so many threads to begin and end a parallel region."""

    threads: PositiveCount
    cost_s: Quantity


class Protocol(_Part):
    """Messages of some sizes: latency + size / bandwidth; none where size does not matter."""

    first_bytes: int = Field(ge=0, strict=True)
    last_bytes: int = Field(ge=0, strict=True)
    latency_s: Quantity | None = None
    bandwidth_bytes_per_s: Quantity | None = None


class GpuMessages(_Part):
    """Messages whose data lie in the memories of two GPUs that are placed in one way.

    receive_overhead_s: of their latency, what keeps the core of the receiving rank busy, which
    takes one message after the other; none if not given.
    """

    placement: Literal["same-gpu", "same-socket", "other-socket", "other-node"]
    receive_overhead_s: Quantity | None = None
    protocols: tuple[Protocol, ...] = Field(min_length=1)


class Gpu(_Part):
    """The GPUs of a node: as many on each socket, with a memory each.

    source: of their number and memory_bytes. memory_bandwidth_bytes_per_s: of one's memory.
    copy_bandwidth_bytes_per_s: between that and the host's, each way.
    socket_bandwidth_bytes_per_s: of all messages together from GPUs of one socket to those of
    another.
    launch_s: of the host, for a kernel or a copy; launch_latency_s: until a launched one begins.
    stream_sync_s, device_sync_s: of the host, beside waiting, for a stream (or an event), for all
    streams. query_s: to ask in which memory an address is. operation_s: of a library of star
    forests, in each operation besides. What is not given takes no time.
    messages: where MPI takes addresses of their memory, one entry a placement.
    """

    gpu: Text
    number: PositiveCount
    memory_bytes: PositiveCount
    source: Source
    memory_bandwidth_bytes_per_s: Quantity
    copy_bandwidth_bytes_per_s: Quantity
    socket_bandwidth_bytes_per_s: Quantity
    launch_s: Quantity
    launch_latency_s: Quantity | None = None
    stream_sync_s: Quantity
    device_sync_s: Quantity
    query_s: Quantity | None = None
    operation_s: Quantity | None = None
    messages: tuple[GpuMessages, ...] = ()


class KernelRate(_Part):
    """What a core reaches in one kernel, where that is known: as a program measured there had it.

    variant: the one of the kernel's that it is of, where it has several: others are not simulated.
    crowded_flops_per_s: the same when all cores of its socket work; as for one alone if not given.
    """

    kernel: str
    variant: str | None = None
    core_flops_per_s: Quantity
    crowded_flops_per_s: Quantity | None = None


class NodeSpread(_Part):
    """How far nodes lie apart: standard deviations of the logarithm of what computation takes.

    nodes: of nodes, each in all that it does, and of launches on them. phases: of one phase on one
    node, beside that. Only simulated replicates draw nodes by it; else they are all alike.
    """

    nodes: Quantity | None = None
    phases: Quantity | None = None

    @property
    def deviations(self) -> tuple[float, float]:
        """Both, 0 for one that is not given."""
        nodes, phases = (one.value if one else 0.0 for one in (self.nodes, self.phases))
        return nodes, phases


class Node(_Part):
    """A node. cores: of all sockets, each with threads_per_core hardware threads.

    source: of these counts and of memory_bytes. clock_ghz: as sold, not what it boosts to.
    core_flops_per_s: of one core; kernels: those with a rate of their own. sharpness: how soon a
    working set is too large for a cache. smt_gain: what all hardware threads of a core do
    together, over what one does alone. (Both 1 if not given: halobench/machine/node_model.hpp.)
    regions: parallel regions, which cost nothing if not given.
    socket: of several, where each has a memory of its own.
    gpu: of several, all alike.
    spread: how far nodes lie apart, of which all else describes the one in the middle.
    """

    cpu: Text
    sockets: PositiveCount
    cores: PositiveCount
    threads_per_core: PositiveCount
    memory_bytes: PositiveCount
    source: Source
    clock_ghz: Quantity | None = None
    core_flops_per_s: Quantity | None = None
    kernels: tuple[KernelRate, ...] = ()
    sharpness: Quantity | None = None
    smt_gain: Quantity | None = None
    memory: tuple[Memory, ...] = Field(min_length=1)
    socket: Socket | None = None
    gpu: Gpu | None = None
    caches: tuple[Cache, ...] = ()
    regions: tuple[ParallelRegion, ...] = ()
    spread: NodeSpread | None = None

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

    children: nodes or switches below each switch of this level; parents: switches of this level
    that each of those is linked to; links: parallel links to each of them. A blocking factor of two
    is half as many parents times links as a switch has children. At the first level parents times
    links are the cards of a node: more than one where it has several rails. ports: of a switch of
    this level, up and down; not simulated, links can't be more. left: the share of each link's
    bandwidth that others' traffic leaves; all of it if not given.
    """

    children: PositiveCount
    parents: PositiveCount = 1
    links: PositiveCount = 1
    ports: PositiveCount | None = None
    left: Quantity | None = None


class Network(_Part):
    """What joins the nodes. Each has one card, which its ranks share: a link like all others.

    fat_tree has levels, torus has dimensions (nodes along each), flat is one switch for all. In a
    torus a node is its own switch, and has a link each way along each dimension.
    link_latency_s: of each link on the way, with the switch behind it. source: of its shape.
    """

    name: Text
    topology: Literal["fat_tree", "torus", "flat"]
    link_bandwidth_bytes_per_s: Quantity
    link_latency_s: Quantity
    levels: tuple[NetworkLevel, ...] = ()
    dimensions: tuple[PositiveCount, ...] = ()
    source: Source

    @property
    def places(self) -> int | None:
        """Nodes that it has places for; None where it does not say."""
        if self.topology == "fat_tree":
            return prod(level.children for level in self.levels)
        return prod(self.dimensions) if self.topology == "torus" else None


class Algorithm(_Part):
    """How a collective operation goes, by SimGrid's name, and where that is from."""

    algorithm: str
    source: Source


class Mpi(_Part):
    """An MPI library. Overheads are those of each message, in time of the processor.

    rendezvous_bytes: from that size on, a send waits for its receive, and takes so many
    rendezvous_latencies (request, answer, data). cached_bytes: of the largest messages within a
    node that caches hold, so that its memory does not move them. collectives: algorithms by
    operation, or "selector", by SimGrid's names (smpi_collectives.py). What is not given:
    defaults.py.
    """

    library: Text
    rendezvous_bytes: Quantity
    send_overhead_s: Quantity | None = None
    receive_overhead_s: Quantity | None = None
    rendezvous_latencies: Quantity | None = None
    cached_bytes: Quantity | None = None
    collectives: dict[str, Algorithm] = Field(default_factory=dict)


class Messages(_Part):
    """Messages between two ranks that are placed in one way, by one MPI library.

    placement: as a study names it, or "same-node" for any two ranks of a node.
    latency_s, bandwidth_bytes_per_s: of the Hockney model for all sizes; protocols: of its pieces.
    Between nodes simulated messages take what the network's links say, and with protocols what
    these say of two nodes that are two links apart. memory_bytes_per_byte: what the memory of a
    node moves for a byte of a message within it that no cache holds: about 3 where a rank copies
    from the other's memory, 6 (as if not given) where both copy by way of a buffer.
    """

    placement: str
    mpi: str
    latency_s: Quantity
    bandwidth_bytes_per_s: Quantity
    memory_bytes_per_byte: Quantity | None = None
    protocols: tuple[Protocol, ...] = ()


class Overheads(_Part):
    """LogGP's times of small messages, seconds; what was not above 0 is left out."""

    latency_s: Quantity | None = None
    send_overhead_s: Quantity | None = None
    receive_overhead_s: Quantity | None = None
    gap_s: Quantity | None = None
    gap_s_per_byte: Quantity | None = None


class Cluster(_Part):
    """A whole cluster file. name: the file's, and not in it. nodes: of a simulated job at most.

    source: of nodes, and in short of all the rest.
    disturbed: where these are measured, what says that something else was running meanwhile.
    """

    name: str = Field(exclude=True)
    nodes: PositiveCount
    source: Source
    disturbed: tuple[Text, ...] = ()
    node: Node
    network: Network | None = None
    mpi: Mpi | None = None
    messages: tuple[Messages, ...] = ()
    overheads: Overheads | None = None


def require_undisturbed(cluster: Cluster, option: str) -> None:
    """UserError for a file whose numbers were measured while something else was running.

    option: what takes it nevertheless.
    """
    mend = f"calibrate with nobody else on the machine, or take it as it is: {option}"
    if problems := [Problem(f"cluster {cluster.name}", why, mend) for why in cluster.disturbed]:
        raise UserError(problems)


MOST_PLACES = 200_000
"""Of nodes in a simulation, used or not: each takes 6.5 kB and 60 us of every case."""


def missing_for_simulation(cluster: Cluster) -> list[Problem]:
    """What a simulation needs that this file does not say."""
    found = {}
    if cluster.node.core_flops_per_s is None:
        found["node.core_flops_per_s"] = "flops a second of one core"
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
        what = f"{places:,} places for nodes are more than a simulation has time and memory for"
        mend = f"describe a part of the machine with {MOST_PLACES:,} at most"
        problems.append(Problem(f"{where}: network", what, mend))
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
    later: dict[str, Any] = {  # keys that there were not always: as before, where they say nothing
        "node": {key for key in ("socket", "gpu") if getattr(cluster.node, key) is None}
    }
    if mpi := cluster.mpi:
        new = ("rendezvous_latencies", "cached_bytes")
        later["mpi"] = {key for key in new if getattr(mpi, key) is None}
    said = cluster.model_dump_json(
        exclude={"disturbed": True, **later}, context={_CONTENT_ONLY: True}
    )
    return hashlib.sha256(said.encode()).hexdigest()[:12]
