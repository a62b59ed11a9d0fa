# SPDX-License-Identifier: BSD-3-Clause
"""Estimates for launches nested in allocations of a batch system, valid for further allocations.

The launches of one allocation share its nodes, their place in the network, and their neighbours
there. However many there are, they contain no information on how allocations differ, so an interval
over all of them as one sample is far too narrow. Here each allocation contributes one number, the
median of its launches. Intervals and tests use these numbers.

Sources: Kalibera and Jones, Rigorous benchmarking in reasonable time (ISMM 2013), sections 5 and 6:
intervals from the means of the highest level, and the level at which to repeat; Searle, Casella and
McCulloch, Variance Components, section 3.6: components from unequal groups. All in logarithms,
because times are positive and differ by factors.
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
"""Name of an allocation -> one positive number per launch; none is empty."""


def typical_over(allocations: Grouped, confidence: float = 0.95) -> Estimate:
    """Return the geometric mean of the allocations' medians, with Student's interval over
    allocations.

    m allocations with medians x_i: exp(mean(log x_i) +- t(m - 1) S / sqrt(m)), where S is the
    standard deviation of log x_i. One allocation: the median of its launches, with an interval that
    is valid only in that allocation. Raise ValueError for none, and for values that are not
    positive.

    Simulated coverage: docs/bench/allocations.md. It is 93 to 97 % for typical data, and less if
    each of many allocations has only one or two launches with skewed times: the median of so few is
    biased, equally in every allocation.
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
    """Scatter of a time: standard deviations of its logarithm, which are relative if small.

    between: between allocations. within: between launches of an allocation; None if none has two.
    """

    between: float
    within: float | None


def components(allocations: Grouped) -> Components:
    """Return the scatter between allocations and between launches of one allocation.

    From the analysis of variance of logarithms. If launches alone explain the differences of
    allocations, `between` is 0. Raise ValueError for fewer than two allocations.
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
    """Return what to add to narrow the interval: another allocation, or another launch in each.

    None if its half width is already at most `half_width` times the value. Launches help as long as
    their contribution exceeds half of the scatter between allocations' medians: the median of n
    launches has the variance pi/2 within^2 / n. With one allocation the scatter between them is
    unknown, so another one is needed.
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
    """Compare two settings over allocations: within those that measured both, otherwise between
    them.

    Within: Student's test of the mean of log(median of the first / median of the second), one
    number per allocation, which eliminates the differences between allocations. If both ran in only
    one common allocation, their launches are compared, which is valid for its nodes only.

    apart: whether the allocations of the two are different even if they have the same name.
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
    """Return the exact, distribution-free Mann-Whitney test of the allocations' medians.

    Adjacent nodes and distant nodes form two kinds of allocations. Two of one kind on one side and
    two of the other kind on the other side are not rare, and Welch's test would report a
    difference. Here p is at least 2 / C(m + n, m), so few allocations decide nothing. The ratio is
    one of geometric means, with Welch's interval if each side has several.
    """
    medians = [[median(sample) for sample in side.values()] for side in (first, second)]
    found = compare(*medians, seed=seed)
    ratio = None
    if found.ratio is not None:
        launches = min(sum(map(len, side.values())) for side in (first, second))
        ratio = replace(_ratio_between(*medians), n=launches, allocations=min(map(len, medians)))
    return replace(found, ratio=ratio, test="two-sided Mann-Whitney over allocations")


def _ratio_between(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """Return the ratio of two geometric means with Welch's interval; without one for a single
    value.
    """
    logs = [[log(value) for value in side] for side in (first, second)]
    middle = fmean(logs[0]) - fmean(logs[1])
    shares = [variance(side) / len(side) for side in logs if len(side) > 1]
    if len(shares) < 2 or not any(shares):
        return Estimate.alone(exp(middle))
    weights = [share**2 / (len(side) - 1) for share, side in zip(shares, logs, strict=True)]
    half = factor(0.95, sum(shares) ** 2 / sum(weights)) * sqrt(sum(shares))
    ends = exp(middle - half), exp(middle + half)
    return Estimate(exp(middle), *ends, 0, "interval over allocations", 0.95)


def _student_test(middle: float, error: float, allocations: int, launches: int) -> Comparison:
    """Return a ratio whose logarithm is a mean with a standard error, and test whether it is 1.

    Ratios that are equal in all allocations, and not 1, were printed too coarsely to show how
    allocations differ. They give a ratio without an interval, and no test.
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
    """Validate: raise ValueError without allocations, and for values without a logarithm."""
    if not allocations:
        raise ValueError("no allocation")
    if any(min(finite(sample)) <= 0 for sample in allocations.values()):
        raise ValueError("launches of allocations need positive numbers")
    return allocations
