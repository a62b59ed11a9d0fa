# SPDX-License-Identifier: BSD-3-Clause
"""Which tests --cheap leaves out: those that started a program or took long when they last ran."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from costs import CHEAP_S, LONG, PROGRAM

SUPPORT = Path(__file__).parents[1] / "support"
TESTS = f"""
import subprocess, time, pytest
from pathlib import Path

def busy():
    end = time.process_time() + {1.1 * CHEAP_S}
    while time.process_time() < end:
        pass

@pytest.fixture(scope="module")
def long():
    busy()

@pytest.fixture(scope="module")
def program():
    subprocess.run(["true"], check=True)

def test_cheap(): pass
def test_long(): busy()
def test_long_by_what_it_shares(long): pass
def test_also_long_by_what_it_shares(long): pass
def test_program(): subprocess.run(["true"], check=True)
def test_program_by_what_it_shares(program): pass
def test_also_program_by_what_it_shares(program): pass
def test_fails():
    busy()
    assert Path("mended").exists()
"""


def ran(folder: Path, *words: str) -> tuple[set[str], dict[str, int]]:
    """Run pytest in a folder: the tests that ran, and how many were left out by reason."""
    words = ("-p", "costs", "-rA", "-q", "--rootdir", str(folder), "-c", os.devnull, *words)
    said = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SUPPORT)},
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    tests = {*re.findall(r"^(?:PASSED|FAILED) \S+::(\w+)", said, re.M)}
    left = {why: int(count) for count, why in re.findall(r"^LEFT OUT \[(\d+)\] (.*)", said, re.M)}
    return tests, left


def test_expensive_tests_are_skipped_once_their_cost_is_known(tmp_path: Path) -> None:
    """Two workers record and select as one process does."""
    (tmp_path / "test_a.py").write_text(TESTS)
    every = {*re.findall(r"def (test_\w+)", TESTS)}
    workers = ("-n", "2", "--dist", "loadfile")

    assert ran(tmp_path, "--cheap", *workers) == (every, {})  # none is known
    (tmp_path / "test_a.py").write_text(f"{TESTS}\ndef test_new(): pass\n")
    cheap = {"test_cheap", "test_fails", "test_new"}  # what failed has no cost
    assert ran(tmp_path, "--cheap", *workers) == (cheap, {LONG: 3, PROGRAM: 3})
    (tmp_path / "mended").touch()
    ran(tmp_path)
    assert ran(tmp_path, "--cheap") == ({"test_cheap", "test_new"}, {LONG: 4, PROGRAM: 3})
    (tmp_path / "mended").unlink()
    assert ran(tmp_path, "--cheap", "--reached", "test_a.py") == ({*every, "test_new"}, {})
    assert ran(tmp_path, "--cheap") == (cheap, {LONG: 3, PROGRAM: 3})


def test_without_a_cache_every_test_runs(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("def test_a(): pass\n")
    assert ran(tmp_path, "-p", "no:cacheprovider") == ({"test_a"}, {})


def test_a_cheap_run_keeps_known_costs(tmp_path: Path) -> None:
    """With its first user left out, a shared fixture or cache is on another test's account."""
    (tmp_path / "test_a.py").write_text("def test_a(): pass\n")
    record = tmp_path / ".pytest_cache" / "v" / "haloscope" / "costs"
    ran(tmp_path)
    assert json.loads(record.read_text()).keys() == {"test_a.py::test_a"}
    record.write_text('{"test_a.py::test_a": 0.125}')

    ran(tmp_path, "--cheap")

    assert json.loads(record.read_text()) == {"test_a.py::test_a": 0.125}
