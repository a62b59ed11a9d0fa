# SPDX-License-Identifier: BSD-3-Clause
"""Other jobs on a simulated cluster: which nodes they have, and what they leave of its links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING

from haloscope.clusters.defaults import TRAFFIC
from haloscope.clusters.schema import Cluster, Network

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LARGEST = 1 / 4
"""LARGEST is the share of all nodes that the largest other job has; sizes are uniform in their
logarithm (Lublin and Feitelson, Journal of Parallel and Distributed Computing 63, 2003)."""


@dataclass(frozen=True)
class OtherJob:
    """A job of others: its nodes, and what each sends, as a share of the bandwidth of its cards."""

    nodes: NDArray[np.intp]
    sends: float


@dataclass(frozen=True)
class Occupied:
    """The nodes of a simulated job, ascending, and the jobs beside it, `ahead` of them before."""

    nodes: Sequence[int]
    others: Sequence[OtherJob] = ()
    ahead: int = 0


def left(
    network: Network, nodes: Sequence[int], others: Sequence[OtherJob]
) -> Iterator[tuple[int, int, float]]:
    """What is left of links that a job with these nodes may use: level, part below it, share.

    A link is shared in proportion to what is sent over it: beside others who send half of what it
    carries, a job that could fill it gets 1 / 1.5. Nothing is told of a level that is all left.
    """
    if network.topology != "fat_tree" or network.places is None:
        return
    cards, switches = network.levels[0].parents * network.levels[0].links, 1
    for number, (level, size) in enumerate(zip(network.levels, _sizes(network), strict=False)):
        parts = sorted({node // size for node in nodes})
        if level.left is not None:
            yield from ((number, part, level.left.value) for part in parts)
        elif number and others and len(nodes) > 1:
            import numpy as np  # only for occupied clusters

            sent = np.zeros(network.places // size)
            for job in others:
                sent += job.sends * np.bincount(job.nodes // size, minlength=len(sent))
            sent *= cards * (1 - size / network.places)
            shares = 1 / (1 + sent / (switches * level.parents * level.links))
            yield from ((number, part, float(shares[part])) for part in parts)
        switches *= level.parents


def told(cluster: Cluster) -> tuple[str, ...]:
    """What is assumed of other jobs, and from where; () for an empty cluster."""
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
    """How many nodes are below the links of each level of a tree, and in all of it."""
    return accumulate((level.children for level in network.levels), mul, initial=1)


def of_parts(network: Network | None) -> tuple[int, ...]:
    """The nodes below a switch of each level."""
    return tuple(_sizes(network))[1:] if network and network.topology == "fat_tree" else ()
