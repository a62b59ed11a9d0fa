# SPDX-License-Identifier: BSD-3-Clause
from collections import Counter
from itertools import product
from math import isclose
from statistics import median

import numpy as np
import pytest

from haloscope.stats.estimates import (
    Estimate,
    _resampled_medians,
    median_interval,
    median_range,
    outliers,
    ratio_of_medians,
    typical,
)


def test_the_rank_interval_of_six_launches_is_their_range() -> None:
    estimate = median_interval([6.0, 1.0, 5.0, 2.0, 4.0, 3.0])

    assert estimate == Estimate(3.5, 1.0, 6.0, 6, "rank interval", 1 - 2 / 2**6)


def test_the_rank_interval_of_twenty_launches_uses_the_6th_and_15th() -> None:
    estimate = median_interval(list(range(1, 21)))

    assert (estimate.value, estimate.low, estimate.high) == (10.5, 6.0, 15.0)
    # 1 - 2 P(Binomial(20, 1/2) <= 5), from tables of the binomial distribution
    assert estimate.confidence == pytest.approx(0.958611, abs=1e-6)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_below_six_launches_no_interval_is_computed(n: int) -> None:
    assert median_interval([2.0] * n) == Estimate(2.0, None, None, n, "none", None)


def test_more_confidence_needs_more_launches() -> None:
    seven, eight = [float(k) for k in range(7)], [float(k) for k in range(8)]

    assert median_interval(seven, 0.99).low is None
    assert median_interval(eight, 0.99).confidence == 1 - 2 / 2**8


def test_the_rank_interval_has_nominal_coverage() -> None:
    generator = np.random.default_rng(1)
    draws = generator.lognormal(0.0, 1.0, size=(3000, 12))
    estimates = [median_interval(list(draw)) for draw in draws]
    covered = np.mean([e.low <= 1.0 <= e.high for e in estimates if e.low and e.high])

    assert estimates[0].confidence == pytest.approx(1 - 2 * (1 + 12 + 66) / 2**12)
    assert covered == pytest.approx(estimates[0].confidence, abs=0.01)


def test_few_launches_have_a_range_and_one_has_none() -> None:
    assert median_range([3.0, 1.0, 2.0]) == Estimate(2.0, 1.0, 3.0, 3, "range")
    assert median_range([3.0]) == Estimate(3.0, None, None, 1, "none")
    assert typical([3.0, 1.0]).method == "range"
    assert typical([1.0] * 6).method == "rank interval"


def test_samples_must_hold_finite_numbers() -> None:
    for sample in ([], [1.0, float("nan")], [float("inf")]):
        with pytest.raises(ValueError, match="sample"):
            median_interval(sample)


def test_a_ratio_of_medians_is_reproducible_with_a_seed() -> None:
    sample = [1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 13.0]

    first = ratio_of_medians(sample, sample, seed=7)
    assert first == ratio_of_medians(sample, sample, seed=7)
    assert first.low is not None and first.high is not None
    assert 1.0 / 13.0 <= first.low < 1.0 < first.high <= 13.0
    assert ratio_of_medians(sample, sample[:5]).method == "range"


def test_the_interval_of_a_ratio_has_nominal_coverage() -> None:
    generator = np.random.default_rng(2)
    draws = generator.lognormal(0.0, 0.1, size=(400, 2, 25))
    estimates = [ratio_of_medians(list(a), list(b), resamples=400) for a, b in draws]
    covered = np.mean([e.low <= 1.0 <= e.high for e in estimates if e.low and e.high])

    assert 0.91 <= covered <= 0.99


def test_the_interval_of_a_ratio_excludes_2_5_percent_per_side() -> None:
    # Of 25 launches drawn from 1..25 the median is k or less as often as 13 of 25 are: P(8) = 0.03.
    estimate = ratio_of_medians([float(k) for k in range(1, 26)], [1.0] * 25)

    assert (estimate.low, estimate.high) == (8.0, 18.0)


def test_outlier_launches_are_kept_and_named() -> None:
    sample = [1.0, 1.1, 1.2, 1.1, 1.0, 1.2, 1.1, 9.0]

    estimate = typical(sample)
    assert estimate.outliers == (9.0,)
    assert estimate.n == 8
    assert estimate.times(10.0).outliers == (90.0,)
    assert estimate.rate(18.0).outliers == (2.0,)
    assert typical([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).outliers == ()


def test_fences_are_one_and_a_half_interquartile_ranges_outside_the_quartiles() -> None:
    middle = [float(k) for k in range(11, 20)]  # with one on either side: quartiles 12.5 and 17.5

    assert outliers([5.0, *middle, 25.0]) == ()
    assert outliers([4.9, *middle, 25.1]) == (4.9, 25.1)


def test_a_ratio_of_medians_is_a_speedup() -> None:
    assert ratio_of_medians([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]) == Estimate(
        2.0, 2 / 3, 6.0, 3, "range"
    )
    assert ratio_of_medians([2.0], [1.0, 2.0]) == Estimate(4 / 3, None, None, 1, "none")
    six = ratio_of_medians([4.0] * 6, [2.0] * 7)
    assert (six.value, six.low, six.high, six.n) == (2.0, 2.0, 2.0, 6)
    with pytest.raises(ValueError, match="positive"):
        ratio_of_medians([1.0], [0.0])


def test_an_estimate_in_another_unit_keeps_its_interval() -> None:
    seconds = Estimate(2.0, 1.0, 4.0, 6, "rank interval", 0.97)

    assert seconds.times(1e3) == Estimate(2000.0, 1000.0, 4000.0, 6, "rank interval", 0.97)
    assert seconds.rate(8.0) == Estimate(4.0, 2.0, 8.0, 6, "rank interval", 0.97)
    assert Estimate(2.0, None, None, 1, "none").rate(8.0).low is None
    with pytest.raises(ValueError, match="positive"):
        seconds.times(0)
    assert isclose(seconds.rate(1.0).value, 0.5)


@pytest.mark.parametrize(
    "values", [[7.0], [1.0, 2.0], [1.0, 2.0, 3.0], [8.0, 1.0, 2.0, 4.0], [2.0, 2.0, 1.0, 2.0, 3.0]]
)
def test_resampled_medians_have_the_exact_distribution(values: list[float]) -> None:
    sample = [float(value) for value in values]
    ways = Counter(median(drawn) for drawn in product(sample, repeat=len(sample)))

    found = Counter(
        _resampled_medians(np.array(sample), 200_000, np.random.default_rng(1)).tolist()
    )

    assert found.keys() == ways.keys()
    for value, count in ways.items():
        assert found[value] / 200_000 == pytest.approx(count / ways.total(), abs=0.005)
