# SPDX-License-Identifier: BSD-3-Clause
"""What every fitted model tells, so that a report can draw any of them."""

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

    name:     with its unit: alpha_s, bandwidth_bytes_per_s.
    estimate: value, interval and the interval's method; low, high None where there is none. An end
              may be infinite: data that do not bound a bandwidth from above.
    piece:    the piece of the model it belongs to ("inter_socket"); "" for a model of one piece.
    over:     the first and the last x that it rests on, where that is not all that the model does.
    """

    name: str
    estimate: Estimate
    piece: str = ""
    over: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Residuals:
    """The points a model was fitted to, and what it says there. Arrays of (points,)."""

    x: Array
    measured_s: Array
    predicted_s: Array

    @property
    def absolute_s(self) -> Array:
        """Measured less predicted, seconds."""
        return self.measured_s - self.predicted_s

    @property
    def relative(self) -> Array:
        """Measured less predicted, as a share of measured: 0.1 is 10 % too low a prediction."""
        return self.absolute_s / self.measured_s

    @property
    def relative_rms(self) -> float:
        """Root mean square of the relative residuals."""
        return float(np.sqrt(np.mean(self.relative**2)))


class Model(Protocol):
    """A fitted model.

    name, source: what it is, and the paper and equation it is from.
    parameters: every fitted number, in the order to print them.
    valid: the first and last x of the data it rests on; predictions outside are extrapolations.
    residuals: where it was fitted.
    warnings: sentences: values without a physical sense and why, fits that rest on too little.
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
        """Seconds at sizes in bytes (or numbers of ranks) x; the shape of x."""
        ...
