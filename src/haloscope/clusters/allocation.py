# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes of a simulated cluster a job gets, as a scheduler might hand them out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import prod

from haloscope.clusters.occupied import Occupied
from haloscope.clusters.schema import Cluster, Network
from haloscope.study.case import ALLOCATIONS, Layout

BEST_FIT, CONTIGUOUS, BY_SWITCH, BY_POD, RANDOM = ALLOCATIONS


def allocations(network: Network | None) -> tuple[str, ...]:
    """Those that make sense there: a torus has no switches to share nodes out to."""
    torus = network is not None and network.topology == "torus"
    return (BEST_FIT, CONTIGUOUS, RANDOM) if torus else ALLOCATIONS


def allocated(cluster: Cluster, layout: Layout, launch: int = 0) -> Occupied:
    """The place in the network of each node of a job, ascending: ranks fill them in this order.

    launch: the number of the launch, which decides what an occupied cluster looks like.
    ValueError where the cluster has fewer nodes, or the network no such groups.
    """
    asked = layout.nodes
    if asked > cluster.nodes:
        raise ValueError(f"{cluster.name} has {cluster.nodes} nodes, but the job requests {asked}")
    if layout.allocation not in allocations(cluster.network):
        raise ValueError(f"{cluster.name} has no switches to allocate nodes by")
    if cluster.others is None:
        return Occupied(_chosen(cluster, layout))
    from haloscope.clusters.others import beside_others  # and numpy, only for occupied clusters

    fits = layout.allocation == BEST_FIT
    return beside_others(cluster, asked if fits else _chosen(cluster, layout), launch)


def _chosen(cluster: Cluster, layout: Layout) -> list[int]:
    """The nodes of an allocation, whoever else is there; the first free ones where nobody is."""
    if layout.allocation == RANDOM:
        drawn = random.Random(layout.allocation_seed).sample(range(cluster.nodes), layout.nodes)
        return sorted(drawn)
    if layout.allocation in (BEST_FIT, CONTIGUOUS):
        return list(range(layout.nodes))
    return _in_turn(_groups(cluster, pods=layout.allocation == BY_POD), layout.nodes)


def _groups(cluster: Cluster, *, pods: bool) -> list[range]:
    """The nodes below each switch of the first level, or in each part below the topmost one."""
    levels = cluster.network.levels if cluster.network else ()
    inside = levels[:-1] if pods else levels[:1]
    if len(levels) < 2:  # one switch for all: they are all in one group
        return [range(cluster.nodes)]
    of_each = prod(level.children for level in inside)
    starts = range(0, cluster.nodes, of_each)
    return [range(start, min(start + of_each, cluster.nodes)) for start in starts]


def _in_turn(groups: Sequence[range], asked: int) -> list[int]:
    """So many nodes, one of each group in turn, those that are full left out."""
    most = max(map(len, groups))
    dealt = [group[k] for k in range(most) for group in groups if k < len(group)]
    return sorted(dealt[:asked])
