# SPDX-License-Identifier: BSD-3-Clause
"""Other jobs on a simulated cluster: their nodes, and the link bandwidth they leave."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from operator import mul
from typing import TYPE_CHECKING

from haloscope.clusters.network import Network
from haloscope.clusters.schema import Cluster
from haloscope.clusters.simgrid.defaults import TRAFFIC
from haloscope.layout import ALLOCATIONS, Layout

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


LARGEST = 1 / 4
"""Largest share of all nodes; sizes are uniform in their logarithm (Lublin and Feitelson, JPDC 63,
2003).
"""


@dataclass(frozen=True)
class OtherJob:
    """Another job: its nodes, and the traffic of each as a share of its cards' bandwidth."""

    nodes: NDArray[np.intp]
    sends: float


@dataclass(frozen=True)
class Occupied:
    """The nodes of a simulated job, ascending, and the jobs beside it; the first `ahead` started
    before.
    """

    nodes: Sequence[int]
    others: Sequence[OtherJob] = ()
    ahead: int = 0


def left(
    network: Network, nodes: Sequence[int], others: Sequence[OtherJob]
) -> Iterator[tuple[int, int, float]]:
    """Yield the remaining share of links that a job with these nodes may use: level, part, share.

    A link is shared in proportion to the demand: beside others that send half of its bandwidth, a
    job that could use all of it gets 1 / 1.5. Levels without other traffic are omitted.
    """
    if network.topology != "fat_tree" or network.places is None:
        return
    cards, switches = network.levels[0].parents * network.levels[0].links, 1
    for number, (level, size) in enumerate(zip(network.levels, _sizes(network), strict=False)):
        parts = sorted({node // size for node in nodes})
        if level.left is not None:
            yield from ((number, part, level.left.value) for part in parts)
        elif number and others and len(nodes) > 1:
            import numpy as np  # imported only for occupied clusters

            sent = np.zeros(network.places // size)
            for job in others:
                sent += job.sends * np.bincount(job.nodes // size, minlength=len(sent))
            sent *= cards * (1 - size / network.places)
            shares = 1 / (1 + sent / (switches * level.parents * level.links))
            yield from ((number, part, float(shares[part])) for part in parts)
        switches *= level.parents


def notes(cluster: Cluster) -> tuple[str, ...]:
    """Return the assumptions about other jobs with their sources; () for an empty cluster."""
    if cluster.others is None:
        return ()
    others = cluster.others
    sends = others.traffic.value if others.traffic else TRAFFIC
    source = others.traffic.source if others.traffic else "assumed: no source"
    return (
        f"Other jobs are drawn at random (assumptions for {cluster.name}): with the "
        f"simulated job they occupy {others.occupancy.value:.0%} of the nodes "
        f"({others.occupancy.source}). Job sizes are uniform in the logarithm, up to "
        f"{LARGEST:.0%} of the nodes. Jobs get free nodes by best fit, as from Slurm's "
        f"topology plugin. On average, nodes of other jobs send {sends:.0%} of their "
        f"maximum rate, to random nodes and file servers ({source}).",
    )


def _sizes(network: Network) -> Iterator[int]:
    """Yield the number of nodes below the links of each level of a tree, and in the whole tree."""
    return accumulate((level.children for level in network.levels), mul, initial=1)


def of_parts(network: Network | None) -> tuple[int, ...]:
    """Return the number of nodes below a switch of each level."""
    return tuple(_sizes(network))[1:] if network and network.topology == "fat_tree" else ()


BEST_FIT, CONTIGUOUS, BY_SWITCH, BY_POD, RANDOM = ALLOCATIONS


def allocations(network: Network | None) -> tuple[str, ...]:
    """Return the allocations that the network supports: a torus has no switches."""
    torus = network is not None and network.topology == "torus"
    return (BEST_FIT, CONTIGUOUS, RANDOM) if torus else ALLOCATIONS


def allocated(cluster: Cluster, layout: Layout, launch: int = 0) -> Occupied:
    """Return the place in the network of each node of a job, ascending, as ranks fill them.

    launch: number of the launch, which determines the other jobs. Raise ValueError if the cluster
    has fewer nodes, or the network no such groups.
    """
    asked = layout.nodes
    if asked > cluster.nodes:
        raise ValueError(f"{cluster.name} has {cluster.nodes} nodes, but the job requests {asked}")
    if layout.allocation not in allocations(cluster.network):
        raise ValueError(f"{cluster.name} has no switches to allocate nodes by")
    if cluster.others is None:
        return Occupied(_chosen(cluster, layout))
    from haloscope.clusters.other_jobs.others import (
        beside_others,  # which imports numpy, only for occupied clusters
    )

    fits = layout.allocation == BEST_FIT
    return beside_others(cluster, asked if fits else _chosen(cluster, layout), launch)


def _chosen(cluster: Cluster, layout: Layout) -> list[int]:
    """Return the nodes of an allocation regardless of other jobs; the first ones for best_fit."""
    if layout.allocation == RANDOM:
        drawn = random.Random(layout.allocation_seed).sample(range(cluster.nodes), layout.nodes)
        return sorted(drawn)
    if layout.allocation in (BEST_FIT, CONTIGUOUS):
        return list(range(layout.nodes))
    return _in_turn(_groups(cluster, pods=layout.allocation == BY_POD), layout.nodes)


def _groups(cluster: Cluster, *, pods: bool) -> list[range]:
    """Return the nodes below each switch of the first level, or in each part below the
    topmost one.
    """
    levels = cluster.network.levels if cluster.network else ()
    inside = levels[:-1] if pods else levels[:1]
    if len(levels) < 2:  # a single switch: all nodes are in one group
        return [range(cluster.nodes)]
    of_each = prod(level.children for level in inside)
    starts = range(0, cluster.nodes, of_each)
    return [range(start, min(start + of_each, cluster.nodes)) for start in starts]


def _in_turn(groups: Sequence[range], asked: int) -> list[int]:
    """Return `asked` nodes, one from each group in turn, without exhausted groups."""
    most = max(map(len, groups))
    dealt = [group[k] for k in range(most) for group in groups if k < len(group)]
    return sorted(dealt[:asked])
