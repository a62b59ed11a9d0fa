# SPDX-License-Identifier: BSD-3-Clause
"""The slowest of several nodes, which a program's ranks wait for."""

from __future__ import annotations

from math import exp, fsum
from statistics import NormalDist

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
