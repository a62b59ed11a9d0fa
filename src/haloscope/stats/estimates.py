# SPDX-License-Identifier: BSD-3-Clause
"""Estimates with intervals from samples of launches.

The unit of replication is the launch: a sample has one number per launch, never the repetitions
within one. A sample that is too small has no interval (None, never 0).

Sources: Hoefler and Belli, Scientific Benchmarking of Parallel Computing Systems (SC'15), rules
5-8; Hunold and Carpen-Amarie, Reproducible MPI Benchmarking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import comb, exp, inf, log, sqrt
from statistics import fmean, stdev

import numpy as np
import numpy.typing as npt

from haloscope.stats import FEWEST_FOR_INTERVAL


def factor(confidence: float, freedom: float) -> float:
    """Return Student's quantile for a two-sided interval."""
    from scipy.special import stdtrit  # imported here: a campaign of one allocation starts faster

    return float(stdtrit(freedom, 0.5 + confidence / 2))


def geometric_mean(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float, float]:
    """Return the geometric mean and the ends of its interval: exp(mean +- t(m - 1) S / sqrt(m)).

    S is the standard deviation of the logarithms. Raise ValueError for fewer than two values, and
    for values that are not positive.
    """
    logs = [log(value) for value in values]
    middle = fmean(logs)
    half = factor(confidence, len(logs) - 1) * stdev(logs) / sqrt(len(logs))
    return exp(middle), exp(middle - half), exp(middle + half)


Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A number and its uncertainty.

    value: the estimate, in the unit of its sample. low, high: ends of the interval or range; None
    without one. n: number of launches. method: the meaning of low and high: "rank interval",
    "bootstrap interval", "interval over launches" (of a percentile per launch),
    "interval over allocations" (of a batch system, with launches nested in them), "range" (minimum
    and maximum, without a confidence), "pooled" (of all repetitions as one sample, without an
    interval), or "none". confidence: attained confidence, 0..1; None for "range" and "none".
    outliers: launches outside Tukey's fences, for display; they are included in all values above.
    allocations: of a batch system that contain the launches, or None. band: for simulated values,
    the factor up and down within which published values are; None for measured ones.
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

    @classmethod
    def alone(cls, value: float, band: float | None = None) -> Estimate:
        """Return a value computed from others, without an interval."""
        return cls(value, None, None, 0, "none", band=band)

    def times(self, factor: float) -> Estimate:
        """Return the estimate in another unit: value and ends multiplied by factor > 0."""
        if factor <= 0:
            raise ValueError(f"a factor must be positive, not {factor}")
        low = None if self.low is None else self.low * factor
        high = None if self.high is None else self.high * factor
        outliers = tuple(one * factor for one in self.outliers)
        return replace(self, value=self.value * factor, low=low, high=high, outliers=outliers)

    @property
    def relative_half_width(self) -> float:
        """Half width of the interval, as a share of the value; infinite without an interval."""
        if self.low is None or self.high is None:
            return inf
        return (self.high - self.low) / 2 / self.value

    def excludes(self, value: float) -> bool:
        """Return whether its interval or range excludes a value; False without one."""
        if self.low is None or self.high is None:
            return False
        return not self.low <= value <= self.high

    def rate(self, work: float) -> Estimate:
        """Return work per unit of this estimate (bytes and seconds: bytes per second); the ends
        swap.
        """
        low = None if self.high is None else work / self.high
        high = None if self.low is None else work / self.low
        outliers = tuple(work / one for one in self.outliers)
        return replace(self, value=work / self.value, low=low, high=high, outliers=outliers)


def finite(numbers: Sequence[float]) -> Array:
    """Return a sample as an array. Raise ValueError if it is empty or has infinite values."""
    array = np.asarray(numbers, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError("a sample must hold at least one number")
    if not np.all(np.isfinite(array)):
        raise ValueError("a sample must hold finite numbers only")
    return array


def median_interval(samples: Sequence[float], confidence: float = 0.95) -> Estimate:
    """Return the median with its rank-based interval [x_(k), x_(n+1-k)], exact for any
    distribution.

    k is the largest rank whose coverage 1 - 2 P(Binomial(n, 1/2) < k) is at least `confidence`; the
    attained coverage is reported. If no k reaches it (95 %: fewer than 6 launches), there is no
    interval.
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
    """Return values more than 1.5 interquartile ranges outside the quartiles (Tukey's fences)."""
    array = finite(samples)
    first, third = np.percentile(array, [25, 75])
    fence = 1.5 * (third - first)
    return tuple(map(float, array[(array < first - fence) | (array > third + fence)]))


@cache
def _rank(n: int, confidence: float) -> tuple[int, float]:
    """Return the rank k of a median's interval over n launches, and its coverage; (0,
    0) for none.
    """
    rank, attained, outside = 0, 0.0, 0
    for k in range(1, n // 2 + 1):
        outside += comb(n, k - 1)  # of 2^n positions relative to the median: fewer than k below it
        coverage = 1.0 - 2.0 * (outside / 2**n)
        if coverage < confidence:
            break
        rank, attained = k, coverage
    return rank, attained


def median_range(samples: Sequence[float]) -> Estimate:
    """Return the median with the minimum and maximum; a single value has no range."""
    array = finite(samples)
    n, value = int(array.size), float(np.median(array))
    if n == 1:
        return Estimate(value, None, None, n, "none")
    return Estimate(value, float(array.min()), float(array.max()), n, "range")


def typical(samples: Sequence[float]) -> Estimate:
    """Return the median with its rank interval, or with the range if there are too few launches."""
    estimate = median_interval(samples)
    return estimate if estimate.method != "none" else median_range(samples)


def ratio_of_medians(
    numerator: Sequence[float],
    denominator: Sequence[float],
    *,
    confidence: float = 0.95,
    resamples: int = 4000,
    seed: int = 0,
) -> Estimate:
    """Return median(numerator) / median(denominator) of two independent positive samples,
    bootstrapped.

    n is the size of the smaller sample. Below 6 there is a range instead of an interval: the
    minimum and maximum ratio of two of their values; a single pair has none. Raise ValueError
    unless all are > 0.
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
    """Return the median ratio of two cases that were launched in turn, with its interval or range.

    over, under: positive times by round. Only rounds with both are used: whatever slows a whole
    round, such as other programs, affects both of its times. None without a common round.
    """
    both = [over[number] / under[number] for number in sorted(over.keys() & under.keys())]
    return typical(both) if both else None


def _resampled_medians(array: Array, resamples: int, generator: np.random.Generator) -> Array:
    """Return the medians of resamples, without drawing the samples.

    The k-th smallest of n drawn values is the one at rank ceil(n U), where U is the k-th smallest
    of n uniform numbers: Beta(k, n + 1 - k) (David and Nagaraja, Order Statistics, 2.3). The next
    one is the minimum of the remaining n - k above it. The distribution equals that of drawing
    samples.
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
    """Return which of n values, from 0, a number between 0 and 1 selects."""
    return np.minimum((uniform * n).astype(np.intp), n - 1)


def _percentiles(values: Array, confidence: float) -> tuple[float, float]:
    tail = 100 * (1 - confidence) / 2
    low, high = np.percentile(values, [tail, 100 - tail])
    return float(low), float(high)
