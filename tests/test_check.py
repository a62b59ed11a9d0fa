# SPDX-License-Identifier: BSD-3-Clause
"""The script of all checks: which steps wait for which, and that none is lost or called good."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from threading import Barrier, Event, Lock, Thread
from time import sleep
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script, with a folder of its own for logs and for what steps make."""
    loader = SourceFileLoader("check_of_this_test", str(ROOT / "check"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, loader.name, module)
    loader.exec_module(module)
    monkeypatch.delenv("CI", raising=False)  # where a skipped step is a failed one
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "LOGS", tmp_path)
    monkeypatch.setattr(module, "environment", lambda: dict(os.environ))
    return module


def test_a_step_waits_for_steps_that_stand_before_it(check: Any) -> None:
    names = [step.name for step in check.STEPS]
    assert len({*names}) == len(names)
    for place, step in enumerate(check.STEPS):
        assert {*step.after} <= {*names[:place]}, step.name


def shell(check: Any, name: str, script: str, **more: Any) -> Any:
    return check.Step(name, lambda: [["sh", "-c", script]], **more)


def test_a_step_finds_what_those_made_that_it_waits_for(check: Any) -> None:
    steps = [
        shell(check, "slow", "sleep 0.3; touch made"),
        shell(check, "beside", "true"),
        shell(check, "waits", "test -e made && touch waited", after=("slow",), waits=True),
        shell(check, "last", "test -e waited", after=("slow", "waits", "not asked for")),
    ]
    assert [(one.step.name, one.outcome) for one in check.side_by_side(steps)] == [
        (one.name, "ok") for one in steps
    ]


def test_a_failure_is_told_with_its_log_and_ends_no_other_step(
    check: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = [
        shell(check, "bad", "echo what went wrong; exit 3"),
        check.Step("not here", list, skip=lambda: "no such program"),
        shell(check, "after it", "true", after=("bad",)),
        shell(check, "in part", "echo 'SKIPPED [3] a.py:1: no gfortran'"),
    ]
    ended = check.side_by_side(steps)
    assert [(one.step.name, one.outcome) for one in ended] == [
        ("bad", "FAILED"),
        ("not here", "skipped"),
        ("after it", "ok"),
        ("in part", "skipped"),
    ]
    assert str(tmp_path / "bad.log") in ended[0].why
    assert ended[3].skipped == {"no gfortran": 3}
    assert "\nwhat went wrong\n" in capsys.readouterr().out


def test_skipped_tests_are_counted_by_reason(
    check: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "SKIPPED [2] tests/a.py:3: no smpicxx\nSKIPPED [1] tests/b.py:7: no smpicxx\n"
    one = check.Step("one", list)
    ended = [
        check.Ended(one, "skipped", "in part", 1, check.skips(said)),
        check.Ended(one, "skipped", "no smpicxx", 1, {"no smpicxx": 4}),
    ]
    check.print_conclusion(ended, 60)
    assert "skipped: 7 tests: no smpicxx\n" in capsys.readouterr().out


def test_a_skipped_step_of_tests_says_how_many_they_are(check: Any, tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text("def test_a(): pass\ndef test_b(): pass\n")
    step = check.python_tests("some", str(tmp_path / "test_some.py"), skip=lambda: "not here")
    assert check.run(step).skipped == {"not here": 2}


@pytest.mark.parametrize("mark", ["lab", "long", "latex", "toolchains"])
def test_files_with_a_marker_are_found_by_its_name(check: Any, mark: str) -> None:
    files = {path for path in (ROOT / "tests").rglob("*.py") if f"mark.{mark}" in path.read_text()}
    words = [step.tests for step in check.STEPS if step.tests[1:2] and step.tests[0] == "-m"]
    (named,) = [rest for _, marks, *rest in words if marks.split()[0] == mark]
    assert {*named} == {str(path.relative_to(ROOT)) for path in files} != set()


def test_each_level_has_those_before_it(check: Any) -> None:
    assert {step.level for step in check.STEPS} == {*check.LEVELS}


def test_what_a_change_can_not_reach_is_not_run(
    check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = json.dumps([["src/haloscope/topics/common/words.py"], ["tests/report"]])
    done = subprocess.CompletedProcess([], 0, answer, "")
    monkeypatch.setattr(check.subprocess, "run", lambda *_, **__: done)
    steps = {step.name: step for step in check.since(check.STEPS, "HEAD")}
    assert "tests: C++ with sanitizers" not in steps
    assert steps["tests: Python"].tests[-1] == "tests/report"
    assert "lint: Python" in steps


def test_what_every_step_rests_on_has_all_of_them_run(
    check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = subprocess.CompletedProcess([], 0, json.dumps([["requirements.txt"], []]), "")
    monkeypatch.setattr(check.subprocess, "run", lambda *_, **__: done)
    assert check.since(check.STEPS, "HEAD") == [*check.STEPS]


def test_tests_with_a_step_of_their_own_are_not_run_twice(
    check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = ["tests/test_simulated.py", "tests/faults/test_kill_and_disks.py"]
    answer = json.dumps([["src/haloscope/host/machine.py"], [*own, "tests/host"]])
    done = subprocess.CompletedProcess([], 0, answer, "")
    monkeypatch.setattr(check.subprocess, "run", lambda *_, **__: done)
    (python,) = [one for one in check.since(check.STEPS, "HEAD") if one.name == "tests: Python"]
    assert python.tests[-1] == "tests/host"
    assert all(python.tests[python.tests.index(one) - 1] == "--ignore" for one in own)
    assert all(python.tests.count(one) == 1 for one in own)


def test_the_fast_check_takes_cheap_tests_and_those_of_changed_files(
    check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = json.dumps([["src/haloscope/toml.py"], ["tests/test_toml.py"]])
    done = subprocess.CompletedProcess([], 0, answer, "")
    monkeypatch.setattr(check.subprocess, "run", lambda *_, **__: done)
    steps = {step.name: step for step in check.fast(check.STEPS)}
    assert steps["tests: Python"].tests[-2:] == ("--cheap", "--reached=tests/test_toml.py")
    assert {"build: MPI", "documentation: site", "lint: Python"} & {*steps} == {
        "documentation: site",
        "lint: Python",
    }


def test_the_fast_check_builds_nothing_that_did_not_change(check: Any) -> None:
    of_it = [step for step in check.STEPS if step.level == "fast"]
    assert [one.name for one in of_it if "build" in one.name and not one.when_reached] == []
    assert all(step.reached_from for step in check.STEPS if step.when_reached)


@pytest.mark.parametrize(
    ("argument", "ci", "program"),
    [("--since", "false", "changed_ctests.py"), ("--all", "false", "ctest"), ("", "true", "ctest")],
)
def test_unchanged_cxx_tests_are_left_out_but_not_by_ci(
    check: Any, monkeypatch: pytest.MonkeyPatch, argument: str, ci: str, program: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["check", argument])
    monkeypatch.setenv("CI", ci)
    ((first, second, *_),) = check.ctest("release", "-L", "part")
    assert program in (first, Path(second).name)


def test_what_is_left_out_is_counted_by_reason(check: Any) -> None:
    said = "printf 'LEFT OUT [%s\\n' '1200] start a program' '3] take long'"
    why = check.run(shell(check, "some", said)).why
    assert why == "left out: 1,200 tests that start a program, 3 tests that take long"


def test_an_interrupted_check_ends_its_commands_and_begins_no_other(
    check: Any, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    script = (
        f"trap 'touch {tmp_path}/tidied; exit 1' INT; touch {begun}; while :; do sleep 0.05; done"
    )
    steps = [
        shell(check, "long", script),
        shell(check, "after it", f"touch {tmp_path}/late", after=("long",)),
    ]

    def interrupt() -> None:
        while not begun.exists():
            sleep(0.01)
        check.stop(signal.SIGINT, None)

    striker = Thread(target=interrupt)
    striker.start()
    ended = check.side_by_side(steps)
    striker.join()
    assert [(one.step.name, one.outcome, one.why) for one in ended] == [
        ("long", "FAILED", "interrupted")
    ]
    assert (tmp_path / "tidied").exists()
    assert not (tmp_path / "late").exists()
    assert not check.RUNNING


def test_a_command_that_starts_while_a_check_is_interrupted_ends(
    check: Any, tmp_path: Path
) -> None:
    check.STOPPED.append(signal.SIGINT)
    step = shell(check, "late", "")

    with (tmp_path / "log").open("w") as log:
        code = check.called(step, ["sleep", "60"], {**os.environ}, log)

    assert code == -signal.SIGINT


def test_in_ci_a_skipped_step_is_a_failed_one(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    step = check.Step("not here", list, skip=lambda: "no such program")
    assert [one.outcome for one in check.side_by_side([step])] == ["FAILED"]


def test_as_many_run_at_once_as_cores_and_those_that_wait_beside_them(
    check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_three, lock = Barrier(3, timeout=600), Lock()
    running: list[str] = []
    most = 0

    def told(step: Any) -> Any:
        nonlocal most
        with lock:
            running.append(step.name)
            most = max(most, len(running))
        if step.name in ("a", "b", "c"):
            all_three.wait()  # fails unless they run at once
        with lock:
            running.remove(step.name)
        return check.Ended(step, "ok")

    monkeypatch.setattr(check, "told", told)
    monkeypatch.setattr(check, "CORES", 2)
    steps = [check.Step(name, list, waits=name == "c") for name in "abcde"]
    assert [one.step.name for one in check.side_by_side(steps)] == list("abcde")
    assert most == 3


def test_ranks_that_share_cores_run_beside_none_but_those_that_wait(
    check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, running, seen = Lock(), set[str](), dict[str, set[str]]()
    alone_has_run = Event()

    def told(step: Any) -> Any:
        with lock:
            running.add(step.name)
            for name in running:
                seen.setdefault(name, set()).update(running)
        sleep(0.05)  # long enough for another to be begun beside it
        if step.name == "alone":
            alone_has_run.set()
        if step.name == "waits":
            alone_has_run.wait(600)
        with lock:
            running.remove(step.name)
        return check.Ended(step, "ok")

    monkeypatch.setattr(check, "told", told)
    monkeypatch.setattr(check, "CORES", 2)
    steps = [
        check.Step("waits", list, waits=True),
        *(check.Step(name, list) for name in "abc"),
        check.Step("alone", list, alone=True),
        *(check.Step(name, list) for name in "def"),
    ]
    check.side_by_side(steps)
    assert seen["alone"] == {"waits", "alone"}
