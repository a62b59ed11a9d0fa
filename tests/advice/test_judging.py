# SPDX-License-Identifier: BSD-3-Clause
"""How candidates are compared, and which one is advised."""

from __future__ import annotations

from haloscope.advice.candidates import Candidate
from haloscope.advice.judging import Band, Goal, Option, Sureness, advice, cheapest, parted
from haloscope.stats.estimates import Estimate

BAND = Band(median=0.02, worst=0.3, tables=("a paper, table 1",), own=True)


def option(nodes: int, value: float, low: float | None = None, high: float | None = None) -> Option:
    estimate = Estimate(value, low, high, 6, "rank interval" if low is not None else "none")
    return Option(Candidate(64, nodes, 1, "close"), estimate)


def test_the_fastest_is_advised_and_is_sure_beyond_the_largest_error() -> None:
    few, many = option(2, 1.0), option(4, 0.6)
    found = advice([few, many], few.candidate, Goal.TIME, BAND)
    assert (found.advised, found.verdict) == (many, Sureness.YES)
    assert found.gain == 1 / 0.6
    assert found.front == (many, few)


def test_within_the_largest_error_it_is_likely() -> None:
    few, many = option(2, 1.0), option(4, 0.9)
    assert advice([few, many], few.candidate, Goal.TIME, BAND).verdict is Sureness.LIKELY


def test_within_the_median_error_it_is_possible() -> None:
    few, many = option(2, 1.0), option(4, 0.9)
    band = Band(0.2, 0.3, ("a paper, table 1",), own=True)
    assert advice([few, many], few.candidate, Goal.TIME, band).verdict is Sureness.POSSIBLE


def test_within_the_median_error_the_default_is_advised() -> None:
    few, many = option(2, 1.0), option(4, 0.99)
    found = advice([few, many], few.candidate, Goal.TIME, BAND)
    assert (found.advised, found.verdict, found.gain) == (few, Sureness.NO_DIFFERENCE, 1.0)


def test_among_layouts_that_are_alike_the_cheapest_is_advised() -> None:
    usual, middle, most = option(2, 1.0), option(4, 0.505), option(8, 0.5)
    assert advice([usual, middle, most], usual.candidate, Goal.TIME, BAND).advised is middle


def test_node_hours_are_a_goal_of_their_own() -> None:
    few, many = option(2, 1.0), option(4, 0.6)
    found = advice([few, many], many.candidate, Goal.NODE_HOURS, BAND)
    assert (found.advised, found.gain) == (few, 2.4 / 2.0)
    assert found.verdict is Sureness.LIKELY


def test_what_was_never_validated_says_so() -> None:
    few, many = option(2, 1.0), option(4, 0.2)
    band = Band(0.02, 0.3, (), own=False)
    assert advice([few, many], few.candidate, Goal.TIME, band).verdict is Sureness.NOT_VALIDATED


def test_intervals_part_if_no_two_overlap() -> None:
    low, middle, high = option(1, 1.0, 0.9, 1.1), option(1, 1.1, 1.05, 1.2), option(1, 2, 1.9, 2.1)
    assert parted([high, low])
    assert not parted([high, low, middle])
    assert not parted([high, option(1, 1.0)])


def test_measured_times_need_intervals_apart() -> None:
    usual, near, far = (
        option(1, 1.0, 0.9, 1.1),
        option(1, 0.95, 0.85, 1.0),
        option(1, 0.7, 0.6, 0.8),
    )
    assert advice([usual, near], usual.candidate, Goal.TIME, None).advised is usual
    found = advice([usual, near, far], usual.candidate, Goal.TIME, None)
    assert (found.advised, found.verdict) == (far, Sureness.YES)
    one_launch = option(1, 0.1)
    assert advice([usual, one_launch], usual.candidate, Goal.TIME, None).advised is usual


def test_an_option_that_is_slower_and_dearer_is_not_on_the_front() -> None:
    few, worse, many = option(2, 1.0), option(4, 1.1), option(8, 0.5)
    assert advice([few, worse, many], few.candidate, Goal.TIME, BAND).front == (many, few)


def test_the_cheapest_depend_on_the_goal() -> None:
    few, some, many = option(2, 1.0), option(4, 0.9), option(8, 0.5)
    assert cheapest([few, some, many], Goal.TIME, 2) == [many, some]
    assert cheapest([few, some, many], Goal.NODE_HOURS, 2) == [few, some]
