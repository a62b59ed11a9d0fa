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
    """Published cells that a number was chosen by: they never count as predicted."""

    paper: Text = Field(description="the paper's id (haloscope paper list)")
    tables: tuple[Text, ...] = Field(min_length=1, description="ids of its tables")
    where: dict[str, CellValues] = Field(
        default_factory=dict,
        description="the values that these cells have, by column; all cells of the tables if not "
        "given",
    )


_CONTENT_ONLY = "content only"
"""The key of a serialization's context that leaves out what simulations do not depend on."""


class Quantity(_Part):
    """A number in the unit of its key, the ends of its interval, and where it is from."""

    value: Annotated[Number, Field(gt=0)] = Field(description="the number, above 0")
    low: Number | None = Field(None, description="the lower end of its interval")
    high: Number | None = Field(None, description="the upper end of its interval")
    source: Source = Field(
        description="where the number is from: a data sheet, a paper, a calibration; or assumed, "
        "and why"
    )
    set_by: tuple[SetBy, ...] = Field(
        (), description="the published cells that it was chosen by; none if not given"
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

    level: PositiveCount = Field(description="its level: 1, 2, 3")
    size_bytes: PositiveCount = Field(description="the size of one cache")
    shared_by: PositiveCount = Field(description="cores that share one")
    source: Source = Field(description="where size and sharing are from")
    bandwidth_bytes_per_s: Quantity | None = Field(
        None, description="what one core gets from it; needed for a simulation"
    )
    crowded_bytes_per_s: Quantity | None = Field(
        None,
        description="the same when all cores of its socket work and their clock is lower; as for "
        "one alone if not given",
    )
    usable_bytes: Quantity | None = Field(
        None,
        description="what a sweep finds room for, where that is less than the size: other "
        "machines on the same processor take their part",
    )
    inclusive: bool = Field(
        True,
        description="whether it repeats what the level below it holds; where the last one does "
        "not, the caches below of all cores in use add to it",
    )


class Memory(_Part):
    """What the memory of a node gives to so many cores together."""

    cores: PositiveCount = Field(description="cores that work together")
    bandwidth_bytes_per_s: Quantity = Field(
        description="what they get of the node's memory, lines that are read only to be "
        "overwritten included"
    )
    store_cost: Quantity | None = Field(
        None,
        description="what a byte that is written, or read only to be overwritten, takes over one "
        "that is loaded; 1 if not given. The bandwidth is then that of stream's loops together, "
        "half of whose bytes are such",
    )


class SocketMemory(_Part):
    """What the memory of one socket gives to so many of its cores together."""

    cores: PositiveCount = Field(description="cores of the socket that work together")
    bandwidth_bytes_per_s: Quantity = Field(
        description="what they get of the socket's memory, counted as that of a node"
    )


class SocketLink(_Part):
    """The way from one socket of a node to another."""

    bandwidth_bytes_per_s: Quantity = Field(
        description="of all messages from one socket to another together"
    )
    latency_s: Quantity | None = Field(
        None,
        description="what a message takes beside what it takes within a socket; not needed where "
        "`messages` of the placement other-socket say it",
    )


class Socket(_Part):
    """A socket with a memory of its own: one rank's data lie in that of its socket.

    `memory` of the node is then what ranks get that are spread over the sockets.
    """

    memory: tuple[SocketMemory, ...] = Field(
        min_length=1, description="an entry per number of cores"
    )
    link: SocketLink = Field(description="the way to another socket")


class ParallelRegion(_Part):
    """What it takes a rank of so many threads to begin and end a parallel region."""

    threads: PositiveCount = Field(description="threads of a rank")
    cost_s: Quantity = Field(description="what it takes them to begin and end a parallel region")


class Protocol(_Part):
    """Messages of some sizes: latency + size / bandwidth."""

    first_bytes: int = Field(
        ge=0, strict=True, description="the smallest of these messages, from 0"
    )
    last_bytes: int = Field(ge=0, strict=True, description="the largest")
    latency_s: Quantity | None = Field(None, description="of each message")
    bandwidth_bytes_per_s: Quantity | None = Field(
        None, description="none where size does not matter"
    )


class GpuMessages(_Part):
    """Messages whose data lie in the memories of two GPUs that are placed in one way."""

    placement: Literal["same-gpu", "same-socket", "other-socket", "other-node"] = Field(
        description="how the two GPUs lie: same-gpu, same-socket, other-socket or other-node"
    )
    receive_overhead_s: Quantity | None = Field(
        None,
        description="of their latency, what keeps the core of the receiving rank busy, which "
        "takes one message after the other; none if not given",
    )
    protocols: tuple[Protocol, ...] = Field(min_length=1, description="an entry per range of sizes")


class Gpu(_Part):
    """The GPUs of a node: as many on each socket, with a memory each."""

    gpu: Text = Field(description="its name")
    number: PositiveCount = Field(description="GPUs of a node, as many on each socket")
    memory_bytes: PositiveCount = Field(description="of each")
    source: Source = Field(description="where number and memory_bytes are from")
    memory_bandwidth_bytes_per_s: Quantity = Field(description="of the memory of one")
    copy_bandwidth_bytes_per_s: Quantity = Field(
        description="between that and the host's, each way"
    )
    socket_bandwidth_bytes_per_s: Quantity = Field(
        description="of all messages together from GPUs of one socket to those of another"
    )
    launch_s: Quantity = Field(description="time of the host for a kernel or a copy")
    launch_latency_s: Quantity | None = Field(
        None, description="until a launched one begins; no time if not given"
    )
    stream_sync_s: Quantity = Field(
        description="time of the host, beside waiting, for a stream or an event"
    )
    device_sync_s: Quantity = Field(description="the same for all streams")
    query_s: Quantity | None = Field(
        None, description="to ask in which memory an address is; no time if not given"
    )
    operation_s: Quantity | None = Field(
        None,
        description="of a library of star forests, in each operation besides; no time if not given",
    )
    messages: tuple[GpuMessages, ...] = Field(
        (), description="where MPI takes addresses of their memory: an entry per placement"
    )


class KernelRate(_Part):
    """What a core reaches in one kernel, where that is known: as a program there had it."""

    kernel: str = Field(description="its name (haloscope list)")
    variant: str | None = Field(
        None,
        description="the one of the kernel's that it is of, where it has several: others are not "
        "simulated",
    )
    core_flops_per_s: Quantity = Field(description="what one core reaches in it")
    crowded_flops_per_s: Quantity | None = Field(
        None,
        description="the same when all cores of its socket work; as for one alone if not given",
    )


class NodeSpread(_Part):
    """How far nodes lie apart: standard deviations of the logarithm of what computation takes.

    Simulated replicates draw nodes by it; else they are all alike.
    """

    nodes: Quantity | None = Field(
        None, description="of nodes, each in all that it does, and of launches on them"
    )
    phases: Quantity | None = Field(None, description="of one phase on one node, beside that")
    slowest: bool = Field(
        False,
        description="whether all nodes of a simulation without replicates take as long as the "
        "slowest of so many is expected to, by `nodes`, as programs wait for it; else as the one "
        "in the middle",
    )

    @property
    def deviations(self) -> tuple[float, float]:
        """Both, 0 for one that is not given."""
        nodes, phases = (one.value if one else 0.0 for one in (self.nodes, self.phases))
        return nodes, phases


class Unbound(_Part):
    """Unbound processes of a node that lie badly: away from their memory, or too many together.

    Such nodes hold up all others. Where a node has another number of processes than any entry, the
    costs lie on the line between those of two entries.
    """

    processes: PositiveCount = Field(description="processes of a node")
    slower: Quantity = Field(
        description="ratio of the time of computation to that of bound processes, from 1"
    )
    resume_s: Quantity | None = Field(
        None,
        description="time that a process needs to go on after each communication, beyond bound "
        "ones; none if not given",
    )


class Node(_Part):
    """A node."""

    cpu: Text = Field(description="the processor's name")
    sockets: PositiveCount = Field(description="sockets of a node")
    cores: PositiveCount = Field(description="cores of all sockets")
    threads_per_core: PositiveCount = Field(description="hardware threads of a core")
    memory_bytes: PositiveCount = Field(description="of the node")
    source: Source = Field(description="where these counts and memory_bytes are from")
    clock_ghz: Quantity | None = Field(None, description="as sold, not what it boosts to")
    core_flops_per_s: Quantity | None = Field(
        None, description="of one core; needed for a simulation"
    )
    kernels: tuple[KernelRate, ...] = Field((), description="kernels with a rate of their own")
    sharpness: Quantity | None = Field(
        None, description="how soon a working set is too large for a cache; 1 if not given"
    )
    knee: Quantity | None = Field(
        None,
        description="how sharp the step is where a working set just fits the last cache: of it "
        "2^(-1 / knee) are found, as some lines share their sets with too many; all of it if not "
        "given",
    )
    smt_gain: Quantity | None = Field(
        None,
        description="what all hardware threads of a core do together, over what one does alone; 1"
        " if not given",
    )
    memory: tuple[Memory, ...] = Field(
        min_length=1, description="an entry per number of cores that work together"
    )
    socket: Socket | None = Field(
        None,
        description="of several, where each has a memory of its own; without it all cores share "
        "one memory alike",
    )
    gpu: Gpu | None = Field(None, description="of several, all alike")
    caches: tuple[Cache, ...] = Field((), description="an entry per level")
    regions: tuple[ParallelRegion, ...] = Field(
        (), description="an entry per number of threads; parallel regions cost nothing if not given"
    )
    spread: NodeSpread | None = Field(
        None, description="how far nodes lie apart; all else describes the one in the middle"
    )
    unbound: tuple[Unbound, ...] = Field(
        (),
        description="an entry per number of processes; not binding them costs nothing if not given",
    )
    unbound_share: Quantity | None = Field(
        None,
        description="share of the time in which the unbound processes of a node lie badly, each "
        "node independently",
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

    A blocking factor of two is half as many parents times links as a switch has children.
    """

    children: PositiveCount = Field(description="nodes or switches below each switch of this level")
    parents: PositiveCount = Field(
        1,
        description="switches of this level that each of those is linked to; at the first level "
        "parents times links are the cards of a node",
    )
    links: PositiveCount = Field(1, description="parallel links to each of them")
    ports: PositiveCount | None = Field(
        None,
        description="of a switch of this level, up and down; not simulated, links can't be more",
    )
    left: Quantity | None = Field(
        None,
        description="the share of each link's bandwidth that others' traffic leaves; what "
        "`others` says if not given, all of it without these",
    )


class Network(_Part):
    """What joins the nodes. Each has one card, which its ranks share: a link like all others."""

    name: Text = Field(description="what it is called")
    topology: Literal["fat_tree", "torus", "flat"] = Field(
        description="fat_tree has levels, torus has dimensions, flat is one switch for all"
    )
    link_bandwidth_bytes_per_s: Quantity = Field(description="of each link, a node's card included")
    link_latency_s: Quantity = Field(
        description="of each link on the way, with the switch behind it"
    )
    levels: tuple[NetworkLevel, ...] = Field((), description="of a fat tree, from the nodes up")
    dimensions: tuple[PositiveCount, ...] = Field(
        (),
        description="of a torus: nodes along each. A node is its own switch, and has a link each "
        "way along each dimension",
    )
    source: Source = Field(description="where its shape is from")

    @property
    def places(self) -> int | None:
        """Nodes that it has places for; None where it does not say."""
        if self.topology == "fat_tree":
            return prod(level.children for level in self.levels)
        return prod(self.dimensions) if self.topology == "torus" else None


class Others(_Part):
    """Other jobs on the cluster: they decide which nodes a simulated job gets, and use its links.

    Their sizes, nodes, and traffic are drawn at random (src/haloscope/clusters/others.py).
    """

    occupancy: Quantity = Field(
        description="the share of all nodes that jobs hold, the simulated job among them"
    )
    traffic: Quantity | None = Field(
        None,
        description="what a node of another job sends and receives, on average over jobs, as a "
        "share of the bandwidth of its cards; 0.1 if not given",
    )


class Algorithm(_Part):
    """How a collective operation goes, by SimGrid's name, and where that is from."""

    algorithm: str = Field(description="its name in SimGrid, as smpi_collectives.py has it")
    source: Source = Field(description="where that is from")


class Mpi(_Part):
    """An MPI library. What is not given: defaults.py."""

    library: Text = Field(description="its name")
    rendezvous_bytes: Quantity = Field(
        description="from that size on, a send waits for its receive"
    )
    send_overhead_s: Quantity | None = Field(
        None, description="of each message, time of the processor"
    )
    receive_overhead_s: Quantity | None = Field(
        None, description="of each message, time of the processor"
    )
    rendezvous_latencies: Quantity | None = Field(
        None, description="how many latencies request, answer and data of a rendezvous take"
    )
    cached_bytes: Quantity | None = Field(
        None,
        description="of the largest messages within a node that caches hold, so that its memory "
        "does not move them",
    )
    collectives: dict[str, Algorithm] = Field(
        default_factory=dict,
        description='algorithms by operation; or "selector", by SimGrid\'s name of a whole choice',
    )


class Messages(_Part):
    """Messages between two ranks that are placed in one way, by one MPI library.

    Between nodes simulated messages take what the network's links say.
    """

    placement: str = Field(
        description="as a study names it, or same-node for any two ranks of a node"
    )
    mpi: str = Field(description="the library's name")
    latency_s: Quantity = Field(description="of the Hockney model for all sizes")
    bandwidth_bytes_per_s: Quantity = Field(description="of the Hockney model for all sizes")
    memory_bytes_per_byte: Quantity | None = Field(
        None,
        description="what the memory of a node moves for a byte of a message within it that no "
        "cache holds: about 3 where a rank copies from the other's memory, 6 (as if not given) "
        "where both copy by way of a buffer",
    )
    protocols: tuple[Protocol, ...] = Field(
        (),
        description="the model's pieces, an entry per range of sizes; between nodes of two that "
        "are two links apart",
    )


class Overheads(_Part):
    """LogGP's times of small messages, seconds; what was not above 0 is left out."""

    latency_s: Quantity | None = Field(None, description="LogGP's L")
    send_overhead_s: Quantity | None = Field(None, description="LogGP's o of the sender")
    receive_overhead_s: Quantity | None = Field(None, description="LogGP's o of the receiver")
    gap_s: Quantity | None = Field(None, description="LogGP's g")
    gap_s_per_byte: Quantity | None = Field(None, description="LogGP's G")


class Cluster(_Part):
    """A whole cluster file. name: the file's, and not in it."""

    name: str = Field(exclude=True)
    nodes: PositiveCount = Field(description="of a simulated job at most")
    source: Source = Field(description="where nodes are from, and in short all the rest")
    disturbed: tuple[Text, ...] = Field(
        (),
        description="where the numbers are measured, what says that something else was running "
        "meanwhile",
    )
    node: Node = Field(description="one node; all are alike")
    network: Network | None = Field(
        None, description="what joins the nodes; needed for a simulation of several"
    )
    others: Others | None = Field(
        None, description="other jobs on the cluster; it is empty if not given"
    )
    mpi: Mpi | None = Field(None, description="the MPI library; needed for a simulation")
    messages: tuple[Messages, ...] = Field((), description="an entry per placement of two ranks")
    overheads: Overheads | None = Field(
        None, description="LogGP's times of small messages, as calibrated"
    )


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
    node = cluster.node
    later: dict[str, Any] = {  # keys that there were not always: as before, where they say nothing
        "node": {
            **{
                key: True
                for key in ("socket", "gpu", "knee", "unbound", "unbound_share")
                if not getattr(node, key)
            },
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
