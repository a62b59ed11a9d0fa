# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from haloscope.stats import Rule
from haloscope.stats.estimates import median_interval, ratio_by_round
from haloscope.stats.sequential import decide, parted, steady_medians, warmup, warmup_if_any

Array = npt.NDArray[np.float64]


def series(seed: int, launches: int, repetitions: int, noise: float = 0.02) -> Array:
    """Steady launches of different speed, with some spikes of one repetition."""
    generator = np.random.default_rng(seed)
    logs = 0.05 * generator.standard_normal((launches, 1))
    logs = logs + noise * generator.standard_normal((launches, repetitions))
    spikes = np.where(generator.random((launches, repetitions)) < 0.02, 0.5, 0.0)
    return np.asarray(np.exp(logs + spikes), dtype=np.float64)


def rows(table: Array) -> list[list[float]]:
    return [[float(value) for value in launch] for launch in table]


@pytest.mark.parametrize("launches", [1, 10])
def test_slow_initial_repetitions_are_warmup(launches: int) -> None:
    slow = np.where(np.arange(50) < 4, 1.4, 1.0)
    found = [warmup(rows(series(seed, launches, 50) * slow)) for seed in range(60)]
    assert all(one.repetitions >= 4 for one in found)
    assert np.median([one.repetitions for one in found]) <= 6
    assert sum(one.settled for one in found) >= 57


@pytest.mark.parametrize("launches", [1, 10])
def test_steady_launches_lose_few_repetitions(launches: int) -> None:
    found = [warmup(rows(series(seed, launches, 50))) for seed in range(60)]
    assert np.mean([one.repetitions for one in found]) < 5
    assert sum(one.settled for one in found) >= 57


def test_a_decaying_warmup_leaves_less_than_one_percent() -> None:
    decay = 1 + 0.3 * np.exp(-np.arange(100) / 6)
    for seed in range(20):
        found = warmup(rows(series(seed, 10, 100) * decay))
        assert found.settled
        assert decay[found.repetitions :].mean() < 1.01


def test_series_with_constant_drift_are_not_steady() -> None:
    drift = np.exp(0.2 * np.arange(60) / 60)
    for seed in range(20):
        found = warmup(rows(series(seed, 8, 60) * drift))
        assert not found.settled


@pytest.mark.parametrize(
    ("growth", "settled"), [(-0.1, False), (-0.004, True), (0.004, True), (0.1, False)]
)
def test_drift_in_either_direction_beyond_one_percent_is_not_steady(
    growth: float, settled: bool
) -> None:
    """The second half over the first changes by half of the growth."""
    drift = np.exp(growth * np.arange(60) / 60)
    found = [warmup(rows(series(seed, 8, 60, noise=0.002) * drift)) for seed in range(20)]
    assert {one.settled for one in found} == {settled}


def test_a_short_drift_within_one_launch_is_not_steady() -> None:
    still_falling = np.exp(-0.02 * np.arange(40))
    found = warmup(rows(series(0, 1, 40, noise=0.005) * still_falling))
    assert not found.settled


def test_a_spike_in_one_launch_is_not_warmup() -> None:
    table = series(3, 5, 40)
    table[2, 10] *= 50
    assert warmup(rows(table)).repetitions < 10


def test_a_spike_in_a_single_launch_is_not_warmup() -> None:
    cut = 0
    for seed in range(40):
        table = series(seed, 1, 60, noise=0.01)
        table[0, 20] *= 50
        cut += warmup(rows(table)).repetitions > 20
    assert cut <= 12


def test_launches_of_different_speed_have_equal_weight() -> None:
    table = np.array([[1.0], [10.0], [100.0]]) * np.ones(40)
    table[1, :5] *= 1.4  # of the launch in the middle alone
    assert warmup(rows(table)).repetitions == 0


def test_a_coarse_clock_does_not_hide_the_warmup() -> None:
    table = np.full((1, 40), 2e-7)
    table[0, :3] = 4e-7
    table[0, 20] = 3e-7
    assert warmup(rows(table)).repetitions == 3


@pytest.mark.parametrize("repetitions", [3, 5])
def test_launches_agree_on_the_warmup_of_short_series(repetitions: int) -> None:
    slow = np.where(np.arange(repetitions) < 1, 1.2, 1.0)
    found = [warmup(rows(series(seed, 10, repetitions) * slow)) for seed in range(60)]
    assert sum(one.repetitions == 1 and one.settled for one in found) >= 50
    alike = [warmup(rows(series(seed, 10, repetitions))) for seed in range(60)]
    assert sum(one.repetitions == 0 for one in alike) >= 54


def test_short_series_that_decrease_to_their_end_are_not_steady() -> None:
    falling = np.array([1.5, 1.3, 1.1, 1.0])
    assert not warmup(rows(series(0, 10, 4, noise=0.005) * falling)).settled


def test_the_time_of_a_launch_is_the_median_of_its_steady_part() -> None:
    warm = [[2.0, 1.8, 1.0, 1.001, 1.0]] * 6
    assert warmup(warm).repetitions == 2
    assert steady_medians(warm) == [1.0] * 6
    assert steady_medians(warm[:5]) == [1.001] * 5
    assert steady_medians([[1.5, 1.3, 1.1, 1.0]] * 6) == [pytest.approx(1.2)] * 6
    assert warmup_if_any([[1.0, 2.0]]) is None


@pytest.mark.parametrize(
    ("launches", "said"),
    [
        ([[1.0] * 20, [1.0] * 21], "equally many"),
        ([[1.0] * 19], "20 repetitions or more"),
        ([[1.0] * 19] * 5, "20 repetitions or more"),
        ([[1.0] * 2] * 6, "3 of 6 launches or more"),
        ([[0.0] * 20], "positive"),
        ([], "equally many"),
    ],
)
def test_uninformative_series_are_refused(launches: list[list[float]], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        warmup(launches)


STEADY = [1.0, 1.01, 0.99, 1.0, 1.01, 0.99, 1.0, 1.01, 0.99, 1.0, 1.0]
WIDE = [1.0, 1.5, 0.7, 1.2, 0.9, 1.4, 0.8, 1.3, 1.1, 0.6, 1.0]


def test_narrow_intervals_stop_a_case() -> None:
    assert decide([STEADY], 1.0, Rule(half_width=0.02)) == "narrow"


def test_one_narrow_interval_is_not_enough() -> None:
    """Nine launches are the first whose interval leaves out the extremes; with eight it is wide."""
    sample = [1.3, 0.7, *[1.0] * 8]
    rule = Rule(fewest=7)
    eight, nine, ten = (decide([sample[:n]], 0.0, rule) for n in (8, 9, 10))
    assert (eight, nine, ten) == ("go on", "go on", "narrow")


def test_too_few_launches_continue_even_if_equal() -> None:
    assert decide([[1.0] * 9], 0.0, Rule(fewest=10)) == "go on"
    assert decide([[1.0] * 10], 0.0, Rule(fewest=10)) == "narrow"
    assert decide([[1.0] * 5], 0.0, Rule()) == "go on"


def test_the_launch_limit_is_named() -> None:
    assert decide([WIDE], 1.0, Rule(half_width=0.01, most=11)) == "count"
    assert decide([WIDE], 1.0, Rule(half_width=0.01, most=12)) == "go on"


def test_the_time_limit_is_named_before_it_is_exceeded() -> None:
    rule = Rule(half_width=0.01, most_s=120.0)
    assert decide([WIDE], 111.0, rule) == "time"  # eleven launches: the next would end at 121
    assert decide([WIDE], 109.0, rule) == "go on"
    assert decide([[1.0]], 70.0, rule) == "time"


def test_every_point_must_have_a_narrow_interval() -> None:
    assert decide([STEADY, WIDE, STEADY], 1.0, Rule()) == "go on"
    assert decide([STEADY, STEADY], 1.0, Rule()) == "narrow"


def test_stopping_nearly_preserves_the_coverage_of_intervals() -> None:
    """Looking after every launch, over 150 settings; launches are skewed as real ones are."""
    rule = Rule(half_width=0.02, fewest=7, most=40)
    held = 0
    reasons: dict[str, int] = {}
    for seed in range(150):
        sample = list(1 + 0.05 * np.random.default_rng(seed).exponential(size=rule.most))
        launches = next(
            n for n in range(1, rule.most + 1) if decide([sample[:n]], 0.0, rule) != "go on"
        )
        why, found = decide([sample[:launches]], 0.0, rule), median_interval(sample[:launches])
        reasons[why] = reasons.get(why, 0) + 1
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 1 + 0.05 * np.log(2) <= found.high
    assert held >= 136
    assert reasons["narrow"] > 100
    assert set(reasons) <= {"narrow", "count"}


@pytest.mark.parametrize(
    "samples", [[], [[]], [[1.0, 2.0], [1.0]], [[0.0]]], ids=["none", "empty", "unlike", "zero"]
)
def test_samples_that_cannot_decide_are_refused(samples: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="equally many|positive"):
        decide(samples, 0.0, Rule())


@pytest.mark.parametrize(
    "change", [{"half_width": 0.0}, {"half_width": 1.0}, {"fewest": 6}, {"fewest": 31}]
)
def test_impossible_rules_are_refused(change: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="half width|at least 7 launches"):
        Rule(**change)  # type: ignore[arg-type]


def test_samples_separate_if_every_pair_differs_round_by_round() -> None:
    low, middle, high = (
        {k: value + k / 10 for k in range(6)} for value in (1.0, 1.01, 2.0)
    )  # fmt: skip
    assert parted([high, low, middle]), "though the intervals of low and middle overlap"
    assert not parted([high, low, {**middle, 3: 0.5}]), "middle is faster in one of six rounds"
    assert not parted([high, dict.fromkeys(range(5), 1.0)]), "five rounds have no interval"
    assert not parted([high, {10 + k: 1.0 for k in range(6)}]), "of different rounds"
    assert ratio_by_round({0: 1.0}, {1: 1.0}) is None
    found = ratio_by_round({0: 3.0, 1: 2.0, 2: 9.0}, {2: 3.0, 1: 2.0, 0: 1.5})
    assert found and (found.low, found.value, found.high) == (1.0, 2.0, 3.0)
    assert [found.excludes(value) for value in (0.9, 1.0, 3.0, 3.1)] == [True, False, False, True]
    assert not median_interval([1.0]).excludes(5.0), "it has no interval"
