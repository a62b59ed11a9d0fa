# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of two samples of launches with distribution-free tests.

Source: Conover, Practical Nonparametric Statistics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Literal

import numpy as np

from haloscope.stats.estimates import Array, Estimate, finite, ratio_of_medians

Test = Literal[
    "two-sided Mann-Whitney over launches",
    "two-sided Mann-Whitney over allocations",
    "Student's over allocations",
]
"""The tests: over launches, over allocations, and of differences within allocations."""


@dataclass(frozen=True)
class Comparison:
    """Result of comparing two samples.

    ratio: median of the first over median of the second, which is the speedup of the second if the
    samples are times; None unless all values are above 0. p_value: two-sided. attainable: the
    smallest possible p with samples of these sizes.
    """

    ratio: Estimate | None
    p_value: float
    attainable: float
    test: Test = "two-sided Mann-Whitney over launches"


EXACT = 10_000
"""Product of both sizes up to which p is exact: two of 300 take half a minute, and the normal p is
then within 2 %.
"""


def compare(first: Sequence[float], second: Sequence[float], *, seed: int = 0) -> Comparison:
    """Compare two settings: two-sided Mann-Whitney test over launches, and the ratio of medians.

    The p-value is exact: from the null distribution without ties, and over all divisions of the
    pooled launches with ties (a seeded sample of 20,000 of them if there are more). For samples
    above EXACT it is that of the normal distribution, corrected for continuity and ties.
    """
    from scipy.stats import mannwhitneyu  # imported here: planning and measuring do not need it

    a, b = finite(first), finite(second)
    positive = bool(np.all(a > 0) and np.all(b > 0))
    ratio = ratio_of_medians(first, second, seed=seed) if positive else None
    attainable = min(1.0, float(Fraction(2, comb(a.size + b.size, a.size))))
    pooled = np.concatenate([a, b])
    if a.size * b.size > EXACT:
        p_value = float(mannwhitneyu(a, b, method="asymptotic").pvalue)
    elif np.unique(pooled).size == pooled.size:
        p_value = float(mannwhitneyu(a, b, method="exact").pvalue)
    else:
        p_value = _rank_permutation(pooled, int(a.size), seed)
    return Comparison(ratio, p_value, attainable)


def _rank_permutation(pooled: Array, size: int, seed: int) -> float:
    """Return the two-sided permutation p-value of the rank sum of the first `size`
    pooled launches.
    """
    from scipy.stats import permutation_test, rankdata

    ranks = rankdata(pooled)
    if size == 1 or size == pooled.size - 1:  # scipy's test needs two on either side
        alone = np.abs(ranks - ranks.mean())
        return float(np.mean(alone >= alone[0 if size == 1 else -1]))
    result = permutation_test(
        (ranks[:size], ranks[size:]),
        lambda x, y, axis: np.abs(np.mean(x, axis=axis) - np.mean(y, axis=axis)),
        permutation_type="independent",
        alternative="greater",
        vectorized=True,
        n_resamples=20_000,
        random_state=np.random.default_rng(seed),
    )
    return float(result.pvalue)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values after Holm's step-down correction for the number of tests; None stays None.

    Adjusted p-values keep the family-wise error rate at the level they are compared with.
    """
    known = [index for index, p in enumerate(p_values) if p is not None]
    order = sorted(known, key=lambda index: p_values[index] or 0.0)
    adjusted: list[float | None] = [None] * len(p_values)
    running = 0.0
    for step, index in enumerate(order):
        running = max(running, (len(order) - step) * (p_values[index] or 0.0))
        adjusted[index] = min(1.0, running)
    return adjusted
