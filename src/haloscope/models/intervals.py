# SPDX-License-Identifier: BSD-3-Clause
"""Intervals of fitted parameters: the bootstrap over launches, and normal theory."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from statistics import NormalDist
from typing import Literal

import numpy as np

from haloscope.models.sweep import Array
from haloscope.stats.estimates import Estimate, factor
from haloscope.stats.stopping_rule import FEWEST_FOR_INTERVAL


@dataclass(frozen=True)
class Intervals:
    """How intervals are made.

    method: "bootstrap": launches are drawn with replacement and the model is fitted again; the
        interval says how the fit would vary from one set of launches to the next, not how well the
        model fits. Below 6 launches it is refused.
        "normal": normal theory, where a paper uses it: of the regression, from its residuals about
        the line (which then count as noise), and for means over launches formula (9) of Celoria's
        ORFEO report.
        "none": values only.
    resamples, seed: of the bootstrap; the same seed gives the same interval.
    """

    method: Literal["bootstrap", "normal", "none"] = "bootstrap"
    confidence: float = 0.95
    resamples: int = 2000
    seed: int = 0


def bootstrapped(value: float, draws: Array, launches: int, confidence: float) -> Estimate:
    """A fitted value with the expanded percentile interval of its draws, shape (resamples,).

    The plain percentile interval of n launches is too narrow, as if the variance had n instead of
    n - 1 in its denominator and the normal's quantiles instead of Student's. Both are mended in the
    percentiles that are taken: Hesterberg, What Teachers Should Know About the Bootstrap (The
    American Statistician 69, 2015). Below 6 launches there is no interval.
    """
    if launches < FEWEST_FOR_INTERVAL or draws.size == 0:
        return Estimate(value, None, None, launches, "none")
    t = factor(confidence, launches - 1)
    tail = NormalDist().cdf(-sqrt(launches / (launches - 1)) * t)
    ordered = np.sort(draws)
    low = float(ordered[int(tail * (draws.size - 1))])
    high = float(ordered[draws.size - 1 - int(tail * (draws.size - 1))])
    return Estimate(value, low, high, launches, "bootstrap interval", confidence)


def student(value: float, error: float, freedom: int, launches: int, confidence: float) -> Estimate:
    """value +- t error, Student's t with `freedom` degrees; no interval when there are none."""
    if freedom < 1:
        return Estimate(value, None, None, launches, "none")
    half = factor(confidence, freedom) * error
    return Estimate(value, value - half, value + half, launches, "normal interval", confidence)


RESOLUTION = 1e-3
"""Relative differences below this say nothing: timers and rounding do as much."""


def bandwidth(slope: Estimate, sizes: Array, times_s: Array) -> Estimate:
    """Return the estimate of 1 / slope, or infinity if the times hold no bandwidth.

    They hold none if they grow, over all sizes, by less than RESOLUTION of the shortest.
    """
    if 0 < slope.value * np.ptp(sizes) < RESOLUTION * times_s.min():
        return Estimate(inf, None, None, slope.n, "none")
    return inverted(slope)


def inverted(slope: Estimate) -> Estimate:
    """The estimate of 1 / slope: a bandwidth from seconds a byte.

    Where the slope's interval reaches down to 0 or below, the bandwidth has no upper end: infinity.
    A slope that is itself <= 0 gives a bandwidth that is negative or infinite, without an interval.
    """
    value = 1.0 / slope.value if slope.value else inf
    if slope.low is None or slope.high is None or slope.value <= 0:
        return Estimate(value, None, None, slope.n, "none")
    high = 1.0 / slope.low if slope.low > 0 else inf
    return Estimate(value, 1.0 / slope.high, high, slope.n, slope.method, slope.confidence)
