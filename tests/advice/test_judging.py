# SPDX-License-Identifier: BSD-3-Clause
"""How candidates are compared, and which one is advised."""

from __future__ import annotations

from dataclasses import replace

import pytest

from haloscope.advice.candidates import Candidate
from haloscope.advice.judging import Goal, Option, Sureness, advice, cheapest
from haloscope.analysis.validation.bands import Basis, Subject, known
from haloscope.stats.estimates import Estimate, typical
from haloscope.study.settings import Settings

PROGRAM: Settings = {"n": 4096, "variant": "textbook", "exchange": "nonblocking"}


def option(
    nodes: int,
    value: float,
    low: float | None = None,
    high: float | None = None,
    on: str | None = None,
) -> Option:
    """One of 64 tasks; on: the cluster that it was simulated on."""
    estimate = Estimate(value, low, high, 6, "rank interval" if low is not None else "none")
    where: Settings = {**PROGRAM, "nodes": nodes, "ppn": 64 // nodes, "threads": 1}
    subject = None if on is None else Subject(on, "", "poisson_cg", where)
    return Option(Candidate.of(64, nodes), estimate, subject)


def simulated(nodes: int, value: float, on: str = "stampede2") -> Option:
    return option(nodes, value, on=on)


def factor() -> float:
    """The error of ratios between numbers of nodes."""
    one, other = simulated(2, 1.0).subject, simulated(4, 1.0).subject
    assert one is not None and other is not None
    return known().ratio(one, other).factor


def test_a_layout_is_advised_if_its_lead_exceeds_the_ratio_error() -> None:
    few, many = simulated(2, 1.0), simulated(4, 0.99 / factor())
    found = advice([few, many], few.candidate, Goal.TIME)
    assert (found.advised, found.verdict) == (many, Sureness.YES)
    assert found.gain.value == 1 / many.seconds
    assert found.front == (many, few)
    assert found.band is not None and found.band.basis is Basis.OWN


def test_a_lead_within_the_ratio_error_is_only_possible() -> None:
    few, many = simulated(2, 1.0), simulated(4, 1.01 / factor())
    found = advice([few, many], few.candidate, Goal.TIME)
    assert (found.advised, found.verdict) == (many, Sureness.POSSIBLE)
    assert found.band is not None and found.band.factor == factor()


def test_the_default_is_advised_in_a_tie() -> None:
    few, many = simulated(2, 1.0), simulated(4, 0.96)
    found = advice([few, many], few.candidate, Goal.TIME)
    assert (found.advised, found.verdict, found.gain.value) == (few, Sureness.NO_DIFFERENCE, 1.0)


def test_among_equal_layouts_the_cheapest_is_advised() -> None:
    usual, middle, most = simulated(2, 1.0), simulated(4, 0.505), simulated(8, 0.5)
    assert advice([usual, middle, most], usual.candidate, Goal.TIME).advised is middle


def test_node_hours_can_be_the_goal() -> None:
    few, many = simulated(2, 1.0), simulated(4, 0.9)
    found = advice([few, many], many.candidate, Goal.NODE_HOURS)
    assert (found.advised, found.gain.value) == (few, 3.6 / 2.0)
    assert found.verdict is Sureness.YES


def test_an_unvalidated_simulation_is_reported() -> None:
    few, many = simulated(2, 1.0, "no-such"), simulated(4, 0.01, "no-such")
    found = advice([few, many], few.candidate, Goal.TIME)
    assert (found.advised, found.verdict) == (many, Sureness.NOT_VALIDATED)
    assert found.band is not None and found.band.of


def test_layouts_of_a_regime_without_published_cells_are_unvalidated() -> None:
    few, many = simulated(8, 1.0, "tara"), simulated(16, 0.1, "tara")
    assert many.subject is not None
    threads = replace(many.subject, settings={**many.subject.settings, "ppn": 4, "threads": 8})
    threaded = Option(replace(many.candidate, threads=8), many.time, threads)
    sure, unsure = (advice([few, one], few.candidate, Goal.TIME) for one in (many, threaded))
    assert (sure.verdict, sure.beyond) == (Sureness.YES, "")
    assert (unsure.verdict, unsure.band and unsure.band.own) == (Sureness.NOT_VALIDATED, True)
    assert "threads" in unsure.beyond


def test_meshes_beyond_the_published_ones_are_unvalidated() -> None:
    usual, fast = simulated(1, 1.0), simulated(2, 0.1)
    assert usual.subject is not None and fast.subject is not None
    small = [
        replace(one, subject=replace(one.subject, settings={**one.subject.settings, "n": 512}))
        for one in (usual, fast)
        if one.subject
    ]
    assert advice([usual, fast], usual.candidate, Goal.TIME).verdict is Sureness.YES
    found = advice(small, usual.candidate, Goal.TIME)
    assert (found.verdict, found.advised.candidate) == (Sureness.NOT_VALIDATED, fast.candidate)
    assert found.beyond.startswith("n = 512 (1024 to ")


def measured(nodes: int, *rounds_s: float) -> Option:
    """One of 64 tasks that was launched so many times."""
    time = typical(rounds_s)
    return Option(Candidate.of(64, nodes), time, rounds_s=dict(enumerate(rounds_s)))


def test_a_measured_gain_must_be_statistically_significant() -> None:
    usual = measured(1, 1.0, 1.1, 0.9, 1.0, 1.2, 1.0)
    near = measured(1, 0.95, 1.12, 0.85, 1.0, 1.1, 1.0)
    far = measured(1, 0.7, 0.8, 0.6, 0.75, 0.7, 0.7)
    assert advice([usual, near], usual.candidate, Goal.TIME).advised is usual
    found = advice([usual, near, far], usual.candidate, Goal.TIME)
    assert (found.advised, found.verdict) == (far, Sureness.YES)
    one_launch = measured(1, 0.1)
    assert advice([usual, one_launch], usual.candidate, Goal.TIME).advised is usual


def test_measured_times_are_compared_per_round() -> None:
    usual = measured(1, 1.0, 2.0, 4.0, 1.5, 3.0, 5.0)
    faster = measured(2, *(0.9 * time for time in usual.rounds_s.values()))
    found = advice([usual, faster], usual.candidate, Goal.TIME)
    assert found.advised is faster, "their intervals overlap, and every round is faster"
    assert (found.gain.low, found.gain.high) == pytest.approx((1 / 0.9, 1 / 0.9))
    few = measured(2, 0.5, 1.0, 2.0, 0.7, 1.5)
    assert advice([usual, few], usual.candidate, Goal.TIME).advised is usual, "five rounds"
    one_round = replace(faster, rounds_s={1: 1.8, 7: 0.1})
    assert advice([usual, one_round], usual.candidate, Goal.TIME).advised is usual
    none = replace(faster, rounds_s={9: 0.1})
    assert advice([usual, none], usual.candidate, Goal.TIME).advised is usual


def test_the_gain_of_measured_layouts_has_an_interval() -> None:
    usual = measured(2, *[0.9, 1.0, 1.1] * 3)
    half = measured(4, *[0.18, 0.2, 0.22, 0.2, 0.22, 0.18, 0.2, 0.2, 0.2])
    found = advice([usual, half], usual.candidate, Goal.TIME).gain
    assert (found.low, found.value, found.high) == pytest.approx((4.5, 5.0, 5.5))
    cheaper = advice([usual, half], usual.candidate, Goal.NODE_HOURS).gain
    assert cheaper.value == 2.5
    assert advice([usual], usual.candidate, Goal.TIME).gain.low is None


def test_a_slower_and_more_expensive_option_is_not_on_the_front() -> None:
    few, worse, many = option(2, 1.0), option(4, 1.1), option(8, 0.5)
    assert advice([few, worse, many], few.candidate, Goal.TIME).front == (many, few)


def test_the_cheapest_depend_on_the_goal() -> None:
    few, some, many = option(2, 1.0), option(4, 0.9), option(8, 0.5)
    assert cheapest([few, some, many], Goal.TIME, 2) == [many, some]
    assert cheapest([few, some, many], Goal.NODE_HOURS, 2) == [few, some]
