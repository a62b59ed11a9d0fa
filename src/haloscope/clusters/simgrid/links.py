# SPDX-License-Identifier: BSD-3-Clause
"""Latencies and bandwidths of links for SimGrid, by message size."""

from __future__ import annotations

from collections.abc import Iterator

from haloscope.clusters.network import Messages
from haloscope.clusters.node import Protocol, Socket
from haloscope.clusters.schema import (
    Cluster,
    between_nodes,
    between_sockets,
    within_node,
    within_socket,
)
from haloscope.clusters.simgrid import defaults
from haloscope.clusters.simgrid.gpus import ENVELOPE_BYTES

Row = tuple[int, float, float]
"""For messages above a number of bytes: latency and bandwidth, or factors on those of links."""

_UNLIMITED = 1e3
"""Bandwidth factor for messages whose time does not depend on their size."""
_PROMPT = 1e-3
"""Latency factor if a fit found none."""
ALL_EAGER = 2**31 - 1
"""Bytes of the smallest message whose send waits for its receive: larger than any MPI message."""


def within(cluster: Cluster, divided: bool) -> list[Row]:
    """Return seconds and bytes per second of messages within a node, without overheads at the ends.

    divided: within a socket that has its own memory.
    """
    described = within_socket(cluster) if divided else within_node(cluster)
    if described is None:  # one core: there are no such messages
        return [(0, 1.0, 1.0)]
    return _pieces(cluster, described)


def _pieces(cluster: Cluster, described: Messages) -> list[Row]:
    bandwidth, latency = described.bandwidth_bytes_per_s.value, _wire_latency(cluster, described)
    if described.protocols:
        return _table(cluster, described, latency, bandwidth)
    return [
        (0, latency, bandwidth),
        (_above(switch_bytes(cluster)), _trips(cluster) * latency, bandwidth),
    ]


def across(cluster: Cluster, socket: Socket) -> Iterator[Row]:
    """Yield the same between sockets: as described, or from those within one and the link."""
    own, most = between_sockets(cluster), socket.link.bandwidth_bytes_per_s.value
    rows = _pieces(cluster, own) if own else within(cluster, divided=True)
    further, switch = 0.0 if own else link_latency(socket), _above(switch_bytes(cluster))
    for above, latency, fast in rows:
        trips = _trips(cluster) if above >= switch else 1
        yield above, latency + trips * further, min(fast, most)


def link_latency(socket: Socket) -> float:
    """Return the latency of a link between sockets in seconds; 0 if the file has none."""
    return socket.link.latency_s.value if socket.link.latency_s else 0.0


def between(cluster: Cluster) -> list[Row]:
    """Return factors on the network's links: with protocols, for two nodes below one switch.

    These are two links apart. Without protocols, latency is that of a handshake if sends wait for
    receives.
    """
    network, described = cluster.network, between_nodes(cluster)
    if network is None or described is None or not described.protocols:
        return [(0, 1.0, 1.0), (_above(switch_bytes(cluster)), float(_trips(cluster)), 1.0)]
    latency, bandwidth = 2 * network.link_latency_s.value, network.link_bandwidth_bytes_per_s.value
    rows = _table(cluster, described, latency, bandwidth)
    return [(above, slow / latency, fast / bandwidth) for above, slow, fast in rows]


def switch_bytes(cluster: Cluster) -> int:
    """Return the size from which sends wait for receives, limited to SMPI's largest size."""
    return min(round(cluster.mpi.rendezvous_bytes.value), ALL_EAGER) if cluster.mpi else 0


def _table(cluster: Cluster, described: Messages, latency: float, bandwidth: float) -> list[Row]:
    """Return the protocols of messages. latency, bandwidth: of the underlying route."""
    rows: list[Row] = []
    switch = switch_bytes(cluster)
    for first, piece in _sections(described, switch):
        smallest = first if rows else 0  # the first protocol also applies to all smaller messages
        spent = 0.0 if first >= switch else sum(overheads(cluster))  # as in SMPI
        fast, slow = piece.bandwidth_bytes_per_s, piece.latency_s
        least = _PROMPT * latency
        seconds = max(least, slow.value - spent) if slow else least
        rows.append((_above(smallest), seconds, fast.value if fast else _UNLIMITED * bandwidth))
    return rows


def cached_bytes(cluster: Cluster) -> float:
    """Return the size up to which messages stay in a cache."""
    said = cluster.mpi and cluster.mpi.cached_bytes
    return said.value if said else defaults.cached_bytes(cluster.node)


def _trips(cluster: Cluster) -> float:
    said = cluster.mpi and cluster.mpi.rendezvous_latencies
    return said.value if said else defaults.RENDEZVOUS_LATENCIES


def copied(cluster: Cluster) -> float:
    """Return the memory traffic per byte of a larger message."""
    messages = within_node(cluster)
    said = messages and messages.memory_bytes_per_byte
    return said.value if said else defaults.MEMORY_BYTES_PER_BYTE


def _above(first: int) -> int:
    """Return SMPI's threshold for messages of at least `first` bytes."""
    return first - 1 + ENVELOPE_BYTES if first > 0 else 0


def _sections(messages: Messages, switch: float) -> Iterator[tuple[int, Protocol]]:
    """Yield the protocols by their first size; one that contains the rendezvous size is split
    there.
    """
    for piece in messages.protocols:
        yield piece.first_bytes, piece
        if piece.first_bytes < switch <= piece.last_bytes:
            yield round(switch), piece


def overheads(cluster: Cluster) -> tuple[float, float]:
    """Return the processor time per message at the sender and at the receiver, in seconds."""
    mpi = cluster.mpi
    each = (mpi.send_overhead_s, mpi.receive_overhead_s) if mpi else (None, None)
    send, receive = (one.value if one else 0.0 for one in each)
    return send, receive


def _wire_latency(cluster: Cluster, messages: Messages) -> float:
    return max(
        _PROMPT * messages.latency_s.value, messages.latency_s.value - sum(overheads(cluster))
    )
