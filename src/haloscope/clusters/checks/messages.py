# SPDX-License-Identifier: BSD-3-Clause
"""Contradictions in the messages of a cluster file, and in its MPI library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.clusters.network import Messages, Mpi
from haloscope.clusters.node import GpuMessages, Node
from haloscope.clusters.quantity import Quantity
from haloscope.clusters.schema import SAME_NODE, Cluster, within_node
from haloscope.clusters.simgrid.defaults import ALGORITHMS
from haloscope.errors import dotted, nearest
from haloscope.host.machine import PLACEMENTS
from haloscope.quantities import seconds, size

MORE_LATENCY = 1.01
"""Maximum ratio of the time at both ends to the whole message: calibrations divide it and round."""
LEAST_COPIED, MOST_COPIED = 1.0, 100.0
"""Bytes moved per byte of a message within a node: at least one; two copies move six."""
MOST_LATENCIES = 100.0
"""Maximum number of latencies of a rendezvous: request, answer, and data are three."""


Found = Iterator[tuple[str, str, str]]
"""Key, what is wrong, what to do."""


def outside(key: str, one: Quantity | None, least: float, most: float, remedy: str) -> Found:
    """Yield a problem if a number is given and out of range."""
    if one and not least <= one.value <= most:
        yield key, f"{one.value:g} is out of range", remedy


def contradictions(cluster: Cluster) -> Found:
    """Yield all contradictions: key, what is wrong, what to do."""
    if cluster.mpi:
        yield from _algorithms(cluster.mpi)
        yield from _small_messages(cluster.mpi, cluster.node)
        yield from _overheads(cluster, cluster.mpi)
    yield from _placements(cluster.messages)
    yield from _protocols(cluster.messages, "messages")
    if cluster.node.gpu:
        yield from _protocols(cluster.node.gpu.messages, "node", "gpu", "messages")


def _small_messages(mpi: Mpi, node: Node) -> Found:
    trips, held = mpi.rendezvous_latencies, mpi.cached_bytes
    remedy = f"give the number of latencies of a rendezvous: 1 to {MOST_LATENCIES:g}"
    yield from outside("mpi.rendezvous_latencies", trips, 1, MOST_LATENCIES, remedy)
    largest = max((cache.size_bytes for cache in node.caches), default=0)
    if held and largest and held.value > largest:
        what = f"{size(held.value)} exceeds the size of the largest cache, {size(largest)}"
        remedy = "give the size of the largest message that stays in caches, in bytes"
        yield "mpi.cached_bytes", what, remedy


def _overheads(cluster: Cluster, mpi: Mpi) -> Found:
    within = within_node(cluster)
    both = [one for one in (mpi.send_overhead_s, mpi.receive_overhead_s) if one]
    if within is None or not both:
        return
    pieces = [piece.latency_s for piece in within.protocols if piece.latency_s]
    least = min(one.value for one in (within.latency_s, *pieces))
    if (busy := sum(one.value for one in both)) > MORE_LATENCY * least:
        key = "send_overhead_s" if mpi.send_overhead_s else "receive_overhead_s"
        what = f"{seconds(busy)} at both ends exceeds the latency of a message within a node, "
        what += seconds(least)
        yield f"mpi.{key}", what, "give the part of the latency that occupies the core at each end"


def _placements(messages: Sequence[Messages]) -> Found:
    """Yield impossible or repeated placements of messages."""
    known = [SAME_NODE, *PLACEMENTS]
    for index, one in enumerate(messages):
        remedy = f"give the memory traffic per byte: {LEAST_COPIED:g} to {MOST_COPIED:g}"
        place = dotted(("messages", index, "memory_bytes_per_byte"))
        yield from outside(place, one.memory_bytes_per_byte, LEAST_COPIED, MOST_COPIED, remedy)
        key = dotted(("messages", index, "placement"))
        if one.placement not in known:
            yield key, f"unknown placement '{one.placement}'", nearest(one.placement, known)
        if any(
            (one.placement, one.mpi) == (other.placement, other.mpi) for other in messages[:index]
        ):
            what = f"'{one.placement}' is given twice for {one.mpi}"
            yield key, what, "give each placement once per library"


def _protocols(messages: Sequence[Messages | GpuMessages], *place: str) -> Found:
    """Yield pieces with invalid ends, overlapping pieces, and pieces without a time.

    place: the keys of their list in the file.
    """
    for index, one in enumerate(messages):
        ended = -1
        for number, piece in enumerate(one.protocols):
            key = dotted((*place, index, "protocols", number))
            if piece.first_bytes > piece.last_bytes:
                what = f"{piece.last_bytes} is less than first_bytes = {piece.first_bytes}"
                yield f"{key}.last_bytes", what, "give the largest size of the piece"
            elif piece.first_bytes <= ended:
                what = f"{piece.first_bytes} overlaps the previous piece, which ends at {ended}"
                remedy = "give pieces in order of size, without overlaps"
                yield f"{key}.first_bytes", what, remedy
            elif piece.latency_s is None and piece.bandwidth_bytes_per_s is None:
                remedy = "give one of them, or both"
                yield key, "has neither 'latency_s' nor 'bandwidth_bytes_per_s'", remedy
            ended = max(ended, piece.last_bytes)


def _algorithms(mpi: Mpi) -> Found:
    for operation, one in mpi.collectives.items():
        key = f"mpi.collectives.{operation}"
        if operation not in ALGORITHMS:
            yield key, "unknown operation", nearest(operation, [*ALGORITHMS])
        elif one.algorithm not in ALGORITHMS[operation]:
            known = nearest(one.algorithm, ALGORITHMS[operation])
            yield f"{key}.algorithm", f"unknown algorithm '{one.algorithm}'", known
