# SPDX-License-Identifier: BSD-3-Clause
"""The check: which steps wait for which, and that none is lost or called good."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Barrier, Event, Lock, Thread
from time import sleep
from typing import Any

import pytest
from checking import catalogue, outcome, provided, selection, tools
from checking.builds import ctest
from checking.run import Runner
from checking.schedule import side_by_side
from checking.selection import Change
from checking.step import LEVELS, Ended, Step
from noted import shows

from haloscope.toolchains import fftw
from haloscope.toolchains.added import extras

ROOT = Path(__file__).parents[2]
STEPS = catalogue.steps(2, whole=False)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """Runs steps in a folder of its own."""
    return Runner(tmp_path, tmp_path, {**os.environ})


def run_all(runner: Runner, steps: Sequence[Step]) -> list[Ended]:
    return side_by_side(steps, runner.report, 2, runner.stopped)


def shell(name: str, script: str, **more: Any) -> Step:
    return Step(name, lambda: [["sh", "-c", script]], **more)


def test_the_script_runs_without_installed_packages() -> None:
    command = ["python3", "-I", "-S", str(ROOT / "check"), "--help"]
    done = subprocess.run(
        command, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "--since COMMIT" in done.stdout


def test_a_step_waits_only_for_earlier_steps() -> None:
    names = [step.name for step in STEPS]
    assert len({*names}) == len(names)
    for place, step in enumerate(STEPS):
        assert {*step.after} <= {*names[:place]}, step.name


def test_a_step_sees_the_outputs_of_its_dependencies(runner: Runner) -> None:
    steps = [
        shell("slow", "sleep 0.3; touch made"),
        shell("beside", "true"),
        shell("waits", "test -e made && touch waited", after=("slow",), waits=True),
        shell("last", "test -e waited", after=("slow", "waits", "not asked for")),
    ]
    assert [(one.step.name, one.outcome) for one in run_all(runner, steps)] == [
        (one.name, "ok") for one in steps
    ]


def test_a_failure_prints_its_log_and_does_not_stop_other_steps(
    runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = [
        shell("bad", "echo what went wrong; exit 3"),
        Step("not here", list, skip=lambda: "no such program"),
        Step("not to be started", lambda: [["/no/such/program"]], waits=True),
        shell("after it", "true", after=("bad",)),
        shell("in part", "echo 'SKIPPED [3] a.py:1: no gfortran'"),
    ]
    ended = run_all(runner, steps)
    assert [(one.step.name, one.outcome) for one in ended] == [
        ("bad", "FAILED"),
        ("not here", "skipped"),
        ("not to be started", "FAILED"),
        ("after it", "ok"),
        ("in part", "skipped"),
    ]
    assert str(runner.logs / "bad.log") in ended[0].why
    assert ended[4].skipped == {"no gfortran": 3}
    assert "\nwhat went wrong\n" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["mpicxx", "environment", "no_cluster"])
def test_haloscope_provides_what_steps_need(name: str) -> None:
    assert tools.provided(name) == provided.PROVIDED[name]()


def test_a_step_fails_with_the_error_of_what_is_not_provided(
    runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    def asks() -> str:
        return tools.provided("unknown")

    steps = [Step("skip", list, skip=asks), Step("command", lambda: [[asks()]])]
    assert [one.outcome for one in run_all(runner, steps)] == ["FAILED", "FAILED"]
    assert capsys.readouterr().out.count("KeyError: 'unknown'") == 2


@pytest.mark.parametrize("has", [True, False])
def test_fftw_is_installed_only_where_nothing_provides_it(
    monkeypatch: pytest.MonkeyPatch, has: bool
) -> None:
    installed: list[str] = []
    monkeypatch.setattr(provided, "has_fftw", lambda: has)
    monkeypatch.setattr(extras, "install", lambda name, say: installed.append(name))
    json.loads(provided.environment())
    assert installed == ([] if has else ["fftw"])


def test_fftw_is_found_where_a_user_an_earlier_command_or_the_system_has_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def missing(_: str) -> None:
        raise OSError

    monkeypatch.delenv("HALOBENCH_FFTW", raising=False)
    monkeypatch.setattr(fftw, "library", lambda: None)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: None)
    assert provided.has_fftw()
    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert not provided.has_fftw()
    monkeypatch.setattr(fftw, "library", lambda: tmp_path)
    assert provided.has_fftw()
    monkeypatch.setattr(fftw, "library", lambda: None)
    monkeypatch.setenv("HALOBENCH_FFTW", "libfftw3.so")
    assert provided.has_fftw()


def test_a_step_counts_the_cpu_time_of_child_processes(runner: Runner) -> None:
    busy = f"{sys.executable} -c 'import time\nwhile time.process_time() < 0.2: pass'; exit 0"
    (ended,) = run_all(runner, [shell("busy", busy)])
    assert ended.processor >= 0.15


def test_skipped_tests_are_counted_by_reason() -> None:
    said = "SKIPPED [2] tests/a.py:3: no smpicxx\nSKIPPED [1] tests/b.py:7: no smpicxx\n"
    one = Step("one", list)
    ended = [
        Ended(one, "skipped", "in part", skipped=outcome.skips(said)),
        Ended(one, "skipped", "no smpicxx", skipped={"no smpicxx": 4}),
    ]
    assert "skipped: 7 tests: no smpicxx" in outcome.conclusion(ended, [], 60)


def test_the_summary_counts_steps_and_names_failed_or_skipped_ones() -> None:
    good = Ended(Step("good", list), "ok", seconds=90, processor=120)
    bad = Ended(Step("bad", list), "FAILED", "exit code 1", seconds=30, processor=60)
    every = ["good", "bad", "other"]
    assert outcome.conclusion([good, bad], every, 90) == [
        "FAILED: bad: exit code 1",
        "not asked for: other",
        "1.5 min, 3.0 min of processors",
        "1 passed, 1 failed, 0 skipped",
    ]
    assert len(outcome.conclusion([good], every, 90, stopped=True)) == 2


def test_a_skipped_test_step_reports_its_test_count(runner: Runner) -> None:
    (runner.root / "test_some.py").write_text("def test_a(): pass\ndef test_b(): pass\n")
    step = catalogue.python_tests("some", "test_some.py", skip=lambda: "not here")
    assert runner.run(step).skipped == {"not here": 2}


FLAKY = """
from pathlib import Path
def test_flaky():
    first = not Path("been").exists()
    Path("been").touch()
    print("what it printed")
    assert not first
def test_good(): pass
"""
TWICE = """
cmake_minimum_required(VERSION 3.20)
project(twice NONE)
enable_testing()
add_test(NAME flaky COMMAND sh -c "test -e been || { touch been; exit 1; }")
add_test(NAME good COMMAND true)
"""


def test_a_test_that_passes_on_retry_is_named(runner: Runner) -> None:
    (runner.root / "test_some.py").write_text(FLAKY)
    ended = runner.run(catalogue.python_tests("some", "test_some.py"))
    assert (ended.outcome, ended.second_tries) == ("ok", ("test_some.py::test_flaky",))
    (line, *_) = outcome.conclusion([ended], [], 60)
    assert "test_some.py::test_flaky (of some)" in line


def test_the_log_explains_why_the_first_attempt_failed(tmp_path: Path) -> None:
    support = {**os.environ, "PYTHONPATH": str(ROOT / "tests" / "support")}
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["second_tries"]')
    (tmp_path / "test_some.py").write_text(FLAKY)
    Runner(tmp_path, tmp_path, support).run(catalogue.python_tests("some", "test_some.py"))
    log = (tmp_path / "some.log").read_text()
    assert "assert not first" in log and "what it printed" in log


def test_a_test_that_fails_twice_fails(runner: Runner) -> None:
    (runner.root / "test_some.py").write_text(FLAKY + "def test_bad(): assert False\n")
    ended = runner.run(catalogue.python_tests("some", "test_some.py"))
    assert (ended.outcome, ended.second_tries) == ("FAILED", ("test_some.py::test_flaky",))


@pytest.mark.parametrize(
    ("more", "how"), [("", "ok"), ("add_test(NAME bad COMMAND false)", "FAILED")]
)
def test_a_ctest_that_passes_on_retry_is_named(runner: Runner, more: str, how: str) -> None:
    (runner.root / "CMakeLists.txt").write_text(TWICE + more)
    configure = ["cmake", "-G", "Ninja", "-S", ".", "-B", "build/twice"]
    step = Step("twice", lambda: [configure, *ctest("twice", cores=2, whole=True)])
    ended = runner.run(step)
    assert (ended.outcome, ended.second_tries) == (how, ("flaky",))


@pytest.mark.parametrize("mark", ["lab", "long", "latex", "toolchains"])
def test_files_with_a_marker_are_found_by_its_name(mark: str) -> None:
    files = {path for path in (ROOT / "tests").rglob("*.py") if f"mark.{mark}" in path.read_text()}
    words = [step.tests for step in STEPS if step.tests[1:2] and step.tests[0] == "-m"]
    (named,) = [rest for _, marks, *rest in words if marks.split()[0] == mark]
    assert {*named} == {str(path.relative_to(ROOT)) for path in files} != set()


def test_each_level_includes_the_lower_levels() -> None:
    assert {step.level for step in STEPS} == {*LEVELS}


def names_since(files: list[str], tests: list[str]) -> dict[str, Step]:
    return {step.name: step for step in selection.since(STEPS, Change(files, tests))}


def test_steps_unaffected_by_a_change_are_skipped() -> None:
    steps = names_since(["src/haloscope/topics/common/words.py"], ["tests/report"])
    assert "tests: C++ with sanitizers" not in steps
    assert steps["tests: Python"].tests[-1] == "tests/report"
    assert steps["tests: Python"].commands()[0][-1] == "tests/report"
    assert "lint: Python" in steps


@pytest.mark.parametrize(
    "name", ["requirements.txt", "check", "tests/support/checking/run.py", ".ci/run"]
)
def test_a_change_to_a_common_dependency_runs_every_step(name: str) -> None:
    assert selection.since(STEPS, Change([name], [])) == STEPS


def test_tests_with_a_dedicated_step_run_only_once() -> None:
    own = ["tests/test_simulated.py", "tests/faults/test_kill_and_disks.py"]
    steps = names_since(["src/haloscope/host/machine.py"], [*own, "tests/host"])
    words = steps["tests: Python"].tests
    assert words[-1] == "tests/host"
    assert all(words[words.index(one) - 1] == "--ignore" for one in own)
    assert all(words.count(one) == 1 for one in own)


def test_the_fast_check_runs_cheap_tests_and_tests_of_changed_files() -> None:
    changed = Change(["src/haloscope/toml.py"], ["tests/test_toml.py"])
    steps = {step.name: step for step in selection.fast(STEPS, changed)}
    assert steps["tests: Python"].tests[-2:] == ("--cheap", "--reached=tests/test_toml.py")
    assert {"build: MPI", "documentation: site", "lint: Python"} & {*steps} == {
        "documentation: site",
        "lint: Python",
    }


def test_the_fast_check_builds_only_what_changed() -> None:
    of_it = [step for step in STEPS if step.level == "fast"]
    assert [one.name for one in of_it if "build" in one.name and not one.when_reached] == []
    assert all(step.reached_from for step in STEPS if step.when_reached)


@pytest.mark.parametrize(("whole", "program"), [(False, "changed_ctests.py"), (True, "ctest")])
def test_unchanged_cxx_tests_are_skipped_unless_all_are_requested(
    whole: bool, program: str
) -> None:
    ((first, second, *_),) = ctest("release", "-L", "part", cores=2, whole=whole)
    assert program in (first, Path(second).name)


def test_skipped_items_are_counted_by_reason(runner: Runner) -> None:
    said = "printf 'LEFT OUT [%s\\n' '1200] start a program' '3] take long'"
    why = runner.run(shell("some", said)).why
    assert shows(why, "1,200 tests ", " program", "3 tests ", " long")


def test_an_interrupted_check_stops_its_commands_and_starts_no_others(
    runner: Runner, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    script = (
        f"trap 'touch {tmp_path}/tidied; exit 1' INT; touch {begun}; while :; do sleep 0.05; done"
    )
    steps = [
        shell("long", script),
        shell("after it", f"touch {tmp_path}/late", after=("long",)),
    ]

    def interrupt() -> None:
        while not begun.exists():
            sleep(0.01)
        runner.stop(signal.SIGINT)

    striker = Thread(target=interrupt)
    striker.start()
    ended = run_all(runner, steps)
    striker.join()
    assert [(one.step.name, one.outcome, one.why) for one in ended] == [
        ("long", "FAILED", "interrupted")
    ]
    assert (tmp_path / "tidied").exists()
    assert not (tmp_path / "late").exists()
    assert not runner.running


def test_a_command_started_during_an_interrupt_is_stopped(runner: Runner, tmp_path: Path) -> None:
    runner.stop(signal.SIGINT)

    with (tmp_path / "log").open("w") as log:
        code, _ = runner.call(shell("late", ""), ["sleep", "60"], log)

    assert code == -signal.SIGINT


def test_in_ci_a_skipped_step_counts_as_failed(runner: Runner) -> None:
    runner.strict = True
    step = Step("not here", list, skip=lambda: "no such program")
    assert [one.outcome for one in run_all(runner, [step])] == ["FAILED"]


class Seen:
    """Which steps ran beside each."""

    def __init__(self, during: Callable[[str], object]) -> None:
        self.during = during
        self.lock = Lock()
        self.running: set[str] = set()
        self.beside: dict[str, set[str]] = {}

    def run(self, step: Step) -> Ended:
        with self.lock:
            self.running.add(step.name)
            for name in self.running:
                self.beside.setdefault(name, set()).update(self.running)
        self.during(step.name)
        with self.lock:
            self.running.remove(step.name)
        return Ended(step, "ok")


def test_as_many_steps_run_as_cores_and_waiting_steps_run_in_addition() -> None:
    all_three = Barrier(3, timeout=600)
    # "a", "b", "c" fail unless they run at once
    seen = Seen(lambda name: all_three.wait() if name in ("a", "b", "c") else None)
    steps = [Step(name, list, waits=name == "c") for name in "abcde"]

    assert [one.step.name for one in side_by_side(steps, seen.run, 2)] == list("abcde")

    assert "d" not in seen.beside["a"] & seen.beside["b"]


def test_ranks_that_share_cores_run_only_alongside_waiting_steps() -> None:
    alone_has_run = Event()

    def during(name: str) -> None:
        sleep(0.05)  # long enough for another to be begun beside it
        if name == "alone":
            alone_has_run.set()
        if name == "waits":
            alone_has_run.wait(600)

    seen = Seen(during)
    steps = [
        Step("waits", list, waits=True),
        *(Step(name, list) for name in "abc"),
        Step("alone", list, alone=True),
        *(Step(name, list) for name in "def"),
    ]
    side_by_side(steps, seen.run, 2)
    assert seen.beside["alone"] == {"waits", "alone"}
