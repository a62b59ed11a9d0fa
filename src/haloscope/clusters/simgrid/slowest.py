# SPDX-License-Identifier: BSD-3-Clause
"""The slowest of several nodes, for which a program's ranks wait: by speed, and by binding."""

from __future__ import annotations

from itertools import pairwise
from math import exp, fsum
from statistics import NormalDist

from haloscope.clusters.node import Node, Unbound

_PARTS = 1000
"""_PARTS is the number of equally probable parts of the slowest node's time for its mean."""


def expected_slowest(deviation: float, nodes: int) -> float:
    """Return the expected time of the slowest of `nodes` nodes, relative to the median node.

    deviation: standard deviation of the logarithm of their normally distributed times. 1 for one
    node.
    """
    if nodes == 1:
        return 1.0
    normal = NormalDist()
    shares = (((part + 0.5) / _PARTS) ** (1 / nodes) for part in range(_PARTS))
    return fsum(exp(deviation * normal.inv_cdf(share)) for share in shares) / _PARTS


def unbound(node: Node, processes: int, nodes: int) -> tuple[float, float]:
    """Return the cost of unbound processes on several nodes.

    It consists of the ratio of computation times to those of bound processes, and of seconds after
    each communication. Both are means over time, in which all wait while any node is badly placed;
    interpolated between entries of the file, or the nearest one's.
    """
    if not node.unbound:
        return 1.0, 0.0
    costs = [
        (one.processes, *_costs(one, nodes))
        for one in sorted(node.unbound, key=lambda one: one.processes)
    ]
    for (low, *few), (high, *many) in pairwise(costs):
        if low <= processes <= high:
            part = (processes - low) / (high - low)
            slower, resume_s = (a + part * (b - a) for a, b in zip(few, many, strict=True))
            return slower, resume_s
    _, slower, resume_s = costs[0] if processes < costs[0][0] else costs[-1]
    return slower, resume_s


def _costs(one: Unbound, nodes: int) -> tuple[float, float]:
    held_up = 1 - (1 - one.share.value) ** nodes
    resume_s = one.resume_s.value if one.resume_s else 0.0
    return 1 + (one.slower.value - 1) * held_up, resume_s * held_up
