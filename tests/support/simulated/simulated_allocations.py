# SPDX-License-Identifier: BSD-3-Clause
"""Launches nested in allocations of a batch system, drawn; and whether intervals hold the truth."""

from __future__ import annotations

from math import log

import numpy as np

from haloscope.stats.estimates import Estimate

Drawn = dict[str, list[float]]


def drawn(
    generator: np.random.Generator,
    *,
    allocations: int,
    launches: int = 8,
    between: float = 0.05,
    within: float = 0.02,
    skewed: bool = False,
) -> Drawn:
    """Launches of a time whose typical value, the median in a typical allocation, is 1.

    between, within: standard deviations of log time, of allocations and of launches in one; the
    latter skewed on request: most launches are alike and some take much longer, as is usual.
    """
    found = {}
    for number in range(allocations):
        noise = within * generator.standard_normal(launches)
        if skewed:
            noise = within * (generator.exponential(1, launches) - log(2))
        found[f"job {number}"] = np.exp(between * generator.standard_normal() + noise).tolist()
    return found


def pooled(allocations: Drawn) -> list[float]:
    """All launches, as if they were one sample."""
    return [one for sample in allocations.values() for one in sample]


def covers(estimate: Estimate, truth: float = 1.0) -> bool:
    """Whether an estimate has an interval that holds the truth."""
    return (
        estimate.low is not None
        and estimate.high is not None
        and estimate.low <= truth <= estimate.high
    )
