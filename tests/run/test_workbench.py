# SPDX-License-Identifier: BSD-3-Clause
import subprocess
from pathlib import Path

import pytest
from fakes import FAKE_HALOBENCH, Laboratory
from rich.console import Console

from haloscope.errors import UserError
from haloscope.run import halobench, workbench
from haloscope.run.here import Here
from haloscope.run.progress import Teller
from haloscope.run.workbench import Halobench
from haloscope.study.plan import Forecast
from haloscope.toolchains import launch, library

QUIET = Teller(Console(quiet=True))


def test_halobench_is_asked_without_a_launch() -> None:
    program = Halobench(FAKE_HALOBENCH)
    assert program.parameters("fake")[0] == "n"
    forecast = program.forecast("fake", {"n": 16, "flag": True}, ranks=2, threads=1)
    assert (forecast.params["n"], forecast.params["flag"]) == (16, "true")
    assert (forecast.memory_bytes, list(forecast.problems)) == (2048, [])
    (problem,) = program.forecast("fake", {"n": 1}, ranks=2, threads=1).problems
    assert (problem.where, problem.mend) == ("fake ranks=2", "n is 1: give no more ranks than rows")


def test_a_toolchain_that_is_missing_is_a_problem_beside_others(laboratory: Laboratory) -> None:
    bench = workbench.workbench({"one": None, "other": ["fake", "gone", "fak"]}, QUIET)
    assert (list(bench.built), bench.names) == (["fake"], ("fake",))
    assert [(one.where, one.what) for one in bench.problems] == [("other", "there is no 'fak'")]
    assert bench.missing == {"gone": "'gone' can't be fetched"}


def test_without_any_toolchain_nothing_can_be_planned(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "available", list)
    with pytest.raises(UserError, match="'gone' can't be fetched"):
        workbench.workbench({"one": ["gone"]}, QUIET)


def test_a_checkout_tells_its_commit_and_whether_it_changed(tmp_path: Path) -> None:
    assert workbench.checkout(tmp_path) is None

    def git(*arguments: str) -> str:
        command = [
            "git",
            "-C",
            str(tmp_path),
            "-c",
            "user.name=a",
            "-c",
            "user.email=b",
            *arguments,
        ]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init")
    assert workbench.checkout(tmp_path) is None
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("commit", "-m", "one")
    commit = git("rev-parse", "HEAD")
    assert workbench.checkout(tmp_path) == {"commit": commit, "dirty": False}
    (tmp_path / "file").write_text("two")
    assert workbench.checkout(tmp_path) == {"commit": commit, "dirty": True}


def test_the_same_question_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def forecast(*_: object, ranks: int, threads: int, **__: object) -> Forecast:
        asked.append((ranks, threads))
        return Forecast({}, ranks, ())

    monkeypatch.setattr(halobench.Planner, "forecast", forecast)
    program = Halobench(Path("halobench"))
    for n, ranks, threads in ((8, 1, 1), (8, 2, 1), (8, 1, 1), (8, 1, 2), (9, 1, 1), (9, 1, 1)):
        assert program.forecast("fake", {"n": n}, ranks, threads).memory_bytes == ranks
    assert asked == [(1, 1), (2, 1), (1, 2), (1, 1)]


def test_transports_are_looked_for_when_they_are_wanted(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def transports(toolchain: library.Toolchain) -> list[str]:
        asked.append(toolchain.name)
        return ["shm"]

    monkeypatch.setattr(launch, "transports", transports)
    bench = workbench.usual(QUIET)
    there = Here().site(bench, oversubscribe=False).transports

    assert "fake" in there
    assert "gone" not in there
    assert (list(there), len(there), asked) == (["fake"], 1, [])
    assert there.get("fake") == ["shm"]
    assert (there.get("gone", ()), asked) == ((), ["fake"])
