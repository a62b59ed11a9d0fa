# SPDX-License-Identifier: BSD-3-Clause
"""When a case has been launched often enough in allocations of a batch system, and in one of them.

Launches of one allocation share what it differs in from others, so that a precision is reached over
allocations or not at all. Source: Kalibera and Jones, Rigorous benchmarking in reasonable time
(ISMM 2013), section 5: repeat most where it scatters most. As in `sequential`, intervals must be
narrow twice, as looking again and again stops too often by luck.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

from haloscope.stats.allocations import Grouped, components, typical_over
from haloscope.stats.sequential import Why
from haloscope.stats.stopping_rule import Rule

ALLOCATIONS = 5
"""With fewer, Student's factor makes an interval twice as wide, and luck makes it narrow."""
LEAST_IN_ONE = 3
"""LEAST_IN_ONE is the fewest launches in an allocation, so that its median has no single one."""


def most_in_one(rule: Rule) -> int:
    """The most launches in an allocation: a case's most are spread over ALLOCATIONS at least."""
    return max(LEAST_IN_ONE, rule.most // ALLOCATIONS)


def decide_over(samples: Sequence[Grouped], spent_s: float, rule: Rule) -> Why:
    """Stop launching a setting whose launches are in allocations, or go on: as `decide` says it.

    samples: allocation by allocation, in the order in which they came, one number a launch; one
        sample for each time of the case. spent_s: as of `decide`.

    Narrow is what is so with all allocations and without the last, of which there are ALLOCATIONS
    at least, the last with LEAST_IN_ONE launches. ValueError without samples or launches, and for
    numbers that are not positive.
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
    """Whether another allocation helps more than another launch in this one does.

    samples: as of `decide_over`. The median of n launches has the variance pi/2 within^2 / n; once
    that is below half of what allocations scatter by together, it is these that have to be more.
    Of a first allocation nothing is known but that it is one, and a few launches will do.
    """
    here = min(len(sample.get(allocation, ())) for sample in samples)
    if here < LEAST_IN_ONE:
        return False
    if here >= most_in_one(rule) or len(samples[0]) == 1:
        return True
    return all(_scatters_between(sample, here) for sample in samples)


def _scatters_between(sample: Grouped, launches: int) -> bool:
    """Whether allocations scatter more than so many launches in one leave its median to."""
    found = components(sample)
    return found.within is None or pi / 2 * found.within**2 / launches <= found.between**2
