# SPDX-License-Identifier: BSD-3-Clause
"""Ids of cases, plans as they are saved, and the order of launches."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from plans import planned

from haloscope.records.folder import plan_of
from haloscope.stats import Rule
from haloscope.study.case import Case, Launch
from haloscope.study.plan import SavedPlan
from haloscope.study.values import SEED_LIMIT


def test_an_id_depends_only_on_the_settings() -> None:
    (case,) = planned({"params": {"n": 8}}).cases
    assert case.id == planned({"launches": 5}, launches=2).cases[0].id == "da341349395f"
    for other in (
        replace(case, params={**case.params, "n": 9}),
        replace(case, layout=replace(case.layout, bind="spread")),
        replace(case, toolchain="mpich"),
        replace(case, transport="tcp"),
        replace(case, kernel="empty"),
    ):
        assert other.id != case.id


def test_a_case_survives_serialisation() -> None:
    cases = planned({"layout": {"ppn": [1, 2], "places": "sockets"}}).cases
    plan = SavedPlan("mine", "ours", 1, cases, ("a note",), {}, {"host": "here"}, rule=Rule())

    again = plan_of(json.dumps(plan.as_dict()).encode())

    assert again == plan
    assert [case.id for case in again.cases] == [case.id for case in cases]


@pytest.mark.parametrize("seed", [0, SEED_LIMIT])
def test_the_ends_of_the_range_of_seeds_are_valid(seed: int) -> None:
    plan = SavedPlan("mine", "ours", seed, planned({}).cases, (), {}, {"host": "here"})

    assert plan_of(json.dumps(plan.as_dict()).encode()) == plan


@pytest.mark.parametrize("seed", [-1, SEED_LIMIT + 1])
def test_other_seeds_are_invalid(seed: int) -> None:
    plan = SavedPlan("mine", "ours", seed, planned({}).cases, (), {}, {"host": "here"})

    with pytest.raises(ValueError, match="seed"):
        plan_of(json.dumps(plan.as_dict()).encode())


def test_a_plan_older_than_best_fit_keeps_its_ids() -> None:
    cases = planned({"layout": {"ppn": [1, 2]}}).cases
    plan = SavedPlan("mine", "ours", 1, cases, (), {}, {"host": "here"})
    saved = plan.as_dict()
    for case in saved["cases"]:
        assert case["layout"]["allocation"] == "best_fit"
        case["layout"]["allocation"] = "contiguous"  # the default of then, which no id contains

    assert plan_of(json.dumps(saved).encode()) == plan

    asked = tuple(
        replace(one, layout=replace(one.layout, allocation="contiguous")) for one in cases
    )
    today = replace(plan, cases=asked)  # and cases that request it keep it
    assert plan_of(json.dumps(today.as_dict()).encode()) == today


def test_a_plan_older_than_thread_binding_keeps_its_ids() -> None:
    axes = {"ppn": [1, 2], "threads": [1, 2], "bind": ["close", "spread", "none"]}
    as_ranks = tuple(
        replace(one, layout=replace(one.layout, thread_bind=one.layout.bind))
        if one.layout.threads > 1 and one.layout.bind != "none"
        else one
        for one in planned({"layout": axes}).cases
    )
    plan = SavedPlan("mine", "ours", 1, as_ranks, (), {}, {"host": "here"})
    saved = plan.as_dict()
    for case in saved["cases"]:
        del case["layout"]["thread_bind"]

    assert plan_of(json.dumps(saved).encode()) == plan


def schedule(cases: Sequence[Case], seed: int) -> list[Launch]:
    return SavedPlan("x", "x", seed, tuple(cases), (), {}, {}).launches()


def test_the_schedule_shuffles_all_cases_in_each_round() -> None:
    cases = planned({"params": {"n": list(range(8, 28))}}, launches=3).cases
    launches = schedule(cases, seed=1)
    rounds = [launches[20 * k : 20 * k + 20] for k in range(3)]
    orders = [[launch.case.id for launch in one] for one in rounds]
    assert [{launch.number for launch in one} for one in rounds] == [{0}, {1}, {2}]
    assert [Counter(order) for order in orders] == [Counter(case.id for case in cases)] * 3
    assert orders[0] != orders[1] != orders[2]
    assert launches == schedule(cases, seed=1)
    assert launches != schedule(cases, seed=2)


def test_each_case_has_the_requested_number_of_launches() -> None:
    few, many = planned({"params": {"n": [8, 9]}}).cases
    launches = schedule([replace(few, launches=2), replace(many, launches=4)], seed=0)
    assert sorted(launch.number for launch in launches if launch.case.id == few.id) == [0, 1]
    assert sorted(launch.number for launch in launches if launch.case.id == many.id) == [0, 1, 2, 3]


def test_more_launches_do_not_change_the_first_rounds() -> None:
    cases = planned({"params": {"n": [8, 9, 10, 11]}}, launches=2).cases
    more = [replace(case, launches=4) for case in cases]
    order = [(launch.case.id, launch.number) for launch in schedule(cases, seed=3)]
    assert [(launch.case.id, launch.number) for launch in schedule(more, seed=3)][:8] == order
