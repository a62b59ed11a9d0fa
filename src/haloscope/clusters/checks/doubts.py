# SPDX-License-Identifier: BSD-3-Clause
"""Values in a cluster file that are possible but implausible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from haloscope.clusters.network import Messages
from haloscope.clusters.schema import Cluster, between_nodes, within_node
from haloscope.quantities import count, flops, rate, seconds

LOSS = 0.25
"""Minimum ratio of bandwidth within a node to that between nodes: two copies are a third of a fast
link.
"""
MORE = 1.01
"""MORE allows for rounding when two numbers of a file are compared."""
FLOPS_A_CYCLE = 64.0
"""FLOPS_A_CYCLE is the maximum per core: two units for 8 multiply-adds each, doubled."""
BYTES_A_CORE_S = 200e9
"""BYTES_A_CORE_S exceeds the memory bandwidth of any core."""
LINK_BYTES_S = 100e9
"""LINK_BYTES_S is the bandwidth of the fastest links on sale: 800 Gbit/s."""
LATENCIES_S = 0.3e-6, 100e-6
"""LATENCIES_S are the minimum and maximum published latencies between nodes."""


@dataclass(frozen=True)
class Doubt:
    """An implausible number of a cluster file: its key, and why."""

    key: str
    what: str

    def __str__(self) -> str:
        """Format it on one line."""
        return f"{self.key}: {self.what}"


def doubts(cluster: Cluster) -> list[Doubt]:
    """Return all implausible values."""
    return [*_node(cluster), *_messages(cluster), *_links(cluster)]


def _node(cluster: Cluster) -> Iterator[Doubt]:
    node = cluster.node
    if node.clock_ghz and node.core_flops_per_s:
        most = FLOPS_A_CYCLE * node.clock_ghz.value * 1e9
        if (own := node.core_flops_per_s.value) > most:
            what = f"{flops(own)} exceeds {FLOPS_A_CYCLE:g} operations per cycle"
            yield Doubt("node.core_flops_per_s", what)
    for index, one in enumerate(node.memory):
        if (each := one.bandwidth_bytes_per_s.value / one.cores) > BYTES_A_CORE_S:
            what = f"{rate(each)} per core with {count(one.cores, 'core')} is unusually high"
            yield Doubt(f"node.memory[{index}].bandwidth_bytes_per_s", what)
    alone = min((one for one in node.memory), key=lambda one: one.cores, default=None)
    for index, cache in enumerate(node.caches):
        held = cache.bandwidth_bytes_per_s
        if alone and alone.cores == 1 and held and held.value < alone.bandwidth_bytes_per_s.value:
            what = (
                f"{rate(held.value)} is less than the bandwidth of memory, "
                f"{rate(alone.bandwidth_bytes_per_s.value)}"
            )
            yield Doubt(f"node.caches[{index}].bandwidth_bytes_per_s", what)


def _messages(cluster: Cluster) -> Iterator[Doubt]:
    within, between = within_node(cluster), _between(cluster)
    if within is None or between is None:
        return
    key = f"messages[{cluster.messages.index(within)}]"
    other, far = between
    if (own := _latency_s(within)) > MORE * other:
        what = f"{seconds(own)} within a node exceeds {seconds(other)} between nodes"
        yield Doubt(f"{key}.latency_s", what)
    if (near := within.bandwidth_bytes_per_s.value) < LOSS * far:
        what = f"{rate(near)} within a node is much less than {rate(far)} between nodes"
        yield Doubt(f"{key}.bandwidth_bytes_per_s", what)


def _between(cluster: Cluster) -> tuple[float, float] | None:
    """Return latency and bandwidth between nodes: of messages, or else of two links. None on one
    node.
    """
    between, network = between_nodes(cluster), cluster.network
    if between is not None:
        return _latency_s(between), between.bandwidth_bytes_per_s.value
    if network is None:
        return None
    return 2 * network.link_latency_s.value, network.link_bandwidth_bytes_per_s.value


def _latency_s(messages: Messages) -> float:
    first = min(messages.protocols, key=lambda one: one.first_bytes, default=None)
    return first.latency_s.value if first and first.latency_s else messages.latency_s.value


def _links(cluster: Cluster) -> Iterator[Doubt]:
    network, between = cluster.network, between_nodes(cluster)
    if network is None:
        return
    least, most = LATENCIES_S
    if not least <= 2 * network.link_latency_s.value <= most:
        what = f"two links take {seconds(2 * network.link_latency_s.value)}, but "
        what += f"{seconds(least)} to {seconds(most)} in known networks"
        yield Doubt("network.link_latency_s", what)
    link = network.link_bandwidth_bytes_per_s.value
    if link > LINK_BYTES_S:
        what = (
            f"{rate(link)} exceeds the fastest links, {rate(LINK_BYTES_S)} (is the value in bits?)"
        )
        yield Doubt("network.link_bandwidth_bytes_per_s", what)
    if between is None:
        return
    key = f"messages[{cluster.messages.index(between)}]"
    pieces = [
        (f"{key}.protocols[{index}]", piece.bandwidth_bytes_per_s)
        for index, piece in enumerate(between.protocols)
    ]
    for where, own in [(key, between.bandwidth_bytes_per_s), *pieces]:
        if own and own.value > MORE * link:
            what = f"{rate(own.value)} between nodes exceeds the bandwidth of a link, {rate(link)}"
            yield Doubt(f"{where}.bandwidth_bytes_per_s", what)
