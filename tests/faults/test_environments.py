# SPDX-License-Identifier: BSD-3-Clause
"""Odd environments: a command ends well, or says in words what it lacks."""

from __future__ import annotations

import os
import pwd
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import poisson, write_folder

from haloscope.errors import UserError
from haloscope.paths import cache_path
from haloscope.run.places.simulated import SimulatedCluster

HALOSCOPE = [sys.executable, "-P", "-m", "haloscope"]
ENVIRONMENTS: dict[str, dict[str, str | None]] = {
    "no HOME": {"HOME": None},
    "a HOME that is not there": {"HOME": "/nonexistent"},
    "an empty PATH": {"PATH": ""},
    "TMPDIR with blanks and accents": {"TMPDIR": "{tmp}/t m p é"},
    "a TMPDIR that is not there": {"TMPDIR": "/nonexistent"},
    "plain C": {"LANG": "C", "LC_ALL": "C"},
    "POSIX without coercion": {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    "ASCII alone": {"PYTHONIOENCODING": "ascii"},
    "UTF-16": {"PYTHONIOENCODING": "utf-16"},
    "EBCDIC": {"PYTHONIOENCODING": "cp037"},
    "one column": {"COLUMNS": "1"},
    "no columns": {"COLUMNS": "0"},
    "columns that are no number": {"COLUMNS": "wide"},
    "a terminal that is not known": {"TERM": "none", "FORCE_COLOR": "1"},
    "a huge variable": {"HUGE": "x" * 100_000},
    "optimised Python": {"PYTHONOPTIMIZE": "2"},
}


def environment(changes: dict[str, str | None], tmp_path: Path) -> dict[str, str]:
    made = {key: value and value.format(tmp=tmp_path) for key, value in changes.items()}
    (tmp_path / "t m p é").mkdir()
    return {key: value for key, value in {**os.environ, **made}.items() if value is not None}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_folder_is_displayed_in_any_environment(tmp_path: Path, name: str) -> None:
    folder = write_folder(tmp_path / "é", [poisson(64), poisson(64, launch=1)])
    env = environment(ENVIRONMENTS[name], tmp_path)
    done = subprocess.run([*HALOSCOPE, "show", folder], env=env, capture_output=True, check=False)
    assert b"Traceback" not in done.stderr, done.stderr.decode(errors="replace")
    assert done.returncode == 0
    assert done.stdout


def few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))


LIMITS: dict[str, Callable[[], None]] = {
    "32 files": few_files,
    "no standard input": lambda: os.close(0),
    "no standard error": lambda: os.close(2),
}


@pytest.mark.parametrize("name", LIMITS)
def test_a_folder_is_displayed_under_unusual_resource_limits(tmp_path: Path, name: str) -> None:
    folder = write_folder(tmp_path / "results", [poisson(64), poisson(64, launch=1)])
    done = subprocess.run(
        [*HALOSCOPE, "show", folder], capture_output=True, check=False, preexec_fn=LIMITS[name]
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode(errors="replace")
    assert done.returncode == 0
    assert b"poisson" in done.stdout.lower()


def test_a_user_without_a_home_folder_gets_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was a RuntimeError of a library."""

    def unknown(number: int) -> pwd.struct_passwd:
        raise KeyError(number)

    for name in ("HOME", "HALOSCOPE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)

    with pytest.raises(UserError, match="HOME: is not set") as raised:
        cache_path()

    assert "HALOSCOPE_CACHE" in raised.value.problems[0].remedy


def test_a_path_that_smpirun_would_split_is_refused_before_simulation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Every case failed, because SimGrid could not open 'm' of "t m p"."""
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "t m p"))

    with pytest.raises(UserError) as raised:
        SimulatedCluster.named("stampede2")

    assert "TMPDIR" in raised.value.problems[0].where
