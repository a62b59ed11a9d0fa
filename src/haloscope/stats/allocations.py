# SPDX-License-Identifier: BSD-3-Clause
"""Launches nested in the allocations of a batch system: estimates that hold for another one, too.

The launches of one allocation share its nodes, their place in the network and its neighbours there.
However many there are, they say nothing of how allocations differ, so that an interval over all of
them as if they were one sample is far too narrow. Here each allocation gives one number, the median
of its launches, and intervals and tests rest on these: on as many numbers as allocations.

Sources: Kalibera and Jones, Rigorous benchmarking in reasonable time (ISMM 2013), sections 5 and 6:
intervals from the means of the highest level, and how often to repeat at which; Searle, Casella and
McCulloch, Variance Components, section 3.6: components from unequal groups. All in logarithms, as
times are positive and differ by factors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log, pi, sqrt
from statistics import fmean, median, stdev, variance
from typing import Literal

from haloscope.stats.estimates import Estimate, factor, finite, geometric_mean, typical
from haloscope.stats.two_samples import Comparison, compare

Grouped = Mapping[str, Sequence[float]]
"""Name of an allocation -> one positive number a launch; none is empty."""


def typical_over(allocations: Grouped, confidence: float = 0.95) -> Estimate:
    """The geometric mean of the allocations' medians, with Student's interval over allocations.

    m allocations with medians x_i: exp(mean(log x_i) +- t(m - 1) S / sqrt(m)), S the standard
    deviation of log x_i. Of one allocation: the median of its launches with the interval that holds
    for launches in that allocation alone. ValueError for none, and for what is not above 0.

    Its coverage, simulated: docs/bench/allocations.md. 93 to 97 % for what one measures; less where
    the launches in each of many allocations are one or two and skewed, as the median of so few lies
    beside their typical value, and in every allocation as much.
    """
    medians = [median(sample) for sample in _checked(allocations).values()]
    launches = [one for sample in allocations.values() for one in sample]
    if len(medians) == 1:
        return replace(typical(launches), allocations=1)
    value, low, high = geometric_mean(medians, confidence)
    found = Estimate(value, low, high, len(launches), "interval over allocations", confidence)
    return replace(found, allocations=len(medians))


@dataclass(frozen=True)
class Components:
    """How far a time scatters: standard deviations of its logarithm, which are shares where small.

    between: from one allocation to another. within: from launch to launch in an allocation; None
    where none has two launches.
    """

    between: float
    within: float | None


def components(allocations: Grouped) -> Components:
    """What differs from allocation to allocation, and what from launch to launch in one.

    From the analysis of variance of logarithms; where launches alone explain how far allocations
    lie apart, `between` is 0. ValueError for fewer than two allocations.
    """
    groups = [[log(one) for one in sample] for sample in _checked(allocations).values()]
    if len(groups) < 2:
        raise ValueError("one allocation does not show how allocations differ")
    total = sum(map(len, groups))
    middle = sum(map(sum, groups)) / total
    between = sum(len(group) * (fmean(group) - middle) ** 2 for group in groups)
    between /= len(groups) - 1
    if total == len(groups):
        return Components(sqrt(between), None)
    inside = sum((len(group) - 1) * variance(group) for group in groups if len(group) > 1)
    inside /= total - len(groups)
    each = (total - sum(len(group) ** 2 for group in groups) / total) / (len(groups) - 1)
    return Components(sqrt(max(0.0, (between - inside) / each)), sqrt(inside))


def level_to_repeat(
    allocations: Grouped, half_width: float
) -> Literal["allocation", "launch"] | None:
    """What makes the interval narrower: another allocation, or another launch in those there are.

    None where its half width is that share of the value already. Launches help as long as what they
    scatter is more than a half of what the medians of allocations do: the median of n launches has
    the variance pi/2 within^2 / n. Of one allocation nothing is known, so another one is wanted.
    """
    if len(allocations) < 2:
        return "allocation"
    found = typical_over(allocations)
    if found.low is not None and found.high is not None:
        half = (found.high - found.low) / 2
        if half <= half_width * found.value:
            return None
    scatter = components(allocations)
    fewest = min(map(len, allocations.values()))
    if scatter.within is None:
        return "launch"
    of_launches = pi / 2 * scatter.within**2 / fewest
    return "launch" if of_launches > scatter.between**2 else "allocation"


def compare_over(
    first: Grouped, second: Grouped, *, apart: bool = False, seed: int = 0
) -> Comparison:
    """How two settings differ over allocations: within those that measured both, else between them.

    Within: Student's test of the mean of log(median of the first / median of the second), a number
    an allocation, which takes out what allocations differ in. Where both ran in one allocation
    alone, their launches are compared, which holds for its nodes only.

    apart: whether the allocations of the two are others, whatever their names.
    """
    both = [] if apart else [key for key in first if key in second]
    least = min(value for side in (first, second) for one in side.values() for value in one)
    if len(both) > 1 and least > 0:
        logs = [log(median(first[key]) / median(second[key])) for key in both]
        launches = sum(min(len(first[key]), len(second[key])) for key in both)
        return _student_test(fmean(logs), stdev(logs) / sqrt(len(logs)), len(logs), launches)
    if both and len(first) == len(second) == 1:
        return compare(first[both[0]], second[both[0]], seed=seed)
    return _between(first, second, seed)


def _between(first: Grouped, second: Grouped, seed: int) -> Comparison:
    """The Mann-Whitney test of the allocations' medians: exact, and without any distribution.

    Nodes near each other and nodes far apart make allocations of two kinds. Two of one kind on one
    side and two of the other on the other are no rarity, and Welch's test takes them for a
    difference. Here no p is below 2 / C(m + n, m), with which few allocations decide nothing. The
    ratio is of geometric means, with Welch's interval where each side has several.
    """
    medians = [[median(sample) for sample in side.values()] for side in (first, second)]
    found = compare(*medians, seed=seed)
    ratio = None
    if found.ratio is not None:
        launches = min(sum(map(len, side.values())) for side in (first, second))
        ratio = replace(_ratio_between(*medians), n=launches, allocations=min(map(len, medians)))
    return replace(found, ratio=ratio, test="two-sided Mann-Whitney over allocations")


def _ratio_between(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """The ratio of two geometric means with Welch's interval; without one of a sample of one."""
    logs = [[log(value) for value in side] for side in (first, second)]
    middle = fmean(logs[0]) - fmean(logs[1])
    shares = [variance(side) / len(side) for side in logs if len(side) > 1]
    if len(shares) < 2 or not any(shares):
        return Estimate(exp(middle), None, None, 0, "none")
    weights = [share**2 / (len(side) - 1) for share, side in zip(shares, logs, strict=True)]
    half = factor(0.95, sum(shares) ** 2 / sum(weights)) * sqrt(sum(shares))
    ends = exp(middle - half), exp(middle + half)
    return Estimate(exp(middle), *ends, 0, "interval over allocations", 0.95)


def _student_test(middle: float, error: float, allocations: int, launches: int) -> Comparison:
    """The ratio whose logarithm is a mean with a standard error, and whether it is 1.

    Ratios that are equal in all allocations, and not 1, were printed too coarsely to show how
    allocations differ: they give a ratio without an interval, and no test can tell it from 1.
    """
    if error == 0 and middle != 0:
        ratio = Estimate(exp(middle), None, None, launches, "none", allocations=allocations)
        return Comparison(ratio, 1.0, 1.0, "Student's over allocations")
    half, p_value = 0.0, 1.0
    if error > 0:
        from scipy.special import stdtr

        half = factor(0.95, allocations - 1) * error
        p_value = float(2 * stdtr(allocations - 1, -abs(middle) / error))
    ends = exp(middle - half), exp(middle + half)
    ratio = Estimate(exp(middle), *ends, launches, "interval over allocations", 0.95)
    ratio = replace(ratio, allocations=allocations)
    return Comparison(ratio, p_value, 0.0, "Student's over allocations")


def _checked(allocations: Grouped) -> Grouped:
    """The same; ValueError where there is no allocation, or where a logarithm can't be taken."""
    if not allocations:
        raise ValueError("no allocation")
    if any(min(finite(sample)) <= 0 for sample in allocations.values()):
        raise ValueError("launches of allocations need positive numbers")
    return allocations
