# SPDX-License-Identifier: BSD-3-Clause
"""Laws of time over processes are found again in times that follow them, and refused elsewhere."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from haloscope.models.scaling_law import FEWEST, TERMS, Term, fit

P = [1, 2, 4, 8, 16, 32, 64, 128]


def noisy(law: np.ndarray, launches: int = 8, deviation: float = 0.005) -> list[list[float]]:
    generator = np.random.default_rng(4)
    return [list(t * (1 + deviation * generator.standard_normal(launches))) for t in law]


@pytest.mark.parametrize(
    ("power", "logarithm"),
    [("-1", 0), ("-1/2", 0), ("0", 1), ("1/2", 0), ("1", 0), ("1", 1), ("2", 0)],
)
def test_a_term_and_a_constant_are_recovered(power: str, logarithm: int) -> None:
    term = Term(Fraction(power), logarithm)
    times = 0.5 + 2.0 * term.at(P)

    law = fit(P, [[time] for time in times])

    assert law.terms == (term,)
    assert law.constant_s == pytest.approx(0.5, rel=1e-6)
    assert law.coefficients_s == pytest.approx((2.0,), rel=1e-6)
    assert law.cross_validation < 1e-6
    assert law.predict([256.0]) == pytest.approx(0.5 + 2.0 * term.at([256.0]))


def test_divided_work_and_growing_sums_are_two_terms() -> None:
    x = np.array(P, dtype=float)

    law = fit(P, noisy(8.0 / x + 0.3 * np.log2(x)))

    falling, growing = law.terms
    assert falling == Term(Fraction(-1), 0)
    assert growing.power >= 0 and growing != Term(Fraction(0), 0)
    assert law.predict([8.0]) == pytest.approx(1.9, rel=0.05)


def test_constant_times_give_a_constant_law() -> None:
    law = fit(P, noisy(np.full(len(P), 3.0)))

    assert law.terms == () and law.constant_s == pytest.approx(3.0, rel=0.01)


def test_six_points_get_one_term_even_if_two_fit_better() -> None:
    x = np.array(P[:6], dtype=float)

    law = fit(P[:6], [[time] for time in 8.0 / x + 0.3 * np.log2(x) + 0.5])

    assert len(law.terms) <= 1


def test_no_coefficient_is_negative() -> None:
    x = np.array(P, dtype=float)

    law = fit(P, [[time] for time in 9.0 - np.log2(x)])

    assert law.constant_s >= 0 and min(law.coefficients_s, default=0.0) >= 0


def test_four_process_counts_are_too_few() -> None:
    assert FEWEST == 5
    with pytest.raises(ValueError, match="with 4 numbers of processes; "):
        fit(P[:4], [[1.0]] * 4)


def test_unpredictable_and_zero_times_are_refused() -> None:
    with pytest.raises(ValueError, match=" % at points left out"):
        fit(P[:6], [[1.0], [9.0], [0.2], [7.0], [0.1], [8.0]])
    with pytest.raises(ValueError, match="times must be positive"):
        fit(P[:5], [[1.0]] * 4 + [[0.0]])


def test_the_band_contains_the_law_and_needs_six_launches() -> None:
    times = 0.5 + 4.0 / np.array(P, dtype=float)

    law, few = fit(P, noisy(times)), fit(P, noisy(times, launches=5))

    band = law.band(P)
    assert band is not None
    low, high = band
    assert np.all(low < law.predict(P)) and np.all(law.predict(P) < high)
    assert np.all(high / low < 1.03)
    assert np.mean((low <= times) & (times <= high)) >= 0.5
    assert few.band(P) is None


def test_the_band_contains_95_percent_of_the_laws_of_resampled_launches() -> None:
    law = fit(P, noisy(0.5 + 4.0 / np.array(P, dtype=float)))
    columns = np.column_stack([np.ones(len(P)), *(term.at(P) for term in law.terms)])
    drawn = columns @ law.draws.T

    low, high = law.band(P) or pytest.fail("no band")

    inside = np.mean((low[:, None] <= drawn) & (drawn <= high[:, None]), axis=1)
    assert inside == pytest.approx(0.95, abs=0.005)
    wide = law.band(P, 0.99) or pytest.fail("no band")
    assert np.all(wide[1] - wide[0] > high - low)


def test_every_term_is_tried_once_and_has_a_name() -> None:
    assert len(TERMS) == len(set(TERMS)) == 17 * 3 - 1
    assert Term(Fraction(1, 2), 1).text() == "p^(1/2) log2(p)"
    assert Term(Fraction(1), 0).text() == "p" and Term(Fraction(0), 2).text("N") == "log2(N)^2"


def test_a_last_point_unrelated_to_the_others_gives_no_law() -> None:
    """A steep term passes through all five; without the last there is no sign of it."""
    with pytest.raises(ValueError, match=" 40 % at points left out"):
        fit([1, 2, 4, 8, 64], [[1.0], [1.0], [1.0], [1.0], [10.0]])
