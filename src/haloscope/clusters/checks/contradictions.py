# SPDX-License-Identifier: BSD-3-Clause
"""Contradictions in a cluster file whose numbers all have a valid type and unit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf
from pathlib import Path

from haloscope.clusters import set_by
from haloscope.clusters.checks import messages
from haloscope.clusters.checks.messages import Found, outside
from haloscope.clusters.network import Network
from haloscope.clusters.node import Memory, Node, SocketMemory
from haloscope.clusters.schema import Cluster, between_sockets
from haloscope.clusters.simgrid import gpus
from haloscope.errors import Problem, an_integer, dotted
from haloscope.host.machine import OTHER_SOCKET
from haloscope.quantities import count, listed, rate, seconds, size

FALL = 0.5
"""Minimum ratio of a measured bandwidth with more cores to one with fewer, because of noise."""
MORE_MEMORY, MORE_CACHE = 1.1, 1.25
"""Maximum ratio of a core's bandwidth among many to that among fewer: 1, plus measurement error."""
LEAST_SHARP, SHARPEST = 0.1, 10.0
"""Bounds of sharpness and knee: 1 to 3 were fitted to published machines, 2.2 to a shared one."""
LONGEST_REGION_S = 0.01
"""Longest parallel region in seconds: they take microseconds, so 0.01 s is a wrong unit."""
MOST_STORING = 4.0
"""Maximum cost of a stored byte relative to a loaded one."""
LEAST_GAIN = 0.5
"""Minimum gain from hardware threads: threads that disturb each other lose less than half."""
LEAST_MEMORY = 2**20
"""Minimum bytes of memory per core: an operating system alone uses more."""
FASTEST_LINK, NEAREST_LINK = 1e12, 1e-9
"""Maximum bytes per second of a link, ten times what exists; minimum latency, the time of light for
30 cm.
"""
LEAST_LEFT = 1e-3
"""Minimum share of a link not used by others: with less, simulated messages would not end."""
MOST_OCCUPIED = 0.99
"""With a larger occupancy jobs would wait for ever."""
MOST_THREADS = 2**16
"""Maximum number of hardware threads of a simulated node."""
FARTHEST_APART = 0.5
"""Maximum standard deviation of node times: nodes that differ by a tenth are repaired."""
MOST_CARDS = 16
"""Maximum number of links from a node to switches."""


def contradictions(path: Path, cluster: Cluster) -> Iterator[Problem]:
    """Yield all contradictions, each with the key in the file."""
    node = cluster.node
    found = [*_shares(node), *_gains(node), *_memory(node), *_caches(node), *_regions(node)]
    found += [*_spread(node), *_unbound(node), *_socket(node), *_socket_link(cluster)]
    if cluster.network:
        found += [*_network(cluster.network, cluster.nodes), *_links(cluster.network)]
    found += _others(cluster)
    found += [*messages.contradictions(cluster), *gpus.contradictions(cluster)]
    found += set_by.contradictions(cluster)
    for key, what, remedy in found:
        yield Problem(f"{path}: {key}", what, remedy)


def _shares(node: Node) -> Found:
    if (threads := node.cores * node.threads_per_core) > MOST_THREADS:
        remedy = (
            f"reduce cores or threads per core: hardware threads are limited to {MOST_THREADS:,}"
        )
        yield "node.threads_per_core", f"{threads:,} hardware threads is out of range", remedy
    if node.cores % node.sockets:
        what = f"{node.cores} cores cannot be divided among {node.sockets} sockets"
        yield "node.cores", what, "give the total number of cores on all sockets"
        return  # the sockets' values are unknown
    for index, cache in enumerate(node.caches):
        if (own := node.cores // node.sockets) % cache.shared_by:
            key = dotted(("node", "caches", index, "shared_by"))
            what = f"the {own} cores of a socket cannot be divided into groups of {cache.shared_by}"
            yield key, what, "give the number of cores of a socket that share one cache"


def _gains(node: Node) -> Found:
    gain = node.smt_gain
    if gain and not LEAST_GAIN <= gain.value <= node.threads_per_core:
        threads = count(node.threads_per_core, "hardware thread")
        what = f"{gain.value:g} is out of range for {threads} per core"
        remedy = "give the throughput of a core with all its threads, relative to one thread"
        yield "node.smt_gain", what, remedy
    for key, one in (("sharpness", node.sharpness), ("knee", node.knee)):
        remedy = f"give a number from {LEAST_SHARP:g} to {SHARPEST:g}"
        yield from outside(f"node.{key}", one, LEAST_SHARP, SHARPEST, remedy)


def _memory(node: Node) -> Found:
    points = sorted(enumerate(node.memory), key=lambda point: point[1].cores)
    for index, one in points:
        remedy = (
            f"give the cost of a stored byte relative to a loaded one: at most {MOST_STORING:g}"
        )
        key = dotted(("node", "memory", index, "store_cost"))
        yield from outside(key, one.store_cost, -inf, MOST_STORING, remedy)
    if len({one.store_cost is None for one in node.memory}) > 1:
        remedy = "give 'store_cost' for each number of cores, or for none"
        yield "node.memory", "'store_cost' is given for only some numbers of cores", remedy
    yield from _curve(node.memory, ("node", "memory"), node.cores)


def _curve(memory: Sequence[Memory | SocketMemory], place: tuple[str, ...], cores: int) -> Found:
    """Check the bandwidth of a memory by number of cores.

    place: the keys of its list in the file; the one before the last has these cores.
    """
    points = sorted(enumerate(memory), key=lambda point: point[1].cores)
    for index, one in points:
        if one.cores > cores:
            what = f"{one.cores} is more than the {cores} cores of a {place[-2]}"
            yield dotted((*place, index, "cores")), what, an_integer(1, cores)
    most = points[0][1]
    for (_, few), (index, many) in pairwise(points):
        most = max(most, few, key=lambda one: one.bandwidth_bytes_per_s.value)
        key, less = dotted((*place, index)), few.bandwidth_bytes_per_s.value
        more = many.bandwidth_bytes_per_s.value
        if few.cores == many.cores:
            remedy = "give one bandwidth per number of cores"
            yield f"{key}.cores", f"{many.cores} is given twice", remedy
        elif more < FALL * (peak := most.bandwidth_bytes_per_s.value):
            what = f"{rate(more)} for {count(many.cores, 'core')} is much less than "
            what += f"{rate(peak)} for {most.cores}"
            remedy = "give the combined bandwidth of these cores in bytes per second"
            yield f"{key}.bandwidth_bytes_per_s", what, remedy
        elif more / many.cores > MORE_MEMORY * less / few.cores:
            what = f"{rate(more / many.cores)} per core with {count(many.cores, 'core')} exceeds "
            what += f"{rate(less / few.cores)} per core with {few.cores}"
            remedy = (
                "give the combined bandwidth of these cores in bytes per second; the "
                "bandwidth per core cannot increase with their number"
            )
            yield f"{key}.bandwidth_bytes_per_s", what, remedy


def _socket(node: Node) -> Found:
    if node.socket is None:
        return
    if node.sockets == 1:
        remedy = "remove this table (node.memory is enough), or set node.sockets"
        yield "node.socket", "a node has only one socket", remedy
        return
    own = max(1, node.cores // node.sockets)
    yield from _curve(node.socket.memory, ("node", "socket", "memory"), own)
    whole = max(node.memory, key=lambda one: one.cores)
    one = max(node.socket.memory, key=lambda one: one.cores)
    if (whole.cores, one.cores) != (node.cores, own):
        return  # nothing to compare
    together = node.sockets * one.bandwidth_bytes_per_s.value
    ratio = together / whole.bandwidth_bytes_per_s.value
    if not FALL <= ratio <= 1 / FALL:
        what = f"{count(node.sockets, 'socket')} together have {rate(together)}, but the node has "
        what += rate(whole.bandwidth_bytes_per_s.value)
        remedy = "give the memory bandwidth of a socket with all its cores, in bytes per second"
        yield "node.socket.memory", what, remedy


def _socket_link(cluster: Cluster) -> Found:
    if cluster.node.socket is None:
        return
    key, link = "node.socket.link", cluster.node.socket.link
    if (fast := link.bandwidth_bytes_per_s.value) > FASTEST_LINK:
        remedy = (
            "give the combined bandwidth of all messages from one socket to another in bytes "
            "per second"
        )
        yield f"{key}.bandwidth_bytes_per_s", f"{rate(fast)} is out of range", remedy
    if link.latency_s is None and between_sockets(cluster) is None:
        remedy = f'add it, or add messages with placement = "{OTHER_SOCKET}"'
        yield f"{key}.latency_s", "missing", remedy


def _regions(node: Node) -> Found:
    threads = Counter(one.threads for one in node.regions)
    most = node.cores * node.threads_per_core
    for index, one in enumerate(node.regions):
        key = dotted(("node", "regions", index))
        if not 1 < one.threads <= most:
            what = f"{one.threads} is out of range for a node with {count(most, 'hardware thread')}"
            yield f"{key}.threads", what, an_integer(2, most)
        elif threads[one.threads] > 1:
            remedy = "give one cost per number of threads"
            yield f"{key}.threads", f"{one.threads} is given twice", remedy
        if one.cost_s.value > LONGEST_REGION_S:
            what = f"{one.cost_s.value:g} s is out of range"
            remedy = f"give seconds, at most {LONGEST_REGION_S:g}"
            yield f"{key}.cost_s", what, remedy


def _caches(node: Node) -> Found:
    levels = Counter(cache.level for cache in node.caches)
    if twice := [f"L{level}" for level, times in levels.items() if times > 1]:
        yield "node.caches", f"duplicate entries for {listed(twice)}", "give each level once"
    for index, cache in enumerate(node.caches):
        key, usable = dotted(("node", "caches", index)), cache.usable_bytes
        if usable and usable.value > cache.size_bytes:
            what = f"{usable.value:,.0f} bytes exceed size_bytes = {cache.size_bytes:,}"
            yield (
                f"{key}.usable_bytes",
                what,
                "give the part of 'size_bytes' that a program can use",
            )
        alone, crowded = cache.bandwidth_bytes_per_s, cache.crowded_bytes_per_s
        if alone and crowded and crowded.value > MORE_CACHE * alone.value:
            what = f"{rate(crowded.value)} per core exceeds {rate(alone.value)} of a single core"
            remedy = "give the bandwidth per core while all cores of the socket are active"
            yield f"{key}.crowded_bytes_per_s", what, remedy
    for low, high in pairwise(sorted(node.caches, key=lambda cache: cache.level)):
        if low.level < high.level and low.size_bytes > high.size_bytes:
            sizes = size(low.size_bytes), size(high.size_bytes)
            what = f"L{low.level} is larger than L{high.level}: {sizes[0]} and {sizes[1]}"
            yield (
                "node.caches",
                what,
                "give the size of one cache in bytes; lower levels are smaller",
            )
        near, far = low.bandwidth_bytes_per_s, high.bandwidth_bytes_per_s
        if near and far and near.value < FALL * far.value:
            rates = rate(near.value), rate(far.value)
            what = f"L{low.level} is slower than L{high.level}: {rates[0]} and {rates[1]}"
            yield "node.caches", what, "give the bandwidth of one core in bytes per second"
    if node.memory_bytes < (most := max((c.size_bytes for c in node.caches), default=0)):
        what = f"{size(node.memory_bytes)} is less than the size of a cache, {size(most)}"
        yield "node.memory_bytes", what, "give the memory per node in bytes"
    elif node.memory_bytes < LEAST_MEMORY * node.cores:
        what = f"{size(node.memory_bytes)} is too little for {count(node.cores, 'core')}"
        yield "node.memory_bytes", what, "give the memory per node in bytes"


def _spread(node: Node) -> Found:
    if node.spread is None:
        return
    if node.spread.nodes is None and node.spread.phases is None:
        remedy = "give 'nodes', 'phases', or both: the standard deviation of times, as a fraction"
        yield "node.spread", "the table is empty", remedy
    if node.spread.slowest and node.spread.nodes is None:
        remedy = "add 'nodes': the standard deviation of times, as a fraction"
        yield "node.spread.slowest", "the variability between nodes is missing", remedy
    for key in ("nodes", "phases"):
        remedy = f"give a fraction such as 0.02 for 2 %, at most {FARTHEST_APART:g}"
        one = getattr(node.spread, key)
        yield from outside(f"node.spread.{key}", one, -inf, FARTHEST_APART, remedy)


def _unbound(node: Node) -> Found:
    numbers = Counter(one.processes for one in node.unbound)
    for index, one in enumerate(node.unbound):
        key = dotted(("node", "unbound", index))
        if numbers[one.processes] > 1:
            remedy = "give one entry per number of processes"
            yield f"{key}.processes", f"{one.processes} is given twice", remedy
        yield from outside(f"{key}.share", one.share, -inf, 1, "give a fraction of at most 1")
        yield from outside(f"{key}.slower", one.slower, 1, inf, "give a ratio from 1")


_SHAPES = {"fat_tree": ("levels", "fat tree"), "torus": ("dimensions", "torus")}
"""The key that contains the shape of a topology, and its name."""


def _network(network: Network, nodes: int) -> Found:
    tree = network.topology == "fat_tree"
    key, kind = _SHAPES.get(network.topology, ("", "flat network"))
    for other in ("levels", "dimensions"):
        if other != key and getattr(network, other):
            remedy = f"remove it, or use a topology that has {other}"
            yield f"network.{other}", f"not allowed for a {kind}", remedy
    sizes = [level.children for level in network.levels] if tree else network.dimensions
    if network.places is not None and not sizes:
        levels = "children, parents, and links of each level, from the nodes up"
        remedy = f"give {levels if tree else 'the nodes along each dimension'}"
        yield f"network.{key}", f"required for a {kind}", remedy
    elif network.places is not None and network.places < nodes:
        what = f"a {' x '.join(map(str, sizes))} {kind} has room for {network.places:,} nodes, "
        what += f"but the cluster has {nodes:,}"
        more = "more children" if tree else "larger dimensions"
        yield f"network.{key}", what, f"give {more}, or set nodes to at most {network.places}"


def _links(network: Network) -> Found:
    fast, far = network.link_bandwidth_bytes_per_s.value, network.link_latency_s.value
    if fast > FASTEST_LINK:
        remedy = (
            "give the bandwidth of a link in each direction in bytes per second: 12.5e9 "
            "for 100 Gbit/s"
        )
        yield "network.link_bandwidth_bytes_per_s", f"{rate(fast)} is out of range", remedy
    if far < NEAREST_LINK:
        remedy = "give the latency of a link including its switch, in seconds"
        yield "network.link_latency_s", f"{seconds(far)} is out of range", remedy
    up = [level.parents * level.links for level in network.levels]
    down = [MOST_CARDS, *(level.children * level.links for level in network.levels)]
    for number, (more, most) in enumerate(zip(up, down, strict=False)):
        if more > most:
            what = f"a switch has {most:,} links down, but {more:,} up"
            what = what if number else f"{more:,} links per node is out of range"
            remedy = f"reduce parents x links to at most {most:,}: the number of switches above "
            remedy += "each child, multiplied by the number of links to each of these switches"
            yield dotted(("network", "levels", number)), what, remedy
    for number, level in enumerate(network.levels):
        if level.left is not None and not LEAST_LEFT <= level.left.value <= 1:
            remedy = f"give the fraction not used by other jobs, at least {LEAST_LEFT:g}"
            key = dotted(("network", "levels", number, "left"))
            yield key, f"{level.left.value:g} is out of range", remedy
        needed = down[number + 1] + (up[number + 1] if number + 1 < len(up) else 0)
        if level.ports is not None and needed > level.ports:
            what = f"{level.ports:,} ports are fewer than the {needed:,} links up and down"
            remedy = "give the ports of one switch, or fewer links"
            yield dotted(("network", "levels", number, "ports")), what, remedy


def _others(cluster: Cluster) -> Found:
    others, network = cluster.others, cluster.network
    if others is None:
        return
    remedy = f"give the fraction of all nodes in use by jobs, at most {MOST_OCCUPIED:g}"
    yield from outside("others.occupancy", others.occupancy, -inf, MOST_OCCUPIED, remedy)
    remedy = "give the average traffic of a node as a fraction of its cards' bandwidth"
    yield from outside("others.traffic", others.traffic, -inf, 1, remedy)
    if network is None:
        remedy = "remove it, or describe the network that jobs share"
        yield "others", "the network is missing", remedy
    elif network.topology == "torus":
        remedy = "remove it: [others] requires a fat tree or a single switch"
        yield "others", "the network is a torus", remedy
    for number, level in enumerate(network.levels if network else ()):
        if level.left is not None:
            remedy = "remove one of them: both describe the load by other jobs"
            yield (
                dotted(("network", "levels", number, "left")),
                "cannot be combined with [others]",
                remedy,
            )
