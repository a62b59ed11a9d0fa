# SPDX-License-Identifier: BSD-3-Clause
"""`haloscope history`, its index and change points; `compare --with-last`."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from noted import shows
from recorded import MACHINE, TOOLCHAIN, poisson, write_folder

from haloscope.cli import main
from haloscope.errors import UserError
from haloscope.history import index
from haloscope.history.series import Series, series
from haloscope.paths import cache_path
from haloscope.stats.change_points import change_points
from haloscope.verbosity import warn_once

START = datetime(2026, 11, 1, tzinfo=UTC)


def needs_ruptures(test: Callable[..., None]) -> Callable[..., None]:
    """The test; with a Python that ruptures is not for, that change points are refused."""

    def refused() -> None:
        with pytest.raises(UserError, match="ruptures"):
            change_points([1.0, 1.0, 2.0, 2.0])

    refused.__name__ = test.__name__
    return test if sys.version_info < (3, 14) else refused


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / "cache"))


def measured(root: Path, day: int, time_s: float, n: int = 64, **changes: Any) -> Path:
    """A folder of a day with six launches of a case."""
    started = (START + timedelta(days=day)).isoformat().replace("+00:00", "Z")
    raws = [
        poisson(n, time_s=time_s * (1 + 0.001 * k), launch=k, started=started, **changes)
        for k in range(6)
    ]
    return write_folder(root / f"day-{day:02}", raws)


def days(root: Path, times_s: Sequence[float], since: int, **after: Any) -> list[Series]:
    """The series of a case whose records have other keys since a day."""
    for day, time_s in enumerate(times_s):
        measured(root, day, time_s, **(after if day >= since else {}))
    return series(index.launches(root))


@needs_ruptures
def test_a_change_is_found_with_what_else_changed(tmp_path: Path) -> None:
    mpi = "Open MPI v5.0.1"
    times = [1.0, 1.01, 0.99, 1.0, 1.2, 1.21, 1.2]
    (one,) = days(tmp_path, times, 4, toolchain={"mpi": mpi}, machine={**MACHINE, "os": "new"})

    (change,) = one.changes
    assert change.index == 4
    assert change.ratio == pytest.approx(1.2, rel=0.01)
    assert set(change.beside) == {
        ("MPI library", TOOLCHAIN["mpi"], mpi),
        ("operating system", MACHINE["os"], "new"),
    }


@needs_ruptures
def test_noise_is_rarely_reported_as_a_change() -> None:
    noise = np.random.default_rng(7)
    false = sum(bool(change_points(np.exp(noise.normal(0, 0.02, 12)).tolist())) for _ in range(200))
    found = 0
    for _ in range(100):
        values = noise.normal(0, 0.02, 12)
        values[6:] += 0.1
        found += change_points(np.exp(values).tolist()) == [6]

    assert false <= 10
    assert found >= 90


@needs_ruptures
def test_one_outlier_and_equal_times_are_not_changes() -> None:
    assert change_points([1.0] * 10) == []
    assert change_points([1.0, 1.01, 0.99, 1.0, 1.6, 1.0, 1.01, 0.99]) == []
    assert change_points([1.0, 1.0, 2.0]) == []


def test_without_ruptures_the_reason_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ruptures", None)
    days(tmp_path / "r", [1.0, 1.0, 2.0, 2.0], 9)

    with pytest.raises(UserError, match="not installed"):
        change_points([1.0, 1.0, 2.0, 2.0])
    assert main(["history", "--in", str(tmp_path / "r")]) == 0
    assert "ruptures" in capsys.readouterr().out


def test_the_index_is_updated_with_the_records(tmp_path: Path) -> None:
    first = measured(tmp_path / "r", 0, 1.0)
    second = measured(tmp_path / "r", 1, 2.0)
    assert {one.folder for one in index.launches(tmp_path / "r")} == {first, second}

    measured(tmp_path / "r", 1, 3.0)
    assert max(one.time_s for one in index.launches(tmp_path / "r")) > 2.9
    (first / "records.jsonl").unlink()
    assert {one.folder for one in index.launches(tmp_path / "r")} == {second}


def test_invalid_record_lines_are_named_each_time(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    good, damaged = measured(tmp_path / "r", 0, 1.0), measured(tmp_path / "r", 1, 2.0)
    file = damaged / "records.jsonl"
    file.write_bytes(file.read_bytes()[:500])

    for _ in range(2):
        caplog.clear()
        warn_once.cache_clear()
        assert {one.folder for one in index.launches(tmp_path / "r")} == {good}
        (line,) = caplog.messages
        assert line.startswith(f"{file}:1: ")


def test_a_damaged_or_outdated_index_is_rebuilt(tmp_path: Path) -> None:
    measured(tmp_path / "r", 0, 1.0)
    before = index.launches(tmp_path / "r")
    (file,) = (cache_path() / "history").glob("*.sqlite")

    file.write_bytes(b"no database" * 1000)
    assert index.launches(tmp_path / "r") == before
    with sqlite3.connect(file) as database:
        database.execute("pragma user_version = 99")
    assert index.launches(tmp_path / "r") == before
    assert index.launches(tmp_path / "r", rebuild=True) == before


def test_machines_and_cases_stay_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured(tmp_path / "r", 0, 1.0)
    measured(tmp_path / "r", 1, 2.0, n=128)
    measured(tmp_path / "r", 2, 3.0, machine={**MACHINE, "host": "wren"})
    every = series(index.launches(tmp_path / "r"))
    assert [(one.place, one.settings["n"]) for one in every] == [
        ("lark", 64),
        ("lark", 128),
        ("wren", 64),
    ]

    root = str(tmp_path / "r")
    assert main(["history", "--in", root, "--of", every[0].case[:6], "--on", "lark"]) == 0
    out = capsys.readouterr().out
    assert every[0].case in out and every[1].case not in out
    assert "day-00" in out and "day-02" not in out
    for words, known in ((["--on", "robin"], "wren"), (["--of", "stream"], "poisson_cg")):
        assert main(["history", "--in", root, *words]) == 2
        assert known in capsys.readouterr().err
    assert main(["history", "--in", str(tmp_path / "none")]) == 2
    (tmp_path / "empty").mkdir()
    assert main(["history", "--in", str(tmp_path / "empty")]) == 2


@needs_ruptures
def test_a_page_has_each_case_with_its_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    days(tmp_path / "r", [1.0, 1.01, 1.0, 2.0, 2.01, 2.0], 3, haloscope="0.2.0")
    out = tmp_path / "page"

    assert main(["history", "--in", str(tmp_path / "r"), "--out", str(out)]) == 0
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "haloscope: 0.1.0 -&gt; 0.2.0" in page
    assert shows(" ".join(page.split()), "day-03 takes 2.00x ", " as day-02")
    assert 'id="others"' not in page  # a change is in the section of its machine
    table = (out / "tables" / "changes-1.csv").read_text(encoding="utf-8").splitlines()
    assert len(table) == 2
    assert "2.0" in table[1]
    assert "Change points on lark" in " ".join(capsys.readouterr().out.split())


def test_compare_with_last_uses_the_previous_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "r"
    folders = [measured(root, day, time_s) for day, time_s in enumerate((1.0, 2.0, 2.5))]
    measured(root, 3, 9.0)
    measured(root, 1, 0.5, n=128)

    assert index.last_before(folders[2]) == (root / "day-00").resolve()
    assert main(["compare", "--with-last", str(folders[2])]) == 1
    assert "day-00" in capsys.readouterr().out
    for words in (["--with-last", "a", "b"], ["a"], ["a", "b", "c"]):
        assert main(["compare", *words]) == 2
    with pytest.raises(UserError, match="earlier successful launch"):
        index.last_before(folders[0])
