# SPDX-License-Identifier: BSD-3-Clause
"""The Hockney model: time = alpha + n / B for a message of n bytes.

Source: Hockney, The communication challenge for MPP (Parallel Computing 20, 1994); Celoria's ORFEO
report, equations (10) and (11), whose section 2.C fits it in two of the ways below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from haloscope.models import intervals as intervals_of
from haloscope.models.intervals import Intervals, bootstrapped
from haloscope.models.model import FittedParameter, Residuals
from haloscope.models.sweep import Array, Line, Sweep, fit_lines
from haloscope.quantities import rate, seconds, size
from haloscope.stats.estimates import Estimate

Method = Literal["least_squares", "log", "extrapolation"]

SOURCES: dict[Method, str] = {
    "least_squares": "ORFEO report, equation (10), by least squares of time, as in its figure 2",
    "log": (
        "ORFEO report, equation (10), by least squares of log time: all sizes have equal weight"
    ),
    "extrapolation": "ORFEO report, equation (13): means of the smallest and largest sizes",
}


@dataclass(frozen=True)
class Ends:
    """Sizes in bytes used by extrapolation: latency and bandwidth are means over them.

    The defaults follow the text of the ORFEO report; the report's own figures correspond to 1 to 8
    bytes.
    """

    latency_bytes: tuple[float, float] = (1.0, 4.0)
    bandwidth_bytes: tuple[float, float] = (2.0**25, 2.0**28)


@dataclass(frozen=True, eq=False)
class Hockney:
    """A fitted Hockney model.

    alpha_s: latency. bandwidth_bytes_per_s: B, the bandwidth of infinitely long messages. Neither
    is corrected: a negative latency is kept as fitted, and `warnings` gives the reason. ends: for
    an extrapolation, the first and last size that each was determined from.
    """

    method: Method
    alpha_s: Estimate
    bandwidth_bytes_per_s: Estimate
    valid: tuple[float, float]
    residuals: Residuals
    warnings: tuple[str, ...]
    ends: Ends | None = None

    name = "Hockney"

    @property
    def source(self) -> str:
        """The paper and equation of the fitting method."""
        return SOURCES[self.method]

    @property
    def parameters(self) -> tuple[FittedParameter, ...]:
        """alpha_s and bandwidth_bytes_per_s."""
        small, large = (
            (self.ends.latency_bytes, self.ends.bandwidth_bytes) if self.ends else (None, None)
        )
        return (
            FittedParameter("alpha_s", self.alpha_s, _words(small), small),
            FittedParameter(
                "bandwidth_bytes_per_s", self.bandwidth_bytes_per_s, _words(large), large
            ),
        )

    def predict(self, x: npt.ArrayLike) -> Array:
        """Return the seconds for messages of x bytes, in the shape of x."""
        sizes = np.asarray(x, dtype=np.float64)
        return self.alpha_s.value + sizes / self.bandwidth_bytes_per_s.value


def fit(
    data: Sweep,
    method: Method = "log",
    intervals: Intervals | None = None,
    *,
    ends: Ends | None = None,
) -> Hockney:
    """Fit alpha and B to one-way times by size.

    method: "least_squares": of time; large messages dominate, and alpha may be negative. "log":
    least squares of log(model) - log(time), that is of relative errors, with equal weight for every
    size. "extrapolation": alpha is the mean time of the smallest sizes, B the mean of n / time of
    the largest, both selected by `ends`; no fit.

    Raise ValueError for fewer than two sizes, or if sizes that the method needs are missing.
    """
    if data.x.size < 2:
        raise ValueError("a Hockney model needs two sizes or more")
    solve = (
        partial(_extrapolation, ends or Ends()) if method == "extrapolation" else _SOLVERS[method]
    )
    alpha, slope = _estimates(data, solve, intervals or Intervals())
    bandwidth = intervals_of.bandwidth(slope, data.x, data.centres_s)
    taken = _taken(data.x, ends or Ends()) if method == "extrapolation" else None
    return Hockney(
        method,
        alpha,
        bandwidth,
        (float(data.x[0]), float(data.x[-1])),
        Residuals(data.x, data.centres_s, alpha.value + data.x * slope.value),
        (*_sense(data, method, alpha, bandwidth), *(_elsewhere(taken) if taken else ())),
        taken,
    )


def _log(sizes: Array, times_s: Array) -> Line:
    """Least squares of log time, by a search over its one nonlinear parameter.

    With k = slope / alpha, log T = log alpha + log(1 + k n). For a given k the best log alpha is a
    mean, so only u = log k is searched: the best of a grid, then Gauss-Newton steps. k stays within
    1e-3 / (largest size) and 1e3 / (smallest): beyond these the curve is flat or has no latency, to
    0.1 % at every size.
    """
    positive = sizes[sizes > 0]
    low, high = np.log(1e-3 / positive[-1]), np.log(1e3 / positive[0])
    logs = _centred(np.log(times_s))
    grid = np.linspace(low, high, 129)
    shapes = _centred(np.log1p(np.exp(grid)[:, None] * sizes))
    misfits = np.sum(shapes**2, axis=1) - 2 * logs @ shapes.T
    u = grid[np.argmin(misfits, axis=1)]
    for _ in range(50):
        grown = np.exp(u)[:, None] * sizes
        change = _centred(grown / (1 + grown))
        left = logs - _centred(np.log1p(grown))
        step = np.sum(left * change, axis=1) / np.sum(change**2, axis=1)
        u = np.clip(u + np.clip(step, -0.5, 0.5), low, high)
        if np.max(np.abs(step), initial=0.0) < 1e-12:
            break
    k = np.exp(u)
    alpha = np.exp(np.mean(np.log(times_s) - np.log1p(k[:, None] * sizes), axis=1))
    return Line(alpha, k * alpha)


def _centred(rows: Array) -> Array:
    return np.asarray(rows - rows.mean(axis=1, keepdims=True), dtype=np.float64)


def _extrapolation(ends: Ends, sizes: Array, times_s: Array) -> Line:
    small = _between(sizes, ends.latency_bytes)
    large = _between(sizes, ends.bandwidth_bytes)
    bandwidth = np.mean(sizes[large] / times_s[:, large], axis=1)
    return Line(np.mean(times_s[:, small], axis=1), 1.0 / bandwidth)


def _taken(sizes: Array, ends: Ends) -> Ends:
    small = sizes[_between(sizes, ends.latency_bytes)]
    large = sizes[_between(sizes, ends.bandwidth_bytes)]
    return Ends((float(small[0]), float(small[-1])), (float(large[0]), float(large[-1])))


def _elsewhere(taken: Ends) -> Sequence[str]:
    return [
        f"The {what} is the mean over {_words(own)}: this sweep does not contain all of the "
        f"report's sizes, {_words(theirs)}."
        for what, own, theirs in (
            ("latency", taken.latency_bytes, Ends().latency_bytes),
            ("bandwidth", taken.bandwidth_bytes, Ends().bandwidth_bytes),
        )
        if own != theirs
    ]


def _words(sizes: tuple[float, float] | None) -> str:
    """Return "1 B to 4 B"; "" for None."""
    return f"{size(sizes[0])} to {size(sizes[1])}" if sizes else ""


_Solver = Callable[[Array, Array], Line]

_SOLVERS: dict[Method, _Solver] = {
    "least_squares": fit_lines,
    "log": _log,
}


def _between(sizes: Array, ends: tuple[float, float]) -> npt.NDArray[np.bool_]:
    chosen = (sizes >= ends[0]) & (sizes <= ends[1])
    if not np.any(chosen):
        raise ValueError(f"extrapolation needs sizes from {size(ends[0])} to {size(ends[1])}")
    return chosen


def _estimates(data: Sweep, solve: _Solver, how: Intervals) -> tuple[Estimate, Estimate]:
    solved, draws = solve(data.x, data.centres_s[None]), solve(data.x, how.resampled(data))
    return (
        bootstrapped(float(solved.intercept[0]), draws.intercept, data.launches),
        bootstrapped(float(solved.slope[0]), draws.slope, data.launches),
    )


def _sense(data: Sweep, method: Method, alpha: Estimate, bandwidth: Estimate) -> Sequence[str]:
    said = []
    if alpha.value < 0:
        said.append(
            f"The latency is negative ({seconds(alpha.value)}), which is impossible: "
            f"{_why_negative(data, bandwidth.value)} The relative and the extrapolated fit "
            "take the latency from small messages."
        )
    elif alpha.low is not None and alpha.low <= 0:
        said.append("The latency is not distinguishable from zero: its interval contains 0.")
    if not 0 < bandwidth.value < np.inf:
        said.append(
            "Time does not grow with size in these data, so they determine no bandwidth; "
            "measure larger messages."
        )
    elif bandwidth.high == np.inf:
        said.append("These data give no upper bound of the bandwidth; measure larger messages.")
    if method == "log" and _flat_or_steep(data, alpha.value * bandwidth.value):
        said.append(
            "These sizes determine either the latency or the bandwidth, not both: one "
            "of the two is only a limit."
        )
    return said


def _why_negative(data: Sweep, bandwidth: float) -> str:
    """Return why least squares gives a negative latency: time per byte grows with size."""
    moved = data.x / data.centres_s
    best = int(np.argmax(moved))
    if 0 < bandwidth < moved[best]:
        return (
            f"the largest messages dominate the fit, {rate(bandwidth)}. Smaller ones are "
            f"faster ({size(data.x[best])} at {rate(float(moved[best]))}, from cache or "
            "with another protocol), so the line has a negative value at size 0."
        )
    return "the scatter of the largest messages exceeds any latency."


def _flat_or_steep(data: Sweep, half_bandwidth: float) -> bool:
    positive = data.x[data.x > 0]
    return bool(half_bandwidth > 0.9e3 * positive[-1] or half_bandwidth < 1.1e-3 * positive[0])
