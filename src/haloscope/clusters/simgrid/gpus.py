# SPDX-License-Identifier: BSD-3-Clause
"""GPUs of a cluster file in simulations: places of ranks, computation, and messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from haloscope.clusters.node import Gpu, GpuMessages, Node
from haloscope.clusters.quantity import Quantity
from haloscope.clusters.schema import Cluster
from haloscope.layout import Layout
from haloscope.study.case import gpus_lacking


def sockets_of_ranks(node: Node, nodes_of_ranks: Sequence[int], layout: Layout) -> list[int] | None:
    """Return the socket of each rank, given its node, from threads, places, and bindings.

    Ranks are placed as real ones bind themselves. None if all have one memory: if the file
    describes no sockets, if no node has several ranks, or if threads of a rank are on several
    sockets.
    """
    ranks = Counter(nodes_of_ranks)
    if node.socket is None or max(ranks.values()) == 1:
        return None
    numbers = set(ranks.values())
    seats = {number: list(sockets_of_a_node(node, number, layout)) for number in numbers}
    if any(len(sockets) > 1 for each in seats.values() for sockets in each):
        return None
    left = {place: iter(seats[number]) for place, number in ranks.items()}
    return [min(next(left[place])) for place in nodes_of_ranks]


def sockets_of_a_node(node: Node, ranks: int, layout: Layout) -> Iterator[set[int]]:
    """Yield the sockets of each of `ranks` ranks on one node, in order."""
    threads = layout.places == "threads"
    processors = node.cores * (node.threads_per_core if threads else 1)
    of_a_socket = processors // node.sockets
    for cpus in layout.seats(range(processors), ranks):
        yield {cpu // of_a_socket for cpu in cpus}


ENVELOPE_BYTES = 16
"""Bytes that SMPI adds to each message and counts in its size."""
_INSTANT_S, _UNLIMITED = 1e-9, 1e15
"""Seconds and bytes per second for missing values: SimGrid does not accept 0."""
_WITHIN_NODE = {
    "same-gpu": "same_gpu",
    "same-socket": "same_socket",
    "other-socket": "other_socket",
}


def on_gpus(params: Mapping[str, Any]) -> bool:
    """Return whether a case with these parameters uses device memory."""
    return params.get("memory") == "device"


def sends_from_gpus(params: Mapping[str, Any]) -> bool:
    """Return whether MPI gets device addresses."""
    return on_gpus(params) and params.get("mpi") == "gpu_aware"


def gpus_of_ranks(
    node: Node, nodes_of_ranks: Sequence[int], layout: Layout, shared: int = 1
) -> list[int]:
    """Return the GPU of each rank on its node: the first free one on its socket, or else anywhere.

    shared: maximum number of ranks per GPU. Raise ValueError without a free one.
    """
    if node.gpu is None:
        raise ValueError("a node without GPUs")
    ranks = Counter(nodes_of_ranks)
    seats = {number: list(_seats(node, number, layout, shared)) for number in set(ranks.values())}
    left = {place: iter(seats[number]) for place, number in ranks.items()}
    return [next(left[place]) for place in nodes_of_ranks]


def _seats(node: Node, ranks: int, layout: Layout, shared: int) -> Iterator[int]:
    gpu = node.gpu
    assert gpu is not None
    of_a_socket = gpu.number // node.sockets
    room = [shared] * gpu.number
    for sockets in sockets_of_a_node(node, ranks, layout):
        own = [one for one in range(gpu.number) if one // of_a_socket == min(sockets)]
        found = next((one for one in [*own, *range(gpu.number)] if room[one]), None)
        if found is None:
            raise ValueError(gpus_lacking(gpu.number, layout, shared, "this cluster"))
        room[found] -= 1
        yield found


def machine_line(gpu: Gpu, gpus: Sequence[int], nodes: Sequence[int]) -> str:
    """Return a rank's device, as read by halobench/machine/node_model.hpp."""
    costs = (gpu.launch_s, gpu.launch_latency_s, gpu.stream_sync_s, gpu.device_sync_s)
    numbers = [
        gpu.memory_bandwidth_bytes_per_s.value,
        gpu.copy_bandwidth_bytes_per_s.value,
        *(_seconds(one) for one in (*costs, gpu.query_s, gpu.operation_s)),
    ]
    sharing = max(Counter(zip(nodes, gpus, strict=True)).values())
    return f"device {' '.join(map(repr, numbers))} {sharing}\n"


def hosts(nodes: Sequence[int], gpus: Sequence[int]) -> str:
    """Return the host file of smpirun for ranks that send from GPUs: each has its own host."""
    taken: Counter[tuple[int, int]] = Counter()
    lines = []
    for place in zip(nodes, gpus, strict=True):
        lines.append("node-{}-gpu-{}-{}\n".format(*place, taken[place]))
        taken[place] += 1
    return "".join(lines)


def platform_lines(cluster: Cluster, nodes: Sequence[int], gpus: Sequence[int]) -> Iterator[str]:
    """Yield GPUs, their messages within a node, and the places of ranks."""
    gpu, sockets = cluster.node.gpu, cluster.node.sockets
    if gpu is None:
        raise ValueError("a node without GPUs")
    said: dict[str, GpuMessages] = {one.placement: one for one in gpu.messages}
    seats = max(Counter(zip(nodes, gpus, strict=True)).values())
    yield f"gpus {gpu.number} {sockets} {gpu.socket_bandwidth_bytes_per_s.value!r} {seats}"
    for placement, key in _WITHIN_NODE.items():
        for above, latency, fast in rows(said.get(placement)):
            yield f"{key} {above} {latency!r} {fast!r}"
    for above, latency, fast in _between(cluster):
        yield f"gpu_between {above} {latency!r} {fast!r}"
    receives = (_receive_s(said.get(one)) for one in (*_WITHIN_NODE, "other-node"))
    yield f"receives {' '.join(map(repr, receives))}"
    of_a_socket = gpu.number // sockets
    taken = Counter((n, g // of_a_socket) for n, g in zip(nodes, gpus, strict=True))
    for (node, socket), ranks in sorted(taken.items()):
        yield f"gpu_seats {node} {socket} {ranks}"


def _between(cluster: Cluster) -> list[tuple[int, float, float]]:
    """Return factors on the network's links for GPUs of two nodes that are two links apart."""
    network, gpu = cluster.network, cluster.node.gpu
    said = (
        next((one for one in gpu.messages if one.placement == "other-node"), None) if gpu else None
    )
    if network is None or said is None:
        return [(0, 1.0, 1.0)]
    latency, bandwidth = 2 * network.link_latency_s.value, network.link_bandwidth_bytes_per_s.value
    return [(above, slow / latency, fast / bandwidth) for above, slow, fast in rows(said)]


def rows(said: GpuMessages | None) -> Iterator[tuple[int, float, float]]:
    """Yield thresholds in bytes with seconds, besides the receive's own, and bytes per second."""
    if said is None:  # no ranks are placed like this, or it is unknown
        yield 0, _INSTANT_S, _UNLIMITED
        return
    for number, piece in enumerate(said.protocols):
        above = piece.first_bytes - 1 + ENVELOPE_BYTES if number > 0 else 0
        latency = max(_INSTANT_S, _seconds(piece.latency_s) - _receive_s(said))
        fast = piece.bandwidth_bytes_per_s
        yield above, latency, fast.value if fast else _UNLIMITED


def _receive_s(said: GpuMessages | None) -> float:
    return _seconds(said.receive_overhead_s) if said else 0.0


def _seconds(quantity: Quantity | None) -> float:
    return quantity.value if quantity else 0.0


def contradictions(cluster: Cluster) -> Iterator[tuple[str, str, str]]:
    """Yield contradictions of GPUs: key, what is wrong, what to do."""
    gpu, sockets = cluster.node.gpu, cluster.node.sockets
    if gpu is None:
        return
    if gpu.number % sockets:
        what = f"{gpu.number} GPUs cannot be divided among {sockets} sockets"
        yield "node.gpu.number", what, "give the total number of GPUs on all sockets"
    needed = {"same-gpu": True, "same-socket": gpu.number > sockets, "other-socket": sockets > 1}
    needed["other-node"] = cluster.nodes > 1
    counted: Counter[str] = Counter(one.placement for one in gpu.messages)
    for placement, there in needed.items():
        if gpu.messages and there and not counted[placement]:
            remedy = f'give [[node.gpu.messages]] with placement = "{placement}"'
            yield "node.gpu.messages", f"'{placement}' is missing", remedy
        elif counted[placement] > 1:
            what = f"'{placement}' is given {counted[placement]} times"
            yield "node.gpu.messages", what, "give each placement once"
    for index, said in enumerate(gpu.messages):
        overhead = said.receive_overhead_s
        least = min((_seconds(piece.latency_s) for piece in said.protocols), default=0.0)
        if overhead and overhead.value > least:
            key = f"node.gpu.messages[{index}].receive_overhead_s"
            what = f"{overhead.value:g} s exceeds the total latency of a message, {least:g} s"
            yield key, what, "give the part of the latency that occupies the receiving core"
