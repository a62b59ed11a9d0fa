# SPDX-License-Identifier: BSD-3-Clause
"""Repetitions nested in launches, drawn; and what their percentiles truly are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

Array = npt.NDArray[np.float64]
Drawer = Callable[[np.random.Generator, tuple[int, int]], Array]

NORMAL = 0.2
"""NORMAL is the standard deviation of log time within a launch of the shape of that name."""


def _normal(generator: np.random.Generator, shape: tuple[int, int]) -> Array:
    return NORMAL * generator.standard_normal(shape)


def _exponential(generator: np.random.Generator, shape: tuple[int, int]) -> Array:
    return np.log(generator.exponential(1.0, shape))


def _two_kinds(generator: np.random.Generator, shape: tuple[int, int]) -> Array:
    """One repetition in twelve takes one and a half to three times as long as the others."""
    slow = generator.random(shape) < 1 / 12
    return 0.01 * generator.standard_normal(shape) + slow * np.log(generator.uniform(1.5, 3, shape))


SHAPES: Mapping[str, Drawer] = {
    "normal": _normal,
    "exponential": _exponential,
    "two kinds": _two_kinds,
}
"""SHAPES are those of the logarithms of times within a launch."""


def nested(
    generator: np.random.Generator,
    launches: int,
    repetitions: int,
    between: float,
    shape: str = "normal",
) -> list[list[float]]:
    """Times; a launch's scale is its own, by a factor whose logarithm has that deviation."""
    scales = between * generator.standard_normal((launches, 1))
    times = np.exp(scales + SHAPES[shape](generator, (launches, repetitions)))
    found: list[list[float]] = times.tolist()
    return found


def of_a_launch(share: float, shape: str = "normal") -> float:
    """The percentile of a typical launch, whose scale is 1."""
    if shape == "normal":
        return float(np.exp(NORMAL * norm.ppf(share)))
    if shape == "exponential":
        return float(-np.log(1 - share))
    # slow ones begin at 1.5, beyond all others, and are evenly spread; noise moves them by 1 %
    return float(3 - 1.5 * 12 * (1 - share))


def of_all(share: float, between: float) -> float:
    """The percentile of all repetitions that there could be, of the shape "normal"."""
    return float(np.exp(np.hypot(NORMAL, between) * norm.ppf(share)))
