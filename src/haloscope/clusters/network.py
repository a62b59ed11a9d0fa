# SPDX-License-Identifier: BSD-3-Clause
"""What connects the nodes of a cluster file: network, other jobs, MPI library, and messages."""

from __future__ import annotations

from math import prod
from typing import Literal

from pydantic import Field

from haloscope.clusters.node import Protocol
from haloscope.clusters.quantity import PositiveCount, Quantity, Source, Text
from haloscope.toml import TomlTable


class NetworkLevel(TomlTable):
    """One level of a fat tree. Levels are listed from the nodes up.

    With a blocking factor of two, parents x links is half the number of children of a switch.
    """

    children: PositiveCount
    """number of nodes or switches below each switch of this level"""
    parents: PositiveCount = 1
    """number of switches of this level that each child is linked to; at the first level, parents x
    links is the number of network cards per node"""
    links: PositiveCount = 1
    """number of parallel links to each parent"""
    ports: PositiveCount | None = None
    """number of ports per switch of this level, up and down. Ports are not simulated, but they
    limit the number of links"""
    left: Quantity | None = None
    """share of each link's bandwidth that is not used by other jobs; computed from `others` if
    omitted"""


class Network(TomlTable):
    """The network between nodes. Ranks on a node share its network card, which counts as a link."""

    name: Text
    """name of the network"""
    topology: Literal["fat_tree", "torus", "flat"]
    """fat_tree (requires `levels`), torus (requires `dimensions`), or flat (one switch for all
    nodes)"""
    link_bandwidth_bytes_per_s: Quantity
    """bandwidth of each link, including the network card of a node"""
    link_latency_s: Quantity
    """latency of each link on the route, including the switch"""
    levels: tuple[NetworkLevel, ...] = ()
    """levels of a fat tree, from the nodes up"""
    dimensions: tuple[PositiveCount, ...] = ()
    """number of nodes along each dimension of a torus. Each node has its own switch, with one link
    in each direction of each dimension"""
    source: Source
    """source of the topology"""

    @property
    def places(self) -> int | None:
        """Number of places for nodes; None if unknown."""
        if self.topology == "fat_tree":
            return prod(level.children for level in self.levels)
        return prod(self.dimensions) if self.topology == "torus" else None


class Others(TomlTable):
    """Other jobs on the cluster, which occupy nodes and use the links of the network.

    Their sizes, nodes, and traffic are drawn at random.
    """

    occupancy: Quantity
    """share of all nodes that are in use by jobs, including the simulated job"""
    traffic: Quantity | None = None
    """traffic per node of other jobs, averaged over these jobs, as a share of the bandwidth of the
    node's network cards; 0.1 if omitted"""


class Algorithm(TomlTable):
    """The algorithm of a collective operation, by its name in SimGrid, and its source."""

    algorithm: str
    """name of the algorithm in SimGrid (smpi_collectives.py)"""
    source: Source
    """source of the choice of algorithm"""


class Mpi(TomlTable):
    """The MPI library. `cluster show --assumed` lists the values of omitted keys."""

    library: Text
    """name of the MPI library"""
    rendezvous_bytes: Quantity
    """size of the smallest message that waits for its receive (rendezvous protocol)"""
    send_overhead_s: Quantity | None = None
    """processor time to send a message"""
    receive_overhead_s: Quantity | None = None
    """processor time to receive a message"""
    rendezvous_latencies: Quantity | None = None
    """number of message latencies in a rendezvous (request, answer, and data)"""
    cached_bytes: Quantity | None = None
    """size of the largest messages within a node that stay in cache and use no memory bandwidth"""
    collectives: dict[str, Algorithm] = Field(default_factory=dict)
    """algorithms by collective operation; the key `selector` names a SimGrid selector, which
    chooses the algorithms of the other operations"""


class Messages(TomlTable):
    """Messages between two ranks, by their placement and MPI library.

    The simulated time of messages between nodes is computed from the links of the network.
    """

    placement: str
    """placement as in a study, or same-node for any two ranks of a node"""
    mpi: str
    """name of the MPI library"""
    latency_s: Quantity
    """latency of the Hockney model for all message sizes"""
    bandwidth_bytes_per_s: Quantity
    """bandwidth of the Hockney model for all message sizes"""
    memory_bytes_per_byte: Quantity | None = None
    """bytes moved in memory per message byte, for messages within a node that do not fit in a
    cache: about 3 if a rank copies from the memory of the other, 6 (default) if both copy through a
    buffer"""
    protocols: tuple[Protocol, ...] = ()
    """piecewise model of the message time, one entry per range of message sizes; for messages
    between nodes, the entries are for two nodes that are two links apart"""


class Overheads(TomlTable):
    """LogGP parameters of small messages, in seconds. Values that are not above 0 are omitted."""

    latency_s: Quantity | None = None
    """parameter L of the LogGP model: latency"""
    send_overhead_s: Quantity | None = None
    """parameter o of the LogGP model: overhead of the sender"""
    receive_overhead_s: Quantity | None = None
    """parameter o of the LogGP model: overhead of the receiver"""
    gap_s: Quantity | None = None
    """parameter g of the LogGP model: gap between messages"""
    gap_s_per_byte: Quantity | None = None
    """parameter G of the LogGP model: gap per byte"""
