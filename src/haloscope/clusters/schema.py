# SPDX-License-Identifier: BSD-3-Clause
"""The keys of cluster files, as data classes (`clusters/file.py` reads the files).

Every number has its own source or that of its table. Units are part of the keys' names: bytes,
seconds, bytes per second. `missing_for_simulation` lists what a simulation needs and a file does
not have.
"""

from __future__ import annotations

import hashlib
from typing import Any

from pydantic import Field

from haloscope.clusters.network import Messages, Mpi, Network, Others, Overheads
from haloscope.clusters.node import Node
from haloscope.clusters.quantity import CONTENT_ONLY, PositiveCount, Source, Text
from haloscope.errors import Problem, reject
from haloscope.host.machine import OTHER_SOCKET
from haloscope.toml import TomlTable

SAME_NODE = "same-node"
OTHER_NODE = "other-node"
SAME_SOCKET = ("same-socket", "same-cache")


class Cluster(TomlTable):
    """A cluster: its nodes, network, and MPI library."""

    name: str = Field(exclude=True)  # the name of the file, which is not a key of it
    nodes: PositiveCount
    """maximum number of nodes of a simulated job"""
    source: Source
    """source of the number of nodes, and a summary of all other sources"""
    disturbed: tuple[Text, ...] = ()
    """signs of other load on the machine during the calibration"""
    node: Node
    """description of one node; all nodes are identical"""
    network: Network | None = None
    """network between the nodes; required for simulations of several nodes"""
    others: Others | None = None
    """other jobs on the cluster; none if omitted"""
    mpi: Mpi | None = None
    """MPI library; required for simulations"""
    messages: tuple[Messages, ...] = ()
    """one entry per placement of two ranks; simulations require an entry for same-node"""
    overheads: Overheads | None = None
    """calibrated LogGP parameters of small messages"""


def require_undisturbed(cluster: Cluster, option: str) -> None:
    """Raise UserError for a file whose calibration was disturbed by other processes."""
    remedy = f"calibrate on an otherwise idle machine, or accept it: {option}"
    reject(Problem(f"cluster {cluster.name}", why, remedy) for why in cluster.disturbed)


MOST_PLACES = 200_000
"""Nodes of a simulation, used or not: each takes 6.5 kB and 60 us of every case."""


def missing_for_simulation(cluster: Cluster) -> list[Problem]:
    """Return the values that a simulation needs and the file does not have."""
    found = {}
    if cluster.node.core_flops_per_s is None:
        found["node.core_flops_per_s"] = "the floating-point rate of one core in flop/s"
    if any(cache.bandwidth_bytes_per_s is None for cache in cluster.node.caches):
        found["node.caches.bandwidth_bytes_per_s"] = "the bandwidth of one core for each level"
    if cluster.mpi is None:
        found["mpi"] = "library and rendezvous_bytes"
    if cluster.node.cores > 1 and within_node(cluster) is None:
        found["messages"] = 'the latency and bandwidth for placement = "same-node"'
    if cluster.nodes > 1 and cluster.network is None:
        found["network"] = "topology, link_bandwidth_bytes_per_s, and link_latency_s"
    if cluster.node.cores > 1 and all(one.cores == 1 for one in cluster.node.memory):
        found["node.memory"] = "the combined bandwidth of several cores: an entry with cores = ..."
    where = f"cluster {cluster.name}"
    what = "this key is missing"
    problems = [Problem(f"{where}: {key}", what, f"give {v}") for key, v in found.items()]
    places = max(cluster.nodes, (cluster.network and cluster.network.places) or 0)
    if places > MOST_PLACES:
        what = f"has room for {places:,} nodes, but at most {MOST_PLACES:,} can be simulated"
        remedy = "describe only a part of the machine"
        problems.append(Problem(f"{where}: network", what, remedy))
    return problems


def within_node(cluster: Cluster) -> Messages | None:
    """Return messages within a node: the entry "same-node", or else the first one of a
    placement.
    """
    own = [one for one in cluster.messages if one.placement != OTHER_NODE]
    return next((one for one in own if one.placement == SAME_NODE), own[0] if own else None)


def within_socket(cluster: Cluster) -> Messages | None:
    """Return messages between ranks of a socket that has its own memory."""
    named = {one.placement: one for one in reversed(cluster.messages)}
    own = (named[placement] for placement in SAME_SOCKET if placement in named)
    return next(own, within_node(cluster))


def between_sockets(cluster: Cluster) -> Messages | None:
    """Return messages between ranks of two sockets, if described in addition to the link."""
    return next((one for one in cluster.messages if one.placement == OTHER_SOCKET), None)


def between_nodes(cluster: Cluster) -> Messages | None:
    """Return messages between ranks of two nodes, if described in addition to the
    network's links.
    """
    return next((one for one in cluster.messages if one.placement == OTHER_NODE), None)


def state(cluster: Cluster) -> str:
    """Return a hash of everything in a cluster file that simulations may depend on.

    12 hexadecimal digits. It includes sources, because a number from another source is a different
    statement, but neither disturbance nor the published cells that set numbers.
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
    said = cluster.model_dump_json(exclude=exclude, context={CONTENT_ONLY: True})
    return hashlib.sha256(said.encode()).hexdigest()[:12]
