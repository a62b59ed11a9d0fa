# SPDX-License-Identifier: BSD-3-Clause
"""What the models are fitted to: times over message sizes or rank counts, launch by launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

# SPDX-License-Identifier: BSD-3-Clause
"""Times there and back, and one way: messages are timed as the former, models are of the latter."""

ONE_WAY = 0.5
"""ONE_WAY is the share that one way has of a time there and back: both ways are alike."""


Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sweep:
    """Times at increasing points, each from several launches.

    x:       (points,): message sizes in bytes, or ranks; finite, >= 0, increasing.
    times_s: a (launches,) array a point, seconds > 0. One number a launch.
    joint:   True when launch k is one and the same at every point (a ping-pong that sweeps its
             sizes): its points then vary together. False when each point has launches of its own
             (a ring is launched anew for every number of ranks); their numbers may then differ.
    centre:  what stands for the launches of a point: their median, or their mean where a paper's
             fit used means.

    Raises ValueError for data that are none of this.
    """

    x: Array
    times_s: tuple[Array, ...]
    joint: bool = True
    centre: Literal["median", "mean"] = "median"

    def __post_init__(self) -> None:
        """Refuse what is no sweep."""
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
        """Launches of the point that has fewest."""
        return min(sample.size for sample in self.times_s)

    @property
    def centres_s(self) -> Array:
        """(points,): the median or mean over launches of every point."""
        return np.array([self._reduce(sample) for sample in self.times_s])

    @property
    def each_s(self) -> Array:
        """(launches, points) of a joint sweep: each launch by itself. ValueError for others."""
        if not self.joint:
            raise ValueError("the points of this sweep do not share their launches")
        return np.stack(self.times_s, axis=1)

    def resampled(self, resamples: int, seed: int) -> Array:
        """(resamples, points): centres of launches drawn with replacement; same seed, same draws.

        The launches of a joint sweep are drawn whole, the same ones for every point.
        """
        generator = np.random.default_rng(seed)
        drawn = None
        centres = np.empty((resamples, self.x.size))
        for point, sample in enumerate(self.times_s):
            if drawn is None or not self.joint:
                drawn = generator.integers(0, sample.size, size=(resamples, sample.size))
            centres[:, point] = self._reduce(sample[drawn])
        return centres

    def only(self, points: Sequence[int]) -> Sweep:
        """The points with these indices, which increase."""
        kept = tuple(self.times_s[i] for i in points)
        return Sweep(self.x[list(points)], kept, self.joint, self.centre)

    def _reduce(self, samples: Array) -> Array:
        reduce = np.median if self.centre == "median" else np.mean
        return np.asarray(reduce(samples, axis=-1), dtype=np.float64)


def sweep(
    x: Sequence[float],
    times_s: Sequence[float] | Sequence[Sequence[float]],
    *,
    joint: bool = True,
    centre: Literal["median", "mean"] = "median",
) -> Sweep:
    """A Sweep from plain numbers: a sample of launches a point, or one time a point."""
    samples = tuple(np.atleast_1d(np.asarray(one, dtype=np.float64)) for one in times_s)
    return Sweep(np.asarray(x, dtype=np.float64), samples, joint, centre)


@dataclass(frozen=True, eq=False)
class Line:
    """y = intercept + slope x, for each row of the data it was fitted to.

    intercept, slope: (rows,).
    misfit: (rows,), the weighted sum of squares of the residuals.
    intercept_error, slope_error: (rows,) standard errors, the noise taken from the misfit with
        points - 2 degrees of freedom; nan for two points.
    """

    intercept: Array
    slope: Array
    misfit: Array
    intercept_error: Array
    slope_error: Array


def fit_lines(x: Array, y: Array, weights: Array | None = None, *, falling: bool = True) -> Line:
    """Least squares lines through x (points,) and each row of y (rows, points).

    weights: (rows, points), one over the variance of each value up to a factor; None weighs all
    alike. falling: False keeps slopes at 0 or above. ValueError without two points at different x.
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
    intercept = height[:, 0] - slope * middle[:, 0]
    misfit = (weight * (dy - slope[:, None] * dx) ** 2).sum(axis=1)
    freedom = x.size - 2
    variance = misfit / freedom if freedom else np.full_like(misfit, np.nan)
    return Line(
        intercept,
        slope,
        misfit,
        np.sqrt(variance * (1.0 / total[:, 0] + middle[:, 0] ** 2 / spread)),
        np.sqrt(variance / spread),
    )
