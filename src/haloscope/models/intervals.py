# SPDX-License-Identifier: BSD-3-Clause
"""Intervals of fitted parameters: the bootstrap over launches."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from statistics import NormalDist
from typing import Literal

import numpy as np

from haloscope.models.sweep import Array, Sweep
from haloscope.stats import FEWEST_FOR_INTERVAL
from haloscope.stats.estimates import Estimate, factor


@dataclass(frozen=True)
class Intervals:
    """How intervals are determined.

    method: "bootstrap": launches are drawn with replacement and the model is fitted again. The
    interval shows how the fit varies between sets of launches, not how well the model fits. It is
    refused with fewer than 6 launches. "none": values only.

    resamples, seed: of the bootstrap; equal seeds give equal intervals.
    """

    method: Literal["bootstrap", "none"] = "bootstrap"
    resamples: int = 2000
    seed: int = 0

    def resampled(self, data: Sweep) -> Array:
        """Return a sweep's centres for drawn launches; no rows if there are no intervals."""
        drawn = self.method == "bootstrap" and data.launches >= FEWEST_FOR_INTERVAL
        return data.resampled(self.resamples if drawn else 0, self.seed)


CONFIDENCE = 0.95


def bootstrapped(
    value: float, draws: Array, launches: int, confidence: float = CONFIDENCE
) -> Estimate:
    """Return a fitted value with the expanded percentile interval of its draws, shape (resamples,).

    The plain percentile interval of n launches is too narrow: its variance has n instead of n - 1
    in the denominator, and it uses normal instead of Student quantiles. Both are corrected in the
    percentiles: Hesterberg, What Teachers Should Know About the Bootstrap (The American
    Statistician 69, 2015). With fewer than 6 launches there is no interval.
    """
    if launches < FEWEST_FOR_INTERVAL or draws.size == 0:
        return Estimate(value, None, None, launches, "none")
    t = factor(confidence, launches - 1)
    tail = NormalDist().cdf(-sqrt(launches / (launches - 1)) * t)
    ordered = np.sort(draws)
    low = float(ordered[int(tail * (draws.size - 1))])
    high = float(ordered[draws.size - 1 - int(tail * (draws.size - 1))])
    return Estimate(value, low, high, launches, "bootstrap interval", confidence)


RESOLUTION = 1e-3
"""Smaller relative differences are not meaningful: timers and rounding cause as much."""


def bandwidth(slope: Estimate, sizes: Array, times_s: Array) -> Estimate:
    """Return the estimate of 1 / slope, or infinity if the times determine no bandwidth.

    They determine none if they grow, over all sizes, by less than RESOLUTION of the shortest.
    """
    if 0 < slope.value * np.ptp(sizes) < RESOLUTION * times_s.min():
        return Estimate(inf, None, None, slope.n, "none")
    return inverted(slope)


def inverted(slope: Estimate) -> Estimate:
    """Return the estimate of 1 / slope: a bandwidth from seconds per byte.

    If the slope's interval extends to 0 or below, the bandwidth has no upper end: infinity. A slope
    <= 0 gives a negative or infinite bandwidth without an interval.
    """
    value = 1.0 / slope.value if slope.value else inf
    if slope.low is None or slope.high is None or slope.value <= 0:
        return Estimate(value, None, None, slope.n, "none")
    high = 1.0 / slope.low if slope.low > 0 else inf
    return Estimate(value, 1.0 / slope.high, high, slope.n, slope.method, slope.confidence)
