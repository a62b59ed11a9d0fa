# SPDX-License-Identifier: BSD-3-Clause
"""Student's interval around a geometric mean: for positive numbers that differ by factors."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt
from statistics import fmean, stdev


def factor(confidence: float, freedom: float) -> float:
    """Student's quantile for a two-sided interval."""
    from scipy.special import stdtrit  # here: a campaign of one allocation starts without it

    return float(stdtrit(freedom, 0.5 + confidence / 2))


def geometric_mean(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float, float]:
    """exp of the mean of logarithms, and of the ends of its interval: mean +- t(m - 1) S / sqrt(m).

    S is the standard deviation of the logarithms. ValueError for fewer than two values, and for
    what is not above 0.
    """
    logs = [log(value) for value in values]
    middle = fmean(logs)
    half = factor(confidence, len(logs) - 1) * stdev(logs) / sqrt(len(logs))
    return exp(middle), exp(middle - half), exp(middle + half)
