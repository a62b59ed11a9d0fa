# SPDX-License-Identifier: BSD-3-Clause
"""Enough launches in an allocation, and enough allocations: decided by what scatters."""

from __future__ import annotations

from random import Random

import pytest

from haloscope.stats import Rule
from haloscope.stats.allocations import typical_over
from haloscope.stats.enough import decide_over, enough_in, most_in_one
from haloscope.stats.estimates import median_interval
from haloscope.stats.sequential import decide

RULE = Rule(half_width=0.02, fewest=7, most=30)
STEADY = [1.0, 1.001, 0.999]


def test_a_first_allocation_needs_only_a_few_launches() -> None:
    assert not enough_in([{"1": [1.0, 1.1]}], "1", RULE)
    assert enough_in([{"1": [1.0, 1.1, 1.2]}], "1", RULE)


def test_a_new_allocation_needs_launches() -> None:
    assert not enough_in([{"1": STEADY}], "2", RULE)


def test_if_allocations_vary_more_launches_do_not_help() -> None:
    assert enough_in([{"1": STEADY, "2": [1.1 * one for one in STEADY]}], "2", RULE)


def test_if_launches_vary_more_are_made_up_to_a_limit() -> None:
    wild = [1.0, 1.3, 0.8, 1.2, 0.9, 1.1]
    assert most_in_one(RULE) == 6

    assert not enough_in([{"1": wild[:3], "2": wild[:3]}], "2", RULE)
    assert not enough_in([{"1": wild[:3], "2": wild[:5]}], "2", RULE)
    assert enough_in([{"1": wild[:3], "2": wild}], "2", RULE)


def test_every_time_of_a_case_must_have_enough_launches() -> None:
    wild = [1.0, 1.3, 0.8]
    between = {"1": STEADY, "2": [1.1 * one for one in STEADY]}

    assert enough_in([between, between], "2", RULE)
    assert not enough_in([between, {"1": wild, "2": wild}], "2", RULE)


def spread(*shifts: float) -> dict[str, list[float]]:
    return {str(key): [shift * one for one in STEADY] for key, shift in enumerate(shifts)}


def test_no_precision_is_reached_with_few_allocations() -> None:
    assert decide_over([spread(*[1.0] * 4)], 1.0, RULE) == "go on"
    assert decide_over([spread(*[1.0] * 5)], 1.0, RULE) == "narrow"


def test_an_interval_must_be_narrow_without_the_last_allocation_too() -> None:
    wide = [1.013, 0.987, 1.013, 0.987]  # of four +-2.4 %, with one in their middle +-1.6 %

    assert decide_over([spread(*wide, 1.0)], 1.0, RULE) == "go on"
    assert decide_over([spread(*wide, 1.0, 1.0)], 1.0, RULE) == "narrow"
    assert decide_over([spread(1.0, 1.0, 1.001, 1.0, 1.04)], 1.0, RULE) == "go on"


def test_every_time_of_a_case_must_have_a_narrow_interval() -> None:
    wide = spread(1.0, 1.5, 0.7, 1.2, 0.9)

    assert decide_over([spread(*[1.0] * 5), wide], 1.0, RULE) == "go on"


def test_launches_and_time_are_limited() -> None:
    wide = spread(*(1.0 + key % 2 for key in range(10)))

    assert decide_over([wide], 1.0, RULE) == "count"
    few = spread(1.0, 2.0)
    assert decide_over([few], 1.0, Rule(0.02, 7, 30, most_s=1.1)) == "time"
    assert decide_over([few], 1.0, Rule(0.02, 7, 30, most_s=1.2)) == "go on"


@pytest.mark.parametrize(
    ("between", "within", "most_pooled"), [(0.03, 0.01, 0.5), (0.01, 0.02, 0.9)]
)
def test_intervals_after_stopping_have_nominal_coverage(
    between: float, within: float, most_pooled: float
) -> None:
    """Pooled launches stop in their first allocation, and are right about that one alone."""
    chance, right, right_pooled, tries = Random(7), 0, 0, 120
    rule = Rule(half_width=0.03, fewest=7, most=60)
    for _ in range(tries):
        sample: dict[str, list[float]] = {}
        pooled: list[float] = []
        while decide_over([sample], 1.0, rule) == "go on" if sample else True:
            here = str(len(sample))
            shift = chance.gauss(0, between)
            while not enough_in([sample], here, rule) if sample.get(here) else True:
                time = 2.718281828 ** (shift + chance.gauss(0, within))
                sample.setdefault(here, []).append(time)
            if not pooled:
                pooled = [2.718281828 ** (shift + chance.gauss(0, within)) for _ in range(7)]
                while decide([pooled], 1.0, rule) == "go on":
                    pooled.append(2.718281828 ** (shift + chance.gauss(0, within)))
        found, of_one = typical_over(sample), median_interval(pooled)
        right += found.low is not None and found.high is not None and found.low <= 1 <= found.high
        assert of_one.low is not None and of_one.high is not None
        right_pooled += of_one.low <= 1 <= of_one.high
    assert right / tries >= 0.9
    assert right_pooled / tries < most_pooled
