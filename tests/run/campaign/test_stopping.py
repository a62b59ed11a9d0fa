# SPDX-License-Identifier: BSD-3-Clause
"""A study with a precision: cases stop when their intervals are narrow enough."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes import STUDY, Laboratory

from haloscope.errors import UserError
from haloscope.layout import Layout
from haloscope.records.attempts import Attempt
from haloscope.records.log import read
from haloscope.run.campaign.stopping import Parting, Precision
from haloscope.stats import Rule
from haloscope.study.case import Case, Launch
from haloscope.study.file import load
from haloscope.study.schema import Study, stopping_rule

RULE = Rule(half_width=0.02, fewest=7, most=12)


def tried(case: str, time: float, outcome: str = "ok", launch: int = 0) -> Attempt:
    return Attempt(case, launch, outcome, "here", 1.0, 1, None, ([time],))


def fed(times: list[float]) -> Precision:
    return Precision(RULE, (tried("a", time) for time in times))


def test_a_case_is_done_after_two_narrow_intervals() -> None:
    assert fed([1.0] * 6).done == {}
    assert fed([1.0] * 7).done == {"a": "narrow"}
    assert fed([2.0, *[1.0] * 6]).done == {}


def test_a_noisy_case_continues_to_the_limit() -> None:
    wide = [1.0, 2.0] * 6
    assert fed(wide[:11]).done == {}
    assert fed(wide).done == {"a": "count"}


def test_a_launch_counts_by_the_median_of_its_repetitions() -> None:
    spiky = (replace(tried("a", 1.0), times_s=([1.0, 1.0, 2.0 + k],)) for k in range(7))
    assert Precision(RULE, spiky).done == {"a": "narrow"}


def test_a_launch_with_different_points_is_ignored() -> None:
    """As a record that was damaged has them: the campaign goes on without it."""

    def swept(points: int, times: list[float]) -> Attempt:
        return replace(tried("a", 1.0), times_s=(times,) * points)

    launches = [swept(2, [1.0])] * 6
    odd = [swept(1, [1.0]), swept(2, [])]

    assert Precision(RULE, [*launches, *odd]).done == {}
    assert Precision(RULE, [*launches, *odd, swept(2, [1.0])]).done == {"a": "narrow"}


def test_a_failed_launch_is_ignored() -> None:
    stopping = fed([1.0] * 6)
    assert not stopping.add(tried("a", 1.0, "failed", 6))
    assert stopping.launches("a") == 7
    assert stopping.add(tried("a", 1.0))


def test_a_case_without_completed_launches_stops_at_the_time_limit() -> None:
    stopping = Precision(Rule(half_width=0.02, fewest=7, most=12, most_s=1.5), ())
    assert not stopping.add(tried("a", 1.0, "timeout"))
    assert stopping.add(tried("a", 1.0, "timeout", 1))
    assert (stopping.done, stopping.launches("a")) == ({"a": "time"}, 2)


def test_a_launch_that_failed_before_its_case_was_done_is_retried() -> None:
    """The end of a campaign was skipped, and the folder was never complete."""
    case = Case("fake", {}, {}, Layout(), "fake", 0, 12, 1.0, 0)
    good = (tried(case.id, 1.0, launch=k) for k in (0, 1, 2, 4, 5, 6, 7))
    stopping = Precision(RULE, good)
    left = [Launch(case, number) for number in (3, 8, 9)]
    assert [launch.number for launch in stopping.needed(left)] == [3]


def test_a_resumed_campaign_retries_launches_without_a_result() -> None:
    rule = Rule(half_width=0.02, fewest=7, most=12, most_s=1.5)
    earlier = [tried("a", 1.0, "timeout", launch) for launch in range(2)]
    assert Precision(rule, earlier).done == {}


def test_every_size_of_a_sweep_must_have_a_narrow_interval() -> None:
    def sweep(k: int) -> Attempt:
        return replace(tried("a", 1.0), times_s=([1.0], [1.0 + k % 2]))

    assert Precision(RULE, (sweep(k) for k in range(9))).done == {}


def in_job(job: str, case: str, launch: int, time: float) -> Attempt:
    return replace(tried(case, time, launch=launch), allocation=(job, 0))


def test_a_case_with_enough_launches_waits_for_another_allocation() -> None:
    case = Case("fake", {}, {}, Layout(), "fake", 0, 12, 1.0, 0)
    stopping = Precision(RULE, ())
    left = [Launch(case, number) for number in range(12)]

    for number, launch in enumerate(stopping.needed(left)):
        stopping.add(in_job("1", case.id, number, 1.0))
        assert launch.number == number

    assert number == 2
    assert stopping.done == {}


def test_another_allocation_continues_a_case_until_it_is_done() -> None:
    case = Case("fake", {}, {}, Layout(), "fake", 0, 30, 1.0, 0)
    rule = Rule(half_width=0.05, fewest=7, most=30)
    before: list[Attempt] = []
    for job in range(1, 7):
        stopping = Precision(rule, before)
        left = [Launch(case, number) for number in range(len(before), 30)]
        for launch in stopping.needed(left):
            time = 1.0 + 0.01 * (job % 2) + 0.0001 * (launch.number % 3)
            before.append(in_job(str(job), case.id, launch.number, time))
            if stopping.add(before[-1]):
                break

    assert [one.allocation and one.allocation[0] for one in before] == [*"111222333444555"]
    assert stopping.done == {case.id: "narrow"}


def test_a_restarted_job_is_another_allocation() -> None:
    case = Case("fake", {}, {}, Layout(), "fake", 0, 12, 1.0, 0)
    stopping = Precision(RULE, (in_job("1", case.id, number, 1.0) for number in range(3)))
    again = in_job("1", case.id, 3, 1.0)
    stopping.add(replace(again, allocation=("1", 1)))

    assert [one.number for one in stopping.needed([Launch(case, 4)])] == [4]


def in_turn(*rounds: tuple[float, float], every: int = 6) -> Parting:
    """Of cases a and b, which take so long in each round."""
    stopping = Parting(every, ["a", "b"], ())
    for number, times in enumerate(rounds):
        for case, time in zip("ab", times, strict=True):
            stopping.add(tried(case, time, launch=number))
    return stopping


def test_compared_cases_are_done_once_they_differ_in_every_round() -> None:
    apart = [(1.0 + k / 100, 2.0 + k / 100) for k in range(12)]
    assert in_turn(*apart[:5]).done == {}
    assert in_turn(*apart[:6]).done == {"a": "parted", "b": "parted"}
    assert in_turn(*apart[:5], every=5).done == {}, "five launches have no interval"
    drifting = [(1.0 + k, 1.01 * (1.0 + k)) for k in range(6)]
    assert in_turn(*drifting).done, "b takes longer in each round"
    wide = [(1.0, 2.0), (1.1, 1.05), *apart[2:]]
    assert in_turn(*wide[:6]).done == {}, "b is faster in one of six rounds"
    assert in_turn(*wide[:11]).done == {}, "it looks again when both have six more"
    assert in_turn(*wide).done == {"a": "parted", "b": "parted"}


def test_compared_cases_that_overlap_continue() -> None:
    assert in_turn(*[(1.0, 1.0)] * 30).done == {}


def test_a_failing_compared_case_does_not_block_the_others() -> None:
    stopping = Parting(6, ["a", "b", "c"], ())
    for launch in range(6):
        assert not stopping.add(tried("a", 1.0, launch=launch))
        assert not stopping.add(tried("b", 2.0, launch=launch))
        ended = stopping.add(tried("c", 3.0, "failed", launch))
    assert ended and {*stopping.done} == {"a", "b", "c"}
    assert stopping.launches("c") == 6
    again = Parting(6, ["a", "b"], [tried(case, 1.0, launch=k) for case in "ab" for k in range(6)])
    assert again.done == {}


def test_the_rule_comes_from_the_study() -> None:
    def rule(**keys: Any) -> Rule | None:
        table = {"title": "t", "runs": [{"kernel": "fake"}], **keys}
        return stopping_rule(Study.model_validate(table))

    assert rule(launches=9) is None
    assert rule(precision=0.05) == Rule(0.05, 7, 30)
    assert rule(precision=0.05, launches=9, most_launches=9) == Rule(0.05, 9, 9)
    assert rule(precision=0.05, launches=40) == Rule(0.05, 40, 40)
    assert rule(precision=0.05, most_time_s=60.0) == Rule(0.05, 7, 30, 60.0)


def test_a_case_stops_if_another_launch_would_exceed_the_time_limit() -> None:
    rule = Rule(half_width=0.02, fewest=7, most=12, most_s=3.5)
    assert Precision(rule, (tried("a", 1.0 + k) for k in range(2))).done == {}
    assert Precision(rule, (tried("a", 1.0 + k) for k in range(3))).done == {"a": "time"}


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("most_launches = 20", "most_launches requires 'precision'"),
        ("most_launches = 9\nmost_time_s = 5.0", "most_launches and most_time_s"),
        ("precision = 0.1\nmost_launches = 6", "most_launches: must"),
        ("precision = 0.1\nmost_time_s = 0", "most_time_s: must"),
        ("precision = 0.1\nlaunches = 10\nmost_launches = 8", "most_launches = 8"),
        ("precision = 2.0", "precision: must"),
    ],
)
def test_an_inconsistent_rule_is_refused(
    study_file: Callable[[str], Path], keys: str, says: str
) -> None:
    with pytest.raises(UserError) as caught:
        load(study_file(f'title = "t"\n{keys}\n[[runs]]\nkernel = "ring"\n'))
    assert len(caught.value.problems) == 1
    assert says in str(caught.value)


def test_a_study_stops_per_case_and_has_nothing_left(
    haloscope: Callable[..., int],
    study_file: Callable[[str], Path],
    laboratory: Laboratory,
    tmp_path: Path,
) -> None:
    text = "precision = 0.5\nmost_launches = 20\n" + STUDY
    folder = tmp_path / "out"
    assert haloscope("run", study_file(text), "--out", folder) == 0
    records = list(read(folder / "records.jsonl"))
    plan = json.loads((folder / "plan.json").read_text())
    assert len(records) == sum(case["launches"] for case in plan["cases"]) == 4 * 7
    assert {case["stopped"] for case in plan["cases"]} == {"narrow"}
    assert {one.key: one.stopped for one in records if one.stopped} == {
        (case["case"], 6): "narrow" for case in plan["cases"]
    }
    assert haloscope("run", "--resume", folder) == 0
    assert len(list(read(folder / "records.jsonl"))) == 4 * 7
    with pytest.raises(UserError, match="precision"):
        haloscope("run", "--resume", folder, "--launches", 9)


def test_a_case_stop_missing_in_the_plan_is_still_recognised(
    haloscope: Callable[..., int],
    study_file: Callable[[str], Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As by a kill, or a full disk, after the record that stops it and before the plan."""
    text = "precision = 0.5\nmost_launches = 20\n" + STUDY
    folder = tmp_path / "out"
    haloscope("run", study_file(text), "--out", folder)
    whole = json.loads((folder / "plan.json").read_text())
    cut = [{**case, "stopped": None, "launches": 20} for case in whole["cases"]]
    (folder / "plan.json").write_text(json.dumps({**whole, "cases": cut}))
    capsys.readouterr()

    assert haloscope("run", "--resume", folder) == 0

    assert "4 cases, 0 launches" in capsys.readouterr().err
    assert json.loads((folder / "plan.json").read_text()) == whole
