# SPDX-License-Identifier: BSD-3-Clause
"""Intervals over allocations cover what they say; those of pooled launches do not."""

from __future__ import annotations

from collections.abc import Iterable
from math import comb, exp, log, sqrt
from statistics import fmean, median
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats
from simulated_allocations import Drawn, covers, drawn, pooled

from haloscope.stats.allocations import (
    compare_over,
    components,
    level_to_repeat,
    typical_over,
)
from haloscope.stats.estimates import typical
from haloscope.stats.two_samples import compare

TRIES = 2000


def tried(usual: Iterable[int], more: Iterable[int]) -> list[Any]:
    """Numbers of allocations: of every check, and those that ./check --all adds."""
    return [*usual, *(pytest.param(number, marks=pytest.mark.coverage) for number in more)]


@pytest.mark.parametrize("allocations", tried([2, 5], [3, 10, 20]))
@pytest.mark.parametrize(("between", "launches"), [(0.05, 8), (0.05, 3), (0.2, 3)])
@pytest.mark.parametrize("skewed", [False, True])
def test_intervals_over_allocations_have_nominal_coverage(
    allocations: int, between: float, launches: int, skewed: bool
) -> None:
    """And intervals over all launches, as if they were one sample, far less often."""
    generator = np.random.default_rng(allocations)
    how = {"allocations": allocations, "launches": launches}
    tries = [drawn(generator, **how, between=between, skewed=skewed) for _ in range(TRIES)]

    over = fmean(covers(typical_over(one)) for one in tries)
    together = fmean(covers(typical(pooled(one))) for one in tries)

    assert 0.93 <= over <= 0.97
    assert together < 0.85


def test_the_interval_is_student_t_over_log_medians() -> None:
    allocations = {"a": [1.0, 2.0, 9.0], "b": [4.0], "c": [3.0, 5.0]}
    logs = [log(2), log(4), log(4)]

    found = typical_over(allocations)

    half = scipy_stats.t.ppf(0.975, 2) * np.std(logs, ddof=1) / sqrt(3)
    assert found.value == pytest.approx(exp(fmean(logs)))
    assert (found.low, found.high) == pytest.approx(
        (exp(fmean(logs) - half), exp(fmean(logs) + half))
    )
    assert (found.n, found.allocations, found.method) == (6, 3, "interval over allocations")


def test_one_allocation_uses_its_launch_interval_with_a_note() -> None:
    sample = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]

    found = typical_over({"a": sample})

    assert found.allocations == 1
    assert (found.value, found.low, found.high, found.method) == (3.5, 1.0, 6.0, "rank interval")


def test_values_without_a_logarithm_are_refused() -> None:
    wrongs: list[Drawn] = [{}, {"a": [1.0, 0.0]}, {"a": [-1.0]}, {"a": []}]
    for wrong in wrongs:
        with pytest.raises(ValueError):
            typical_over(wrong)
    with pytest.raises(ValueError, match="one allocation"):
        components({"a": [1.0, 2.0]})


def test_variance_components_are_recovered() -> None:
    generator = np.random.default_rng(5)

    found = components(drawn(generator, allocations=2000, between=0.06, within=0.03))
    alike = components(drawn(generator, allocations=2000, between=0.0, within=0.03))
    single = components(drawn(generator, allocations=2000, launches=1, between=0.06, within=0.0))

    assert (found.between, found.within) == pytest.approx((0.06, 0.03), rel=0.05)
    assert alike.between < 0.005 and alike.within == pytest.approx(0.03, rel=0.05)
    assert single.between == pytest.approx(0.06, rel=0.05) and single.within is None


def test_variance_components_of_unequal_groups_are_recovered() -> None:
    generator = np.random.default_rng(6)

    def between() -> float:
        groups = {
            str(size): drawn(generator, allocations=1, launches=size, between=0.2)["job 0"]
            for size in (2, 3, 4, 60)
        }
        return components(groups).between

    assert sqrt(fmean(between() ** 2 for _ in range(TRIES))) == pytest.approx(0.2, rel=0.06)


def test_launches_are_weighted_by_the_variance_of_their_median() -> None:
    """Of four launches at exp(m +- d) in allocations at m = +-d, pi/2 4/3 d^2 / 4 < 5/3 d^2."""
    values = {str(m): [exp(0.1 * (m + sign)) for sign in (1, 1, -1, -1)] for m in (1, -1)}

    assert level_to_repeat(values, 0.02) == "allocation"


def test_another_allocation_is_needed_if_launches_cannot_help() -> None:
    generator = np.random.default_rng(7)
    steady = drawn(generator, allocations=4, between=0.1, within=0.001)
    noisy = drawn(generator, allocations=4, between=0.0, within=0.1)

    assert level_to_repeat({"a": [1.0] * 30}, 0.02) == "allocation"
    assert level_to_repeat(steady, 0.02) == "allocation"
    assert level_to_repeat(noisy, 0.02) == "launch"
    assert level_to_repeat({"a": [1.0], "b": [1.1]}, 0.02) == "launch"
    assert level_to_repeat({str(number): [1.0, 1.001] for number in range(4)}, 0.02) is None


def test_settings_are_compared_within_allocations() -> None:
    """What allocations differ in does not hide a difference of 1 %, nor makes one."""
    generator = np.random.default_rng(8)

    def both(ratio: float) -> tuple[Drawn, Drawn]:
        first: Drawn = {}
        second: Drawn = {}
        for number in range(5):
            level = exp(0.2 * generator.standard_normal())
            for side, factor in ((first, ratio), (second, 1.0)):
                noise = np.exp(0.005 * generator.standard_normal(6))
                side[str(number)] = (level * factor * noise).tolist()
        return first, second

    alike = [compare_over(*both(1.0)) for _ in range(500)]
    apart = [compare_over(*both(1.03)) for _ in range(200)]

    assert 0.03 <= fmean(one.p_value < 0.05 for one in alike) <= 0.07
    assert fmean(one.p_value < 0.05 for one in apart) > 0.95
    assert fmean(one.ratio is not None and covers(one.ratio, 1.03) for one in apart) > 0.92
    side, other = both(1.03)
    assert compare(pooled(side), pooled(other)).p_value > 0.05


def test_settings_in_different_allocations_are_compared_between_them() -> None:
    generator = np.random.default_rng(9)

    def pair() -> tuple[Drawn, Drawn]:
        return drawn(generator, allocations=4), drawn(generator, allocations=5)

    tries = [pair() for _ in range(1000)]

    over = fmean(compare_over(*one, apart=True).p_value < 0.05 for one in tries)
    together = fmean(compare(*map(pooled, one)).p_value < 0.05 for one in tries[:200])

    assert 0.01 <= over <= 0.05
    assert together > 0.3


@pytest.mark.parametrize("allocations", tried([3], [2, 4, 6]))
def test_two_kinds_of_allocations_do_not_show_a_difference(allocations: int) -> None:
    """As nodes near each other and far apart are: by chance one side has those of one kind."""
    generator = np.random.default_rng(allocations)

    def side() -> Drawn:
        kinds = generator.choice([1.0, 1.5], allocations)
        noise = np.exp(0.005 * generator.standard_normal(allocations))
        return {str(k): [one] for k, one in enumerate((kinds * noise).tolist())}

    tries = [compare_over(side(), side(), apart=True) for _ in range(1000)]

    assert fmean(one.p_value < 0.05 for one in tries) <= 0.05
    assert {one.attainable for one in tries} == {2 / comb(2 * allocations, allocations)}


def test_the_ratio_between_allocations_has_the_welch_interval() -> None:
    first, second = {"a": [1.0, 9.0, 2.0], "b": [3.0], "c": [2.5]}, {"a": [1.0], "b": [1.2]}
    logs = [[log(2), log(3), log(2.5)], [log(1.0), log(1.2)]]
    test = scipy_stats.ttest_ind(*logs, equal_var=False)
    ends = test.confidence_interval(0.95)

    found = compare_over(first, second, apart=True).ratio

    assert found is not None
    assert found.value == pytest.approx(exp(fmean(logs[0]) - fmean(logs[1])))
    assert (found.low, found.high) == pytest.approx((exp(ends.low), exp(ends.high)))
    assert (found.n, found.allocations) == (2, 2)


@pytest.mark.parametrize("names", [("a", "a"), ("a", "b")])
def test_single_allocations_are_compared_by_launches_only_if_identical(
    names: tuple[str, str],
) -> None:
    first, second = (
        {name: [at + k / 10 for k in range(6)]} for name, at in zip(names, (1.0, 2.0), strict=True)
    )

    found = compare_over(first, second)
    apart = compare_over(first, second, apart=True)

    same = names[0] == names[1]
    assert found.attainable == pytest.approx(2 / comb(12, 6) if same else 1.0)
    assert (apart.attainable, apart.p_value) == (1.0, 1.0)
    assert apart.ratio is not None and (apart.ratio.low, apart.ratio.high) == (None, None)


def test_single_allocations_compare_their_launches() -> None:
    first, second = {"a": [1.0, 1.1, 1.2]}, {"a": [2.0, 2.1, 2.2]}

    assert compare_over(first, second) == compare(first["a"], second["a"])
    assert median(first["a"]) == 1.1


def test_equal_medians_show_no_difference() -> None:
    alike = {str(number): [2.0, 2.0] for number in range(3)}

    found = compare_over(alike, alike)

    assert found.p_value == 1.0
    assert found.ratio is not None
    assert (found.ratio.value, found.ratio.low, found.ratio.high) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("first", "apart"),
    [
        ({"a": [2.0], "b": [2.0, 2.0]}, True),
        ({"a": [2.0]}, True),
        ({"c": [2.0], "d": [2.0]}, False),
    ],
)
def test_equal_medians_within_each_side_are_undecided(
    first: dict[str, list[float]], apart: bool
) -> None:
    found = compare_over(first, {"c": [1.0], "d": [1.0]}, apart=apart)

    assert found.p_value >= 0.05 and found.attainable >= 0.05
    assert found.ratio is not None
    assert (found.ratio.value, found.ratio.low, found.ratio.high) == (2.0, None, None)


def test_numbers_without_a_logarithm_are_compared_by_ranks() -> None:
    side = {str(k): [-1.0 - k / 10] for k in range(4)}

    found = compare_over(side, {key: [one + 5 for one in own] for key, own in side.items()})

    assert found.ratio is None and found.p_value == pytest.approx(2 / comb(8, 4))
