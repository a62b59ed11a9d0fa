"""A cluster file as SimGrid takes it: platform, host file, node model, options.

Sources: SimGrid's manual, "Platform reference" and "SMPI: simulate MPI applications".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree

from haloscope.clusters.schema import (
    Cache,
    Cluster,
    Messages,
    Network,
    Node,
    Protocol,
    between_nodes,
    within_node,
)
from haloscope.clusters.smpi_collectives import SELECTOR
from haloscope.study.case import Case

SPEED_FLOPS = 1e9
"""Of a host, nominally: computation is charged in seconds."""
_UNLIMITED = 1e3
"""Factor on a bandwidth where messages take the same time whatever their size."""
_HANDSHAKE = 3
"""Latencies of a message by rendezvous: request, answer, data."""
_PROMPT = 1e-3
"""Factor on a latency where a fit found none."""
_ENVELOPE_BYTES = 16
"""What SMPI sends with each message, and counts in its size."""


def platform(cluster: Cluster) -> str:
    """The platform's XML: a zone around the network, as SimGrid 4.1 wants for fat trees."""
    network = cluster.network
    within = within_node(cluster)
    attributes = {
        "id": "cluster",
        "prefix": "node-",
        "suffix": "",
        "radical": f"0-{_places(cluster) - 1}",
        "speed": f"{SPEED_FLOPS:.0f}f",
        "core": str(cluster.node.cores * cluster.node.threads_per_core),
        **(_links(network) if network else {"bw": "1Bps", "lat": "1s"}),  # one node has no network
    }
    if within is not None:
        bandwidth, latency = _bandwidth(within), _wire_latency(cluster, within)
        if network and (table := _table(cluster)):  # it scales messages within a node, too
            bandwidth, latency = bandwidth / table[-1].bandwidth, latency / table[0].latency
        attributes["loopback_bw"] = f"{bandwidth!r}Bps"
        attributes["loopback_lat"] = f"{latency!r}s"
    root = ElementTree.Element("platform", version="4.1")
    zone = ElementTree.SubElement(root, "zone", id="world", routing="Full")
    ElementTree.SubElement(zone, "cluster", attributes)
    ElementTree.indent(root)
    head = '<?xml version="1.0"?>\n'
    head += '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
    return head + ElementTree.tostring(root, encoding="unicode") + "\n"


def _places(cluster: Cluster) -> int:
    return (cluster.network and cluster.network.places) or cluster.nodes


def _links(network: Network) -> dict[str, str]:
    links = {
        "bw": f"{network.link_bandwidth_bytes_per_s.value!r}Bps",
        "lat": f"{network.link_latency_s.value!r}s",
        "sharing_policy": "SPLITDUPLEX",
    }
    if network.topology == "fat_tree":
        levels = network.levels
        shape = [
            ",".join(str(getattr(level, part)) for level in levels)
            for part in ("children", "parents", "links")
        ]
        links["topology"] = "FAT_TREE"
        links["topo_parameters"] = ";".join([str(len(levels)), *shape])
    elif network.topology == "torus":
        links["topology"] = "TORUS"
        links["topo_parameters"] = ",".join(map(str, network.dimensions))
    return links


def host_file(ranks_on_nodes: list[int]) -> str:
    """The host of each rank, given the node of each rank: a line a rank."""
    return "".join(f"node-{node}\n" for node in ranks_on_nodes)


def machine_file(cluster: Cluster, case: Case) -> str:
    """The node for a case, as halobench's --machine reads it (halobench/machine/node_model.hpp)."""
    node = cluster.node
    packed = case.layout.bind == "close"  # ranks fill one socket before the next
    lines = [
        "core_flops_per_s {!r} {!r}".format(*_core_rates(node, case)),
        f"cores {node.cores} {node.sockets}",
        *(f"memory {one.cores} {one.bandwidth_bytes_per_s.value!r}" for one in node.memory),
        *(
            f"cache {_usable(cache)!r} {cache.shared_by} {alone.value!r} {crowded.value!r}"
            for cache in node.caches
            if (alone := cache.bandwidth_bytes_per_s)
            and (crowded := cache.crowded_bytes_per_s or alone)
        ),
    ]
    for key, quantity in (("sharpness", node.sharpness), ("smt_gain", node.smt_gain)):
        if quantity is not None:
            lines.append(f"{key} {quantity.value!r}")
    return "".join(f"{line}\n" for line in [*lines, *(["packed"] if packed else [])])


def _core_rates(node: Node, case: Case) -> tuple[float, float]:
    """Flops a second of a core, alone and on a full socket; the kernel's own where it has some.

    ValueError where these are of other variants: a program's rate beside the node model's peak for
    another variant of it would be no comparison.
    """
    rates = [one for one in node.kernels if one.kernel == case.kernel]
    variants = (None, case.params.get("variant"))
    own = next((one for one in rates if one.variant in variants), None)
    if rates and own is None:
        raise ValueError(f"no rate of {case.kernel} {variants[1]}")
    if own is not None:
        crowded = own.crowded_flops_per_s or own.core_flops_per_s
        return own.core_flops_per_s.value, crowded.value
    if node.core_flops_per_s is None:
        raise ValueError("a node without core_flops_per_s")
    return node.core_flops_per_s.value, node.core_flops_per_s.value


def _usable(cache: Cache) -> float:
    return cache.usable_bytes.value if cache.usable_bytes else cache.size_bytes


def settings(cluster: Cluster) -> list[str]:
    """Options of smpirun: nothing is timed on the host, and messages as the file has them."""
    mpi = cluster.mpi
    if mpi is None:
        raise ValueError("a cluster without an MPI library")
    send, receive = mpi.send_overhead_s, mpi.receive_overhead_s
    limit = round(mpi.rendezvous_bytes.value)
    bandwidths, latencies = _factors(cluster)
    found = {
        "smpi/simulate-computation": "no",
        "smpi/privatization": "no",  # halobench has no variables that ranks would have to share
        "smpi/wtime": "0",
        "smpi/shared-malloc": "local",  # of memory that is not used: one piece for all ranks
        "network/crosstraffic": "no",  # no acknowledgements of TCP's in the other direction
        # Bytes a second: SimGrid's own 1e-5 is what rounding leaves of 2e10, and there it gives up.
        "maxmin/precision": "1e-3",
        **({f"smpi/{key}": f"0:{send.value!r}:0" for key in ("os", "ois")} if send else {}),
        **({"smpi/or": f"0:{receive.value!r}:0"} if receive else {}),
        "smpi/async-small-thresh": str(limit),
        "smpi/send-is-detached-thresh": str(limit),
        "smpi/bw-factor": bandwidths,
        "smpi/lat-factor": latencies,
        "smpi/barrier": "ompi_bruck",  # SMPI's own lets rank 0 wait for all others at once
        **{
            ("smpi/coll-selector" if name == SELECTOR else f"smpi/{name}"): one.algorithm
            for name, one in mpi.collectives.items()
        },
    }
    return [f"--cfg={key}:{value}" for key, value in found.items()]


def _factors(cluster: Cluster) -> tuple[str, str]:
    """What SMPI multiplies bandwidths and latencies with, by size.

    Where no protocols are described, latency is that of a handshake where sends wait for receives.
    """
    table = _table(cluster)
    if not table:
        limit = round(cluster.mpi.rendezvous_bytes.value) if cluster.mpi else 0
        return "0:1", f"0:1;{_above(limit)}:{_HANDSHAKE}"
    bandwidths = (f"{one.above}:{one.bandwidth!r}" for one in table)
    latencies = (f"{one.above}:{one.latency!r}" for one in table)
    return ";".join(bandwidths), ";".join(latencies)


class _Factor(NamedTuple):
    """For messages of more than so many bytes: what bandwidth and latency are multiplied with."""

    above: int
    bandwidth: float
    latency: float


def _table(cluster: Cluster) -> list[_Factor]:
    """The protocols of the messages, over what SimGrid's links take; none where none is described.

    SimGrid has one table for all links: with a network that of messages between two nodes of a
    switch, two links apart; without one, that of messages within the node.
    """
    network = cluster.network
    described = between_nodes(cluster) if network else within_node(cluster)
    if described is None:
        return []
    if network:
        latency = 2 * network.link_latency_s.value
        bandwidth = network.link_bandwidth_bytes_per_s.value
    else:
        latency, bandwidth = _wire_latency(cluster, described), _bandwidth(described)
    switch = cluster.mpi.rendezvous_bytes.value if cluster.mpi else 0.0
    found: list[_Factor] = []
    for first, piece in _sections(described, switch):
        smallest = first if found else 0  # the first is that of all smaller messages, too
        overheads = 0.0 if first >= switch else _overheads(cluster)  # as SMPI has them
        fast = piece.bandwidth_bytes_per_s
        slow = piece.latency_s
        by_bandwidth = fast.value / bandwidth if fast else _UNLIMITED
        by_latency = max(_PROMPT, (slow.value - overheads) / latency) if slow else _PROMPT
        found.append(_Factor(_above(smallest), by_bandwidth, by_latency))
    return found


def _above(first: int) -> int:
    """What SMPI's size is above for messages of so many bytes and more."""
    return first - 1 + _ENVELOPE_BYTES if first > 0 else 0


def _sections(messages: Messages, switch: float) -> Iterator[tuple[int, Protocol]]:
    """The protocols by their first size; one that rendezvous begins in is cut there."""
    for piece in messages.protocols:
        yield piece.first_bytes, piece
        if piece.first_bytes < switch <= piece.last_bytes:
            yield round(switch), piece


def _overheads(cluster: Cluster) -> float:
    mpi = cluster.mpi
    each = (mpi.send_overhead_s, mpi.receive_overhead_s) if mpi else ()
    return sum(one.value for one in each if one is not None)


def _wire_latency(cluster: Cluster, messages: Messages) -> float:
    """What is left of the latency without the overheads at both ends."""
    return max(_PROMPT * messages.latency_s.value, messages.latency_s.value - _overheads(cluster))


def _bandwidth(messages: Messages) -> float:
    return messages.bandwidth_bytes_per_s.value
