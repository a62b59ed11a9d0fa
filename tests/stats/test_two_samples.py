# SPDX-License-Identifier: BSD-3-Clause
"""Two samples of launches: exact p-values of known samples, and Holm's correction."""

import warnings

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from haloscope.stats.two_samples import compare, holm


def test_large_samples_agree_with_the_normal_approximation() -> None:
    """On both sides of the limit: 100 launches each are exact, 101 are not."""
    draw = np.random.default_rng(1)
    first, second = (draw.normal(mean, 0.1, 101).tolist() for mean in (1.0, 1.03))
    exact = mannwhitneyu(first, second, method="exact").pvalue
    assert compare(first, second).p_value != exact
    assert compare(first, second).p_value == pytest.approx(exact, rel=0.02)
    small = mannwhitneyu(first[:100], second[:100], method="exact").pvalue
    assert compare(first[:100], second[:100]).p_value == small
    tied = [round(time, 2) for time in (*first, *second)]
    assert compare(tied[:101], tied[101:]).p_value == pytest.approx(exact, rel=0.2)


def test_thousands_of_launches_are_compared_exactly() -> None:
    """2 / (n + m over n) is below what a float holds from some 1,030 launches on."""
    first, second = [1 + k * 1e-6 for k in range(600)], [2 + k * 1e-6 for k in range(600)]
    assert compare(first, second).attainable == 0.0
    assert compare(first[:300], second[:300]).attainable == pytest.approx(1.48e-179, rel=0.01)
    assert compare(first[:3], second[:3]).attainable == 2 / 20


def test_separated_samples_have_the_smallest_possible_p_value() -> None:
    apart = compare([4.0, 5.0, 6.0, 7.0, 8.0], [1.0, 1.5, 2.0, 2.5, 3.0])

    assert apart.p_value == pytest.approx(2 / 252)
    assert apart.attainable == pytest.approx(2 / 252)
    assert apart.ratio is not None
    assert apart.ratio.value == 3.0


def test_three_launches_against_three_cannot_show_a_difference() -> None:
    assert compare([4.0, 5.0, 6.0], [1.0, 2.0, 3.0]).attainable == pytest.approx(0.1)


def test_ties_are_tested_over_all_permutations_of_the_pooled_launches() -> None:
    # Ranks 1.5, 1.5, 3.5 against 3.5, 5.5, 5.5: of the 20 divisions 4 are as far apart.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tied = compare([1.0, 1.0, 2.0], [2.0, 3.0, 3.0])

    assert tied.p_value == pytest.approx(4 / 20)


def test_a_tie_of_one_launch_is_tested_too() -> None:
    assert compare([1.0], [1.0]).p_value == 1.0
    # Of 1, 2, 2, 2 each may be the one alone: only one of the four is as far out as 1.
    assert compare([1.0], [2.0, 2.0, 2.0]).p_value == 0.25
    assert compare([2.0, 2.0, 2.0], [1.0]).p_value == 0.25


def test_equal_samples_do_not_differ() -> None:
    assert compare([1.0] * 6, [1.0] * 6).p_value == 1.0


def test_holm_multiplies_by_the_remaining_tests_and_is_monotonic() -> None:
    adjusted = holm([0.01, None, 0.04, 0.03, 0.005])

    assert adjusted == [pytest.approx(0.03), None, pytest.approx(0.06), pytest.approx(0.06), 0.02]
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []
