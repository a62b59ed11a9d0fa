# SPDX-License-Identifier: BSD-3-Clause
"""The interface of fitted models, so that a report can draw any of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from haloscope.models.sweep import Array
from haloscope.stats.estimates import Estimate


@dataclass(frozen=True)
class FittedParameter:
    """A fitted number.

    name: with its unit: alpha_s, bandwidth_bytes_per_s. estimate: value, interval, and the
    interval's method; low and high are None without an interval. An end may be infinite, if the
    data do not limit a bandwidth. piece: the piece of the model it belongs to ("inter_socket"), or
    "". over: first and last x that it is based on, if not the model's.
    """

    name: str
    estimate: Estimate
    piece: str = ""
    over: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Residuals:
    """The points a model was fitted to, and its predictions there. Arrays of (points,)."""

    x: Array
    measured_s: Array
    predicted_s: Array

    @property
    def absolute_s(self) -> Array:
        """Return measured - predicted, in seconds."""
        return self.measured_s - self.predicted_s

    @property
    def relative(self) -> Array:
        """Return (measured - predicted) / measured: 0.1 is a prediction that is 10 % too low."""
        return self.absolute_s / self.measured_s

    @property
    def relative_rms(self) -> float:
        """Root mean square of the relative residuals."""
        return float(np.sqrt(np.mean(self.relative**2)))


class Model(Protocol):
    """A fitted model.

    name, source: what it is, and the paper and equation it is from. parameters: every fitted
    number, in print order. valid: first and last x of the data; predictions outside are
    extrapolations. residuals: at the fitted points. warnings: sentences about values without a
    physical meaning and fits with too little data.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def source(self) -> str: ...  # noqa: D102
    @property
    def parameters(self) -> Sequence[FittedParameter]: ...  # noqa: D102
    @property
    def valid(self) -> tuple[float, float]: ...  # noqa: D102
    @property
    def residuals(self) -> Residuals: ...  # noqa: D102
    @property
    def warnings(self) -> Sequence[str]: ...  # noqa: D102

    def predict(self, x: npt.ArrayLike) -> Array:
        """Return seconds at x (sizes in bytes, or numbers of ranks), in the shape of x."""
        ...
