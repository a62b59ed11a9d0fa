# SPDX-License-Identifier: BSD-3-Clause
"""Straight lines by weighted least squares, many at once, with their normal-theory errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from haloscope.models.sweep import Array


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
