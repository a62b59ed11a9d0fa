# SPDX-License-Identifier: BSD-3-Clause
"""What connects the nodes of a cluster file: network, other jobs, MPI library, and messages."""

from __future__ import annotations

from math import prod
from typing import Literal

from pydantic import Field

from haloscope.clusters.node import Protocol
from haloscope.clusters.quantity import ClusterPart, PositiveCount, Quantity, Source, Text


class NetworkLevel(ClusterPart):
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


class Network(ClusterPart):
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


class Others(ClusterPart):
    """Other jobs on the cluster, which occupy nodes and use the links of the network.

    Their sizes, nodes, and traffic are drawn at random.
    """

    occupancy: Quantity = Field(
        description="share of all nodes in use by jobs, including the simulated one"
    )
    traffic: Quantity | None = Field(
        None,
        description="traffic of a node of another job, averaged over jobs, as a share of the "
        "bandwidth of its cards; 0.1 if omitted",
    )


class Algorithm(ClusterPart):
    """The algorithm of a collective operation, by its name in SimGrid, and its source."""

    algorithm: str = Field(description="name of the algorithm in SimGrid (smpi_collectives.py)")
    source: Source = Field(description="source")


class Mpi(ClusterPart):
    """An MPI library. `cluster show --assumed` lists the values of omitted keys."""

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


class Messages(ClusterPart):
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


class Overheads(ClusterPart):
    """LogGP parameters of small messages, in seconds; values not above 0 are omitted."""

    latency_s: Quantity | None = Field(None, description="LogGP's L")
    send_overhead_s: Quantity | None = Field(None, description="LogGP's o of the sender")
    receive_overhead_s: Quantity | None = Field(None, description="LogGP's o of the receiver")
    gap_s: Quantity | None = Field(None, description="LogGP's g")
    gap_s_per_byte: Quantity | None = Field(None, description="LogGP's G")
