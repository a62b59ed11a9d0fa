# SPDX-License-Identifier: BSD-3-Clause
"""Stopping rule for launches in allocations of a batch system, over allocations and within one.

Launches of one allocation share its properties, so precision is reached over allocations or not at
all. Source: Kalibera and Jones, Rigorous benchmarking in reasonable time (ISMM 2013), section 5:
repeat most at the level with the largest scatter. As in `sequential`, intervals must be narrow
twice, because repeated checks stop too often by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

from haloscope.stats import Rule
from haloscope.stats.allocations import Grouped, components, typical_over
from haloscope.stats.sequential import Why

ALLOCATIONS = 5
"""With fewer, Student's factor doubles the width of an interval, and chance makes it narrow."""
LEAST_IN_ONE = 3
"""LEAST_IN_ONE is the minimum number of launches per allocation, so that its median is not a single
value.
"""


def most_in_one(rule: Rule) -> int:
    """Return the maximum launches per allocation: those of a case are spread over ALLOCATIONS."""
    return max(LEAST_IN_ONE, rule.most // ALLOCATIONS)


def decide_over(samples: Sequence[Grouped], spent_s: float, rule: Rule) -> Why:
    """Decide whether to stop launching a setting whose launches are in allocations, as `decide`
    does.

    samples: by allocation, in order, one number per launch; one sample for each time of the case.
    spent_s: as in `decide`. The intervals must be narrow with all allocations and without the last.
    There must be at least ALLOCATIONS, the last with at least LEAST_IN_ONE launches. Raise
    ValueError without samples or launches, and for numbers that are not positive.
    """
    launches = sum(map(len, samples[0].values()))
    if launches >= rule.fewest and all(_narrow_twice(sample, rule) for sample in samples):
        return "narrow"
    return rule.cap(launches, spent_s) or "go on"


def _narrow_twice(sample: Grouped, rule: Rule) -> bool:
    if len(sample) < ALLOCATIONS:
        return False
    last = [*sample][-1]
    if len(sample[last]) < LEAST_IN_ONE:
        return False
    before = {name: values for name, values in sample.items() if name != last}
    return all(typical_over(one).relative_half_width <= rule.half_width for one in (sample, before))


def enough_in(samples: Sequence[Grouped], allocation: str, rule: Rule) -> bool:
    """Return whether another allocation helps more than another launch in this one.

    samples: as in `decide_over`. The median of n launches has the variance pi/2 within^2 / n. Once
    that is below half of the common scatter of allocations, more allocations are needed. For a
    first allocation the scatter is unknown, and a few launches suffice.
    """
    here = min(len(sample.get(allocation, ())) for sample in samples)
    if here < LEAST_IN_ONE:
        return False
    if here >= most_in_one(rule) or len(samples[0]) == 1:
        return True
    return all(_scatters_between(sample, here) for sample in samples)


def _scatters_between(sample: Grouped, launches: int) -> bool:
    """Return whether allocations scatter more than the medians of `launches` launches in one."""
    found = components(sample)
    return found.within is None or pi / 2 * found.within**2 / launches <= found.between**2
