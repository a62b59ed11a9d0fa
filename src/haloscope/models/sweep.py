# SPDX-License-Identifier: BSD-3-Clause
"""Data for the fits: times over message sizes or numbers of ranks, launch by launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# SPDX-License-Identifier: BSD-3-Clause
ONE_WAY = 0.5
"""ONE_WAY is the share of one direction in a round trip: both directions are equal."""


Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sweep:
    """Times at increasing points, each from several launches.

    x: (points,): message sizes in bytes, or ranks; finite, >= 0, increasing. times_s: a (launches,)
    array per point, seconds > 0, one number per launch. joint: True if launch k is the same launch
    at every point (a ping-pong that sweeps its sizes), so that its points vary together; False if
    each point has its own launches (a ring), whose numbers may differ.

    Raise ValueError for invalid data.
    """

    x: Array
    times_s: tuple[Array, ...]
    joint: bool = True

    def __post_init__(self) -> None:
        """Validate the data."""
        if self.x.ndim != 1 or self.x.size == 0 or len(self.times_s) != self.x.size:
            raise ValueError("a sweep needs one sample of times for each of its points")
        if not np.all(np.isfinite(self.x)) or self.x[0] < 0 or np.any(np.diff(self.x) <= 0):
            raise ValueError("the points of a sweep must be >= 0 and increase")
        for sample in self.times_s:
            if sample.ndim != 1 or sample.size == 0:
                raise ValueError("every point of a sweep needs at least one launch")
            if not np.all(np.isfinite(sample)) or np.any(sample <= 0):
                raise ValueError("the times of a sweep must be finite and positive")
        if self.joint and len({sample.size for sample in self.times_s}) > 1:
            raise ValueError("points of the same launches must have equally many")

    @property
    def launches(self) -> int:
        """Number of launches of the point with the fewest."""
        return min(sample.size for sample in self.times_s)

    @property
    def centres_s(self) -> Array:
        """(points,): the median over launches of every point."""
        return np.array([np.median(sample) for sample in self.times_s])

    def resampled(self, resamples: int, seed: int) -> Array:
        """Return (resamples, points): centres of launches drawn with replacement; deterministic by
        seed.

        Launches of a joint sweep are drawn whole, the same for every point.
        """
        generator = np.random.default_rng(seed)
        drawn = None
        centres = np.empty((resamples, self.x.size))
        for point, sample in enumerate(self.times_s):
            if drawn is None or not self.joint:
                drawn = generator.integers(0, sample.size, size=(resamples, sample.size))
            centres[:, point] = np.median(sample[drawn], axis=-1)
        return centres

    def only(self, points: Sequence[int]) -> Sweep:
        """Return the points with these indices, which must increase."""
        kept = tuple(self.times_s[i] for i in points)
        return Sweep(self.x[list(points)], kept, self.joint)


def sweep(
    x: Sequence[float],
    times_s: Sequence[float] | Sequence[Sequence[float]],
    *,
    joint: bool = True,
) -> Sweep:
    """Return a Sweep from plain numbers: a sample of launches per point, or one time per point."""
    samples = tuple(np.atleast_1d(np.asarray(one, dtype=np.float64)) for one in times_s)
    return Sweep(np.asarray(x, dtype=np.float64), samples, joint)


@dataclass(frozen=True, eq=False)
class Line:
    """y = intercept + slope x, for each row of the fitted data.

    intercept, slope: (rows,).
    """

    intercept: Array
    slope: Array


def fit_lines(x: Array, y: Array, weights: Array | None = None, *, falling: bool = True) -> Line:
    """Fit least squares lines through x (points,) and each row of y (rows, points).

    weights: (rows, points), proportional to one over the variance of each value; None: equal
    weights. falling: False keeps slopes >= 0. Raise ValueError without two points at different x.
    """
    if x.size < 2 or np.ptp(x) == 0:
        raise ValueError("a line needs two points or more at different x")
    weight = np.ones_like(y) if weights is None else weights
    total = weight.sum(axis=1, keepdims=True)
    middle = (weight * x).sum(axis=1, keepdims=True) / total
    height = (weight * y).sum(axis=1, keepdims=True) / total
    dx, dy = x - middle, y - height
    spread = (weight * dx**2).sum(axis=1)
    slope = (weight * dx * dy).sum(axis=1) / spread
    if not falling:
        slope = np.maximum(slope, 0.0)
    return Line(height[:, 0] - slope * middle[:, 0], slope)
