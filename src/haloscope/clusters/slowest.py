# SPDX-License-Identifier: BSD-3-Clause
"""The slowest of several nodes, which a program's ranks wait for: by speed, and by binding."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import exp, fsum
from statistics import NormalDist

from haloscope.clusters.schema import Node, Unbound

_PARTS = 1000
"""_PARTS is into how many equally probable parts the slowest node's time is cut for its mean."""


def expected_slowest(deviation: float, nodes: int) -> float:
    """What the slowest of so many nodes is expected to take, over the one in the middle.

    deviation: of the logarithm of their times, which are normal. 1 of one node.
    """
    if nodes == 1:
        return 1.0
    normal = NormalDist()
    shares = (((part + 0.5) / _PARTS) ** (1 / nodes) for part in range(_PARTS))
    return fsum(exp(deviation * normal.inv_cdf(share)) for share in shares) / _PARTS


def unbound(node: Node, processes: int, nodes: int) -> tuple[float, float]:
    """Cost of not binding so many processes of each of so many nodes.

    The ratio of computation times to those of bound processes, and seconds after each
    communication: means over time, in which all wait while any node is badly placed.
    """
    if not node.unbound or node.unbound_share is None:
        return 1.0, 0.0
    held_up = 1 - (1 - node.unbound_share.value) ** nodes
    slower, resume_s = _between(sorted(node.unbound, key=lambda one: one.processes), processes)
    return 1 + (slower - 1) * held_up, resume_s * held_up


def _between(entries: Sequence[Unbound], processes: int) -> tuple[float, float]:
    """Costs of a number of processes: on the line between two entries, or the nearest one's."""
    costs = [
        (one.processes, one.slower.value, one.resume_s.value if one.resume_s else 0.0)
        for one in entries
    ]
    for (low, *few), (high, *many) in pairwise(costs):
        if low <= processes <= high:
            part = (processes - low) / (high - low)
            slower, resume_s = (a + part * (b - a) for a, b in zip(few, many, strict=True))
            return slower, resume_s
    _, slower, resume_s = costs[0] if processes < costs[0][0] else costs[-1]
    return slower, resume_s
