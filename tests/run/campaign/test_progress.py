# SPDX-License-Identifier: BSD-3-Clause
import io
import random
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from fakes import FakeProgram
from noted import shows
from rich.console import Console

from haloscope.run import run_view
from haloscope.run.progress import duration
from haloscope.run.run_view import RunView
from haloscope.run.time_left import TimeLeft
from haloscope.study.case import Launch
from haloscope.study.checks.capacity import Site
from haloscope.study.expansion import expand
from haloscope.study.schema import Study
from haloscope.toolchains.simgrid import SIMGRID


def launches(*sizes: int, launches: int = 1) -> list[Launch]:
    runs = [{"kernel": "fake", "params": {"n": list(sizes)}}]
    study = Study.model_validate({"title": "t", "launches": launches, "runs": runs})
    cases = expand(study, Site(1, 4, 4, 2**40), FakeProgram()).cases
    return [Launch(case, launch) for launch in range(launches) for case in cases]


def test_without_an_earlier_launch_the_time_left_is_unknown() -> None:
    assert TimeLeft(launches(8), {}).seconds() is None


def test_earlier_wall_times_of_the_same_cases_are_used() -> None:
    one, other = launches(8, 16)
    left = TimeLeft([one, other], {one.case.id: [1.0, 3.0], "some other": [100.0]})
    assert left.seconds() == pytest.approx(2.0 + 8.0)  # n = 16 needs four times the memory


def test_a_case_unlike_all_completed_ones_uses_its_forecast() -> None:
    small, large = launches(8, 80)
    left = TimeLeft([small, large], {}, forecast=lambda case: float(case.params["n"]))
    assert left.seconds() == pytest.approx(88.0)
    left.ended(small, 1.0)
    assert left.seconds() == pytest.approx(80.0)


def test_concurrent_launches_that_took_no_time_leave_an_estimate() -> None:
    todo = launches(8, 16, 24, 32)
    left = TimeLeft(todo, {}, forecast=lambda case: 1.0, at_once=2)
    for launch in todo[:3]:
        left.ended(launch, 0.0)
    assert left.seconds() == pytest.approx(0.0)


def test_concurrent_launches_are_counted() -> None:
    out = io.StringIO()
    first, second, third = todo = launches(8, 16, 24)
    with RunView(Console(file=out, width=40, color_system=None), todo, {}, at_once=3) as view:
        assert [*view.watch(todo)] == [first, second, third]
        view.ended(first, {"outcome": "ok", "reason": None, "wall_s": 1.0})
    assert "[1/3]" in out.getvalue() and "2 running" in out.getvalue()


def test_a_case_much_larger_than_completed_ones_leaves_the_time_unknown() -> None:
    small, large = launches(8, 80)  # a hundred times the memory
    left = TimeLeft([small, large], {})
    left.ended(small, 1.0)
    assert left.seconds() is None


def test_a_time_only_simulation_grows_with_ranks() -> None:
    """The memory of a problem that is divided among more ranks stays the same."""
    cases = [launch.case for launch in launches(8, 16, 24)]
    few, more, many = (
        Launch(replace(case, toolchain=SIMGRID, layout=replace(case.layout, nodes=nodes)), 0)
        for case, nodes in zip(cases, (1, 10, 100), strict=True)
    )
    left = TimeLeft([few, more, many], {})
    left.ended(few, 1.0)
    assert left.seconds() is None
    left.ended(more, 20.0)
    assert left.seconds() == pytest.approx(200.0)


def test_wall_times_are_updated_while_jobs_complete() -> None:
    first, *others = launches(8, 16, 24, launches=2)
    left = TimeLeft([first, *others], {})
    left.ended(first, 1.0)
    assert left.seconds() == pytest.approx(4 + 9 + 1 + 4 + 9)
    left.ended(others[0], 2.0)
    assert left.seconds() == pytest.approx(4.5 + 1 + 2 + 4.5)
    for launch in others[1:]:
        left.ended(launch, 5.0)
    assert left.seconds() == 0


def test_a_different_transport_does_not_give_an_estimate() -> None:
    one, other = (
        replace(launch.case, transport=way)
        for launch, way in zip(launches(8, 16), "ab", strict=True)
    )
    left = TimeLeft([Launch(one, 0), Launch(other, 0)], {})
    left.ended(Launch(one, 0), 30.0)
    assert left.seconds() is None
    left = TimeLeft([Launch(one, 0), Launch(other, 0)], {other.id: [2.0]})
    left.ended(Launch(one, 0), 30.0)
    assert left.seconds() == 2.0


def test_time_limits_and_stopped_cases_shorten_the_remaining_time() -> None:
    todo = launches(8, launches=10)
    left = TimeLeft(todo, {}, most_s=12.0)
    left.ended(todo[0], 5.0)
    assert left.seconds() == 12.0  # not 45
    left.ended(todo[1], 35.0)
    assert left.seconds() == 20.0  # one launch more takes its time
    left.ended(todo[2], 5.0, stopped="count")
    assert left.seconds() == 0


def test_concurrent_cases_share_the_remaining_time() -> None:
    """Six launches of 100 s, two at a time; and what of those that run is over already."""
    now = 0.0
    todo = launches(8, launches=6)
    left = TimeLeft(todo, {todo[0].case.id: [100.0]}, at_once=2, clock=lambda: now)
    assert left.seconds() == 300
    for launch in todo[:2]:
        left.started(launch)
    now = 40.0
    assert left.seconds() == 260
    now = 100.0
    left.ended(todo[0], 100.0)
    left.started(todo[2])
    left.ended(todo[1], 100.0)
    left.started(todo[3])
    assert left.seconds() == 200
    now = 200.0
    left.ended(todo[2], 100.0)
    left.ended(todo[3], 100.0)
    left.started(todo[4])
    left.started(todo[5])
    now = 250.0
    left.ended(todo[4], 50.0)
    assert left.seconds() == pytest.approx(550 / 6 - 50)  # the last one runs alone


def test_launches_in_random_order_are_estimated_by_their_own_cases() -> None:
    todo = launches(*range(8, 108), launches=2)
    first, second = todo[:100], todo[100:]
    random.Random(1).shuffle(first)
    left = TimeLeft(todo, {})
    for launch in first:
        left.started(launch)
        left.ended(launch, float(launch.case.params["n"]))
    assert left.seconds() == sum(launch.case.params["n"] for launch in second)


def test_launches_that_fit_only_sequentially_are_detected() -> None:
    """There are cores for four, and memory for one."""
    now = 0.0
    todo = launches(8, launches=9)
    left = TimeLeft(todo, {}, at_once=4, clock=lambda: now)
    for launch in todo[:5]:
        now += 10.0
        left.ended(launch, 10.0)
    assert left.seconds() == 40


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.2, "1 s"),
        (59.1, "1 min 0 s"),
        (190, "3 min 10 s"),
        (601, "11 min"),
        (7500, "2 h 5 min"),
    ],
)
def test_durations(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize("terminal", ["none", "dumb"])
def test_without_a_terminal_plain_lines_are_printed(
    terminal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    out = io.StringIO()
    console = Console(file=out, width=40, force_terminal=terminal == "dumb", color_system=None)
    todo = launches(8, 16)
    outcomes: list[dict[str, Any]] = [
        {"outcome": "ok", "reason": None, "wall_s": 1.0},
        {"outcome": "failed", "reason": "exit code 3", "wall_s": 0.5},
    ]
    with RunView(console, todo, {}) as view:
        for launch, record in zip(view.watch(todo), outcomes, strict=True):
            view.ended(launch, record)
    first, second = (re.split("[:;] ", line) for line in out.getvalue().splitlines())
    assert first == ["[1/2] fake n=8, 1 rank, system", "1.00 s", "about 4 s left", "0 s elapsed"]
    case, left = "fake n=16, 1 rank, system", ("about 0 s left", "0 s elapsed")
    assert second == ["[2/2] failed", case, "exit code 3", *left]


def test_a_progress_bar_shows_running_cases_and_keeps_only_problems() -> None:
    out = io.StringIO()
    (launch,) = todo = launches(8)
    console = Console(
        file=out, width=100, force_terminal=True, force_interactive=True, color_system=None
    )
    with RunView(console, todo, {}) as view:
        assert list(view.watch(todo)) == [launch]
        view.ended(launch, {"outcome": "wrong", "reason": "error 0.5", "wall_s": 1.0})
    shown = out.getvalue()
    assert shows(shown, "[1/1] wrong: fake n=8, ", " error 0.5")
    assert "0/1" in shown and "fake n=8, 1 rank" in shown


def test_cached_results_are_labelled_and_ignored_in_the_time_left() -> None:
    out = io.StringIO()
    console = Console(file=out, width=40, color_system=None)
    todo = launches(8, 16, 24)
    known = {"outcome": "ok", "reason": None, "wall_s": 60.0, "simulation": {"cached": True}}
    new = {"outcome": "ok", "reason": None, "wall_s": 1.0, "simulation": {"cached": False}}
    with RunView(console, todo, {}) as view:
        for launch, record in zip(view.watch(todo), (known, new, known), strict=True):
            view.ended(launch, record)
    assert [re.split("[:;] ", line) for line in out.getvalue().splitlines()] == [
        ["[1/3] fake n=8, 1 rank, system", "from the cache", "0 s elapsed"],
        ["[2/3] fake n=16, 1 rank, system", "simulated in 1.00 s", "about 3 s left", "0 s elapsed"],
        ["[3/3] fake n=24, 1 rank, system", "from the cache", "about 0 s left", "0 s elapsed"],
    ]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_narrow_terminal_has_bar_counter_and_launch_time(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What gives way is the name of what runs."""
    clock = SimpleNamespace(now_s=100.0)
    clock.monotonic = lambda: clock.now_s
    monkeypatch.setattr(run_view, "time", clock)
    out = io.StringIO()
    todo = launches(8, 16, launches=50)
    console = Console(
        file=out, width=width, force_terminal=True, color_system="standard", _environ={}
    )  # whatever TERM says: a dumb one has no bar
    with RunView(console, todo, {todo[0].case.id: [100.0], todo[1].case.id: [90.0]}) as view:
        next(view.watch(todo))
        clock.now_s += 7.9
        view._bar.refresh()
    plain = re.sub(r"\x1b\[[^A-Za-z]*[A-Za-z]", "", out.getvalue())
    *_, shown = (part for part in re.split(r"[\r\n]", plain) if "left fake" in part)

    assert len(shown) <= width
    assert re.search(r"━{10,}", shown)
    assert " 0/100 7 s about " in shown and " left fake" in shown
