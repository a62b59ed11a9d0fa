"""What can't be true in a cluster file though every number has its type and unit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from haloscope.cluster import SAME_NODE, Cluster, Messages, Mpi, Network, Node
from haloscope.errors import Problem, dotted, nearest
from haloscope.machine import PLACEMENTS
from haloscope.quantities import count, listed, rate, size
from haloscope.smpi_collectives import ALGORITHMS

FALL = 0.5
"""Of what fewer cores get of a memory, or one of the next cache: no less than this share."""
LEAST_SHARP, SHARPEST = 0.1, 10.0
"""Far outside what was found: 1 on published machines, 2.2 on a shared one."""


def contradictions(path: Path, cluster: Cluster) -> Iterator[Problem]:
    """All of them, each by the key where it stands in the file."""
    found = [*_cores(cluster.node), *_memory(cluster.node), *_caches(cluster.node)]
    if cluster.network:
        found += _network(cluster.network, cluster.nodes)
    if cluster.mpi:
        found += _algorithms(cluster.mpi)
    found += _placements(cluster.messages)
    for key, what, mend in found:
        yield Problem(f"{path}: {key}", what, mend)


_Found = Iterator[tuple[str, str, str]]
"""Key, what is wrong, what to do."""


def _cores(node: Node) -> _Found:
    if node.cores % node.sockets:
        what = f"{node.cores} can't be shared out to {node.sockets} sockets"
        yield "node.cores", what, "give the cores of all sockets together"
    for index, cache in enumerate(node.caches):
        if cache.shared_by > node.cores:
            what = f"{cache.shared_by} cores can't share it, a node has {node.cores}"
            yield (
                dotted(("node", "caches", index, "shared_by")),
                what,
                "give the cores that share one cache",
            )
    if node.smt_gain and node.smt_gain.value > node.threads_per_core:
        what = f"{node.smt_gain.value:g} from {count(node.threads_per_core, 'hardware thread')}"
        mend = "give what all threads of a core do together, over what one does alone"
        yield "node.smt_gain", what, mend
    if node.sharpness and not LEAST_SHARP <= node.sharpness.value <= SHARPEST:
        what = f"{node.sharpness.value:g} can't be"
        yield "node.sharpness", what, f"give a number from {LEAST_SHARP:g} to {SHARPEST:g}"


def _memory(node: Node) -> _Found:
    points = sorted(enumerate(node.memory), key=lambda point: point[1].cores)
    for index, one in points:
        if one.cores > node.cores:
            what = f"{one.cores} cores can't use it, a node has {node.cores}"
            yield (
                dotted(("node", "memory", index, "cores")),
                what,
                "give at most the cores of a node",
            )
    for (_, few), (index, many) in pairwise(points):
        key, less = dotted(("node", "memory", index)), few.bandwidth_bytes_per_s.value
        more = many.bandwidth_bytes_per_s.value
        if few.cores == many.cores:
            yield f"{key}.cores", f"{many.cores} is there already", "give one bandwidth for each"
        elif more < FALL * less:
            what = f"{rate(more)} to {count(many.cores, 'core')}, {rate(less)} to {few.cores}"
            mend = "give what so many cores get together, in bytes a second"
            yield f"{key}.bandwidth_bytes_per_s", what, mend


def _caches(node: Node) -> _Found:
    levels = Counter(cache.level for cache in node.caches)
    if twice := [f"L{level}" for level, times in levels.items() if times > 1]:
        yield "node.caches", f"{listed(twice)} more than once", "give each level once"
    for low, high in pairwise(sorted(node.caches, key=lambda cache: cache.level)):
        if low.level < high.level and low.size_bytes > high.size_bytes:
            what = f"L{low.level} of {size(low.size_bytes)}, L{high.level} of "
            what += size(high.size_bytes)
            yield "node.caches", what, "give the size of one cache in bytes: lower ones are smaller"
        near, far = low.bandwidth_bytes_per_s, high.bandwidth_bytes_per_s
        if near and far and near.value < FALL * far.value:
            what = f"{rate(near.value)} from L{low.level}, {rate(far.value)} from L{high.level}"
            yield "node.caches", what, "give what one core gets, in bytes a second"
    if node.memory_bytes < (most := max((c.size_bytes for c in node.caches), default=0)):
        what = f"{size(node.memory_bytes)}, less than a cache of {size(most)}"
        yield "node.memory_bytes", what, "give the memory of a node in bytes"


def _network(network: Network, nodes: int) -> _Found:
    tree = network.topology == "fat_tree"
    key, kind = ("levels", "fat tree") if tree else ("dimensions", "torus")
    sizes = [level.children for level in network.levels] if tree else network.dimensions
    if network.places is not None and not sizes:
        levels = "children, parents and links of each level, from the nodes up"
        mend = f"give {levels if tree else 'the nodes along each'}"
        yield f"network.{key}", f"a {kind} without any", mend
    elif network.places is not None and network.places < nodes:
        what = (
            f"a {kind} of {' x '.join(map(str, sizes))} has places for {network.places:,} nodes, "
        )
        what += f"there are {nodes:,}"
        more = "more children" if tree else "larger dimensions"
        yield f"network.{key}", what, f"give {more}, or nodes = {network.places} at most"


def _placements(messages: Sequence[Messages]) -> _Found:
    """Messages between ranks that are placed as no two can be."""
    known = [SAME_NODE, *PLACEMENTS]
    for index, one in enumerate(messages):
        if one.placement not in known:
            key = dotted(("messages", index, "placement"))
            yield key, f"there is no '{one.placement}'", nearest(one.placement, known)


def _algorithms(mpi: Mpi) -> _Found:
    """Collective operations, and algorithms for them, that SimGrid does not have."""
    for operation, one in mpi.collectives.items():
        key = f"mpi.collectives.{operation}"
        if operation not in ALGORITHMS:
            yield key, "is no operation", nearest(operation, [*ALGORITHMS])
        elif one.algorithm not in ALGORITHMS[operation]:
            known = nearest(one.algorithm, ALGORITHMS[operation])
            yield f"{key}.algorithm", f"there is no '{one.algorithm}'", known
