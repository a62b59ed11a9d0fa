# SPDX-License-Identifier: BSD-3-Clause
"""Samples of launches -> estimates with their intervals. Pure functions of numbers.

The unit of replication is the launch: a sample holds one number a launch, never the repetitions
inside one. Where a sample is too small for an interval, there is none (None, never 0).

Sources: Hoefler and Belli, Scientific Benchmarking of Parallel Computing Systems (SC'15), rules
5-8; Hunold and Carpen-Amarie, Reproducible MPI Benchmarking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import comb, exp, inf, log, sqrt
from statistics import NormalDist, fmean, stdev

import numpy as np
import numpy.typing as npt

from haloscope.stats.stopping_rule import FEWEST_FOR_INTERVAL


def factor(confidence: float, freedom: float) -> float:
    """Student's quantile for a two-sided interval."""
    from scipy.special import stdtrit  # here: a campaign of one allocation starts without it

    return float(stdtrit(freedom, 0.5 + confidence / 2))


def geometric_mean(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float, float]:
    """exp of the mean of logarithms, and of the ends of its interval: mean +- t(m - 1) S / sqrt(m).

    S is the standard deviation of the logarithms. ValueError for fewer than two values, and for
    what is not above 0.
    """
    logs = [log(value) for value in values]
    middle = fmean(logs)
    half = factor(confidence, len(logs) - 1) * stdev(logs) / sqrt(len(logs))
    return exp(middle), exp(middle - half), exp(middle + half)


Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A number and how sure it is.

    value:      the estimate, in the unit of its sample.
    low, high:  the ends of the interval or range; None where there is none.
    n:          launches it rests on.
    method:     what low and high are: "rank interval", "bootstrap interval", "normal interval",
                "interval over launches" (of a percentile that each launch has of its own),
                "interval over allocations" (of a batch system, with launches nested in them),
                "range" (minimum and maximum: no confidence is claimed), "pooled" (of all
                repetitions as one sample, which tells no interval) or "none".
    confidence: the confidence attained, 0..1; None for "range" and "none".
    outliers:   launches far outside (Tukey's fences), to be shown: they count in all of the above.
    allocations: of a batch system that the launches come from; None where there was no such.
    band:       of what was simulated: the factor, up and down, within which published values are;
                None of what was measured.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    method: str
    confidence: float | None = None
    outliers: tuple[float, ...] = ()
    allocations: int | None = None
    band: float | None = None

    def times(self, factor: float) -> Estimate:
        """The same estimate in another unit: value and ends multiplied by factor > 0."""
        if factor <= 0:
            raise ValueError(f"a factor must be positive, not {factor}")
        low = None if self.low is None else self.low * factor
        high = None if self.high is None else self.high * factor
        outliers = tuple(one * factor for one in self.outliers)
        return replace(self, value=self.value * factor, low=low, high=high, outliers=outliers)

    @property
    def relative_half_width(self) -> float:
        """Of the interval, as a share of the value; infinite where there is no interval."""
        if self.low is None or self.high is None:
            return inf
        return (self.high - self.low) / 2 / self.value

    def excludes(self, value: float) -> bool:
        """Whether its interval or range does not contain a value; False where it has none."""
        if self.low is None or self.high is None:
            return False
        return not self.low <= value <= self.high

    def rate(self, work: float) -> Estimate:
        """Work per unit of this estimate (bytes, seconds: bytes a second): ends change places."""
        low = None if self.high is None else work / self.high
        high = None if self.low is None else work / self.low
        outliers = tuple(work / one for one in self.outliers)
        return replace(self, value=work / self.value, low=low, high=high, outliers=outliers)


def finite(numbers: Sequence[float]) -> Array:
    """A non-empty sample of finite numbers, as an array; ValueError otherwise."""
    array = np.asarray(numbers, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError("a sample must hold at least one number")
    if not np.all(np.isfinite(array)):
        raise ValueError("a sample must hold finite numbers only")
    return array


def median_interval(samples: Sequence[float], confidence: float = 0.95) -> Estimate:
    """The median with its rank-based interval [x_(k), x_(n+1-k)], exact for any distribution.

    k is the largest rank whose coverage 1 - 2 P(Binomial(n, 1/2) < k) is at least `confidence`;
    the coverage attained is reported. Where no k reaches it (95 %: fewer than 6 launches), the
    interval is refused.
    """
    ordered = np.sort(finite(samples))
    n = int(ordered.size)
    value = float(np.median(ordered))
    k, attained = _rank(n, confidence)
    if k == 0:
        return Estimate(value, None, None, n, "none")
    low, high = float(ordered[k - 1]), float(ordered[n - k])
    return Estimate(value, low, high, n, "rank interval", attained, outliers(samples))


def outliers(samples: Sequence[float]) -> tuple[float, ...]:
    """What lies more than 1.5 interquartile ranges outside the quartiles (Tukey's fences)."""
    array = finite(samples)
    first, third = np.percentile(array, [25, 75])
    fence = 1.5 * (third - first)
    return tuple(map(float, array[(array < first - fence) | (array > third + fence)]))


@cache
def _rank(n: int, confidence: float) -> tuple[int, float]:
    """The rank k of a median's interval over n launches, and its coverage; (0, 0) for none."""
    rank, attained, outside = 0, 0.0, 0
    for k in range(1, n // 2 + 1):
        outside += comb(n, k - 1)  # of 2^n ways to lie about the median: fewer than k below it
        coverage = 1.0 - 2.0 * (outside / 2**n)
        if coverage < confidence:
            break
        rank, attained = k, coverage
    return rank, attained


def median_range(samples: Sequence[float]) -> Estimate:
    """The median with the smallest and largest value; a sample of one has no range."""
    array = finite(samples)
    n, value = int(array.size), float(np.median(array))
    if n == 1:
        return Estimate(value, None, None, n, "none")
    return Estimate(value, float(array.min()), float(array.max()), n, "range")


def typical(samples: Sequence[float]) -> Estimate:
    """The median, with its rank interval where there are launches enough, else with their range."""
    estimate = median_interval(samples)
    return estimate if estimate.method != "none" else median_range(samples)


def mean_interval(samples: Sequence[float], confidence: float = 0.95) -> Estimate:
    """The arithmetic mean with the normal interval: mean +- c S / sqrt(n), S^2 over n - 1.

    Formula (9) of Celoria's ORFEO report, there with c = 1.96 (95 %). One launch has no interval.
    """
    array = finite(samples)
    n, mean = int(array.size), float(array.mean())
    if n == 1:
        return Estimate(mean, None, None, n, "none")
    c = NormalDist().inv_cdf(0.5 + confidence / 2)
    half = c * float(array.std(ddof=1)) / sqrt(n)
    low, high = mean - half, mean + half
    return Estimate(mean, low, high, n, "normal interval", confidence, outliers(samples))


def ratio_of_medians(
    numerator: Sequence[float],
    denominator: Sequence[float],
    *,
    confidence: float = 0.95,
    resamples: int = 4000,
    seed: int = 0,
) -> Estimate:
    """median(numerator) / median(denominator), two independent positive samples, bootstrapped.

    n is the size of the smaller sample. Below 6 there is no interval but a range: the least and the
    largest ratio of two of their values; of a sample of one there is none. ValueError unless all
    are > 0.
    """
    above, below = finite(numerator), finite(denominator)
    if np.any(above <= 0) or np.any(below <= 0):
        raise ValueError("a ratio of medians needs positive samples")
    n = int(min(above.size, below.size))
    value = float(np.median(above) / np.median(below))
    if n == 1:
        return Estimate(value, None, None, n, "none")
    if n < FEWEST_FOR_INTERVAL:
        low, high = above.min() / below.max(), above.max() / below.min()
        return Estimate(value, float(low), float(high), n, "range")
    generator = np.random.default_rng(seed)
    top = _resampled_medians(above, resamples, generator)
    bottom = _resampled_medians(below, resamples, generator)
    low, high = _percentiles(top / bottom, confidence)
    return Estimate(value, low, high, n, "bootstrap interval", confidence)


def ratio_by_round(over: Mapping[int, float], under: Mapping[int, float]) -> Estimate | None:
    """The median ratio of two cases that were launched in turn, and its interval or range.

    over, under: positive times by round. Only rounds of both count: what slows a whole round down,
    such as other programs, is in both of its times. None where they have no round in common.
    """
    both = [over[number] / under[number] for number in sorted(over.keys() & under.keys())]
    return typical(both) if both else None


def _resampled_medians(array: Array, resamples: int, generator: np.random.Generator) -> Array:
    """The medians of samples drawn from one with replacement, without drawing the samples.

    The k-th smallest of n values drawn is the one at rank ceil(n U), U the k-th smallest of n
    uniform numbers: Beta(k, n + 1 - k) (David and Nagaraja, Order Statistics, 2.3); the next one
    lies above it as the least of the n - k left. The distribution is that of drawing samples.
    """
    ordered, n = np.sort(array), array.size
    k = (n + 1) // 2
    lower = generator.beta(k, n + 1 - k, resamples)
    medians = ordered[_rank_of(lower, n)]
    if n % 2 == 0:
        upper = lower + (1.0 - lower) * generator.beta(1, n - k, resamples)
        medians = (medians + ordered[_rank_of(upper, n)]) / 2
    return medians


def _rank_of(uniform: Array, n: int) -> npt.NDArray[np.intp]:
    """Which of n values, from 0, a number between 0 and 1 draws."""
    return np.minimum((uniform * n).astype(np.intp), n - 1)


def _percentiles(values: Array, confidence: float) -> tuple[float, float]:
    tail = 100 * (1 - confidence) / 2
    low, high = np.percentile(values, [tail, 100 - tail])
    return float(low), float(high)
