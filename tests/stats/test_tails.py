# SPDX-License-Identifier: BSD-3-Clause
"""Percentiles of repetitions nested in launches, and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from simulated_allocations import covers
from simulated_tails import nested, of_a_launch

from haloscope.stats.tails import needed, percentile


def drawn(launches: int, repetitions: int, between: float, seed: int = 1) -> list[list[float]]:
    return nested(np.random.default_rng(seed), launches, repetitions, between, "exponential")


def test_a_percentile_needs_five_repetitions_beyond_it() -> None:
    assert (needed(0.95), needed(0.99), needed(0.5)) == (100, 500, 10)
    assert percentile(drawn(9, 11, 0.0), 0.95) is None
    assert percentile(drawn(10, 10, 0.0), 0.95) is not None
    assert percentile(drawn(10, 10, 0.0), 0.99) is None


def test_a_percentile_is_the_geometric_mean_over_launches() -> None:
    """Of 101 values, at an even distance, the median-unbiased P95 lies at 96 + 4/15 of them."""
    one = np.arange(1.0, 102.0)
    launches = [list(scale * one) for scale in (1.0, 2.0, 4.0, 1.0, 2.0, 4.0)]

    found = percentile(launches, 0.95)

    assert found is not None
    assert found.value == pytest.approx(2 * (101 + 1 / 3) * 0.95 + 2 / 3)
    assert found.n == 6 and found.method == "interval over launches"
    half = 2.5706 * np.std(np.log([1, 2, 4, 1, 2, 4]), ddof=1) / np.sqrt(6)
    assert found.low == pytest.approx(found.value / np.exp(half), rel=1e-4)
    assert found.high == pytest.approx(found.value * np.exp(half), rel=1e-4)


def test_few_launches_have_the_range_of_their_percentiles() -> None:
    one = np.arange(1.0, 102.0)
    found = percentile([list(scale * one) for scale in (1.0, 1.0, 8.0)], 0.95)

    assert found is not None and found.low is not None and found.high is not None
    assert found.method == "range"
    assert found.high == pytest.approx(8 * found.low)
    assert found.value == pytest.approx(2 * found.low)
    alone = percentile([list(one)], 0.95)
    assert alone is not None and (alone.low, alone.method) == (None, "none")


@pytest.mark.parametrize("short", [99, 12])
def test_launches_too_short_for_percentiles_give_a_value_without_interval(
    short: int,
) -> None:
    launches = [list(np.arange(1.0, 101.0)), *([list(np.arange(1.0, short + 1.0))] * 9)]
    found = percentile(launches, 0.95)

    assert found is not None
    assert (found.low, found.high, found.method, found.n) == (None, None, "pooled", 10)
    every = np.concatenate(launches)
    assert found.value == pytest.approx(np.quantile(every, 0.95, method="median_unbiased"))


def test_zero_times_have_no_logarithm_and_no_interval() -> None:
    found = percentile([[0.0] * 100] * 6, 0.95)

    assert found is not None
    assert (found.value, found.method) == (0.0, "pooled")


@pytest.mark.parametrize("between", [0.0, 0.1, 0.3, 0.6])
@pytest.mark.parametrize("launches", [10, 30])
def test_the_interval_has_nominal_coverage_for_any_launch_variation(
    launches: int, between: float
) -> None:
    """95 % of 400 experiments, three standard errors more or less.

    A bootstrap of launches and repetitions covers 54 to 90 % where launches differ.
    """
    generator = np.random.default_rng(5)
    true = of_a_launch(0.95)
    found = [percentile(nested(generator, launches, 200, between), 0.95) for _ in range(400)]

    assert 367 <= sum(one is not None and covers(one, true) for one in found) <= 393


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_an_invalid_percentile_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="a tail begins at"):
        percentile([[1.0]], share)
