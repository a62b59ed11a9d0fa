# SPDX-License-Identifier: BSD-3-Clause
"""Properties of a bandwidth curve: n_1/2, asymptotic and peak bandwidth, the in-cache hump.

Source: Celoria's ORFEO report, section 2 (in-cache copies: figures 2 to 5); Hager and Wellein,
Introduction to High Performance Computing for Scientists and Engineers, sections 4.5.1 and 10.5.
n_1/2, defined by Hockney, is the size at which half of the asymptotic bandwidth is reached. Here it
is read from the curve, not from a fit. Effective bandwidth is n / time (the report's equation
(11)).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from haloscope.models.intervals import Intervals, bootstrapped
from haloscope.models.model import FittedParameter
from haloscope.models.sweep import Array, Sweep
from haloscope.quantities import percent, size
from haloscope.stats.estimates import Estimate

TAIL = 8.0
"""The asymptote is determined from the largest size down to this fraction of it: 32 to 256 MiB."""
SETTLED = 0.1
"""Largest relative spread of these bandwidths at which the curve counts as settled."""
HUMP = 0.1
"""A peak that exceeds the asymptote by less than this share is not a hump."""


@dataclass(frozen=True)
class Hump:
    """A peak after which larger messages are slower, as with copies within a cache.

    ratio: peak over asymptotic bandwidth. fall_bytes: size after the peak at which the bandwidth is
    half way down (the geometric mean of the two), interpolated between measured sizes.
    """

    ratio: Estimate
    fall_bytes: Estimate


@dataclass(frozen=True)
class BandwidthCurve:
    """A described curve.

    peak_bytes_per_s, peak_bytes: the highest measured bandwidth and its size.
    asymptotic_bytes_per_s: harmonic mean of the bandwidths of the largest sizes; a warning tells if
    these differ by more than 10 %, so that there is no asymptote yet. half_bandwidth_bytes: n_1/2;
    None if the smallest size already exceeds it. hump: None without one. valid: first and last size
    used.
    """

    peak_bytes_per_s: Estimate
    peak_bytes: Estimate
    asymptotic_bytes_per_s: Estimate
    half_bandwidth_bytes: Estimate | None
    hump: Hump | None
    valid: tuple[float, float]
    warnings: tuple[str, ...]

    name = "bandwidth curve"
    source = "ORFEO report, section 2; Hager and Wellein, sections 4.5.1 and 10.5"

    @property
    def parameters(self) -> tuple[FittedParameter, ...]:
        """Parameters that have a value."""
        named = [
            ("peak_bytes_per_s", self.peak_bytes_per_s),
            ("peak_bytes", self.peak_bytes),
            ("asymptotic_bytes_per_s", self.asymptotic_bytes_per_s),
            ("half_bandwidth_bytes", self.half_bandwidth_bytes),
            ("hump_ratio", self.hump.ratio if self.hump else None),
            ("hump_fall_bytes", self.hump.fall_bytes if self.hump else None),
        ]
        return tuple(
            FittedParameter(name, estimate) for name, estimate in named if estimate is not None
        )


def describe(data: Sweep, intervals: Intervals | None = None) -> BandwidthCurve:
    """Describe a curve of one-way times by size. Size 0 is omitted: it has no bandwidth.

    intervals: bootstrap over launches by default. Raise ValueError for fewer than three sizes above
    0.
    """
    how = intervals or Intervals()
    data = data.only([i for i, x in enumerate(data.x) if x > 0])
    if data.x.size < 3:
        raise ValueError("a bandwidth curve needs three sizes or more above 0")
    rates = data.x / data.centres_s
    found = _read(data.x, rates[None])[:, 0]
    drawn = _read(data.x, data.x / how.resampled(data))
    read = [
        bootstrapped(float(value), own[~np.isnan(own)], data.launches)
        for value, own in zip(found, drawn, strict=True)
    ]
    peak, peak_size, asymptote, ratio, half, fall = read
    spread = _tail_spread(data.x, rates)
    at_least = ratio.value if ratio.low is None else ratio.low
    return BandwidthCurve(
        peak,
        peak_size,
        asymptote,
        None if np.isnan(half.value) else half,
        Hump(ratio, fall) if at_least > 1.0 + HUMP else None,
        (float(data.x[0]), float(data.x[-1])),
        tuple(_sense(data, spread, half.value)),
    )


def _tail(sizes: Array) -> slice:
    return slice(min(int(np.searchsorted(sizes, sizes[-1] / TAIL)), sizes.size - 2), None)


def _tail_spread(sizes: Array, rates: Array) -> float:
    tail = rates[_tail(sizes)]
    return float(np.ptp(tail) / tail.min())


def _read(sizes: Array, rates: Array) -> Array:
    """Return (6, rows) from rates (rows, points): peak, its size, asymptote, ratio, n_1/2, fall.

    nan if a curve starts above half of its asymptote, or never falls from its peak.
    """
    tail = rates[:, _tail(sizes)]
    asymptote = tail.shape[1] / np.sum(1.0 / tail, axis=1)
    top = np.argmax(rates, axis=1)
    peak = rates[np.arange(len(rates)), top]
    half = [_crossing(sizes, row, goal) for row, goal in zip(rates, asymptote / 2, strict=True)]
    middle = np.sqrt(peak * asymptote)
    fall = [
        _crossing(sizes[start:], -row[start:], -goal)
        for row, start, goal in zip(rates, top, middle, strict=True)
    ]
    return np.stack([peak, sizes[top], asymptote, peak / asymptote, np.array(half), np.array(fall)])


def _crossing(sizes: Array, heights: Array, goal: float) -> float:
    """Return where heights first reach a goal, linear in log size between points; nan if never.

    nan also if the first height already reaches it.
    """
    there = np.flatnonzero(heights >= goal)
    if there.size == 0 or there[0] == 0:
        return float("nan")
    i = int(there[0])
    share = (goal - heights[i - 1]) / (heights[i] - heights[i - 1])
    return float(sizes[i - 1] * (sizes[i] / sizes[i - 1]) ** share)


def _sense(data: Sweep, spread: float, half: float) -> Iterator[str]:
    if spread > SETTLED:
        yield (
            f"The bandwidth has not settled: it still changes by {percent(spread)} from "
            f"{size(data.x[_tail(data.x)][0])} to {size(data.x[-1])}; measure larger messages."
        )
    if np.isnan(half):
        yield f"n_1/2 is not above the smallest size, {size(data.x[0])}."
