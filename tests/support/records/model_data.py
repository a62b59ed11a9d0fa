# SPDX-License-Identifier: BSD-3-Clause
"""Published curves and synthetic launches that the tests of models share."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from haloscope.models.sweep import Sweep, sweep
from haloscope.stats.estimates import Estimate

Array = npt.NDArray[np.float64]

DATA = Path(__file__).parents[2] / "data"
SIZES = np.array([0.0, *(2.0**i for i in range(29))])
"""0 bytes to 256 MiB, as IMB-MPI1 takes them."""


@cache
def orfeo_points() -> Mapping[str, list[dict[str, str]]]:
    """Curve -> its published points."""
    curves: dict[str, list[dict[str, str]]] = {}
    with (DATA / "orfeo_pingpong.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            curves.setdefault(row["curve"], []).append(row)
    return curves


@cache
def orfeo_fits() -> list[dict[str, str]]:
    """The report's own fits."""
    with (DATA / "orfeo_pingpong_fits.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def orfeo(curve: str) -> Sweep:
    """Published mean times of a curve."""
    points = orfeo_points()[curve]
    times_s = [1e-6 * float(point["time_us"]) for point in points]
    return sweep([float(point["size_bytes"]) for point in points], times_s)


def launches(
    x: Array,
    times_s: Array,
    seed: int,
    *,
    count: int = 10,
    noise: float = 0.02,
    common: float = 0.02,
    joint: bool = True,
) -> Sweep:
    """Times with log-normal noise of each point and of whole launches, about the given medians."""
    generator = np.random.default_rng(seed)
    whole = common * generator.standard_normal(count) if joint else 0.0
    scatter = noise * generator.standard_normal((x.size, count)) + whole
    return Sweep(x, tuple(times_s[:, None] * np.exp(scatter)), joint)


def holds(estimate: Estimate, truth: float) -> bool:
    """True when the interval holds the truth."""
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low <= truth <= estimate.high
