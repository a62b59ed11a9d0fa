# SPDX-License-Identifier: BSD-3-Clause
"""Scratch folders of processes that were killed are swept, at whatever moment that was."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from haloscope.host import scratch

KILLED_WHILE_REMOVING = """
import os, pathlib, signal, sys
from haloscope.host import scratch

scratch.MEMORY = pathlib.Path(sys.argv[1])
with scratch.scratch() as own:
    for name in "abc":
        (own.folder / name).touch()
        (own.folder / f"{name}-folder").mkdir()
        (own.folder / f"{name}-folder" / "inside").touch()
    count = int(sys.argv[2])
    for module, name in ((os, "unlink"), (os, "rmdir")):
        really = getattr(module, name)
        def one(*words, really=really, **more):
            global count
            count -= 1
            if count < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return really(*words, **more)
        setattr(module, name, one)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files are, and memory that is shared, too."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)  # it is read anew from TMPDIR
    monkeypatch.setattr(scratch, "MEMORY", tmp_path / "none")
    return tmp_path


@pytest.mark.parametrize("after", range(11))  # of what is removed
def test_a_folder_whose_owner_was_killed_during_removal_is_swept(place: Path, after: int) -> None:
    words = [sys.executable, "-c", KILLED_WHILE_REMOVING, str(scratch.MEMORY), str(after)]
    done = subprocess.run(words, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(left(place)) == 1

    scratch.sweep()

    assert left(place) == []


def test_a_partly_removed_folder_can_still_be_locked(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that identifies the owner is removed last."""
    removed: list[str] = []
    really = Path.unlink

    def noted(path: Path, *, missing_ok: bool = False) -> None:
        removed.append(path.name)
        really(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", noted)
    with scratch.scratch() as own:
        (own.folder / ".a").touch()
        (own.folder / "z").touch()

    assert sorted(removed[:-1]) == [".a", "z"]
    assert removed[-1] == ".held"


@pytest.mark.parametrize("files", [[], ["record.json"], ["record.json", "folder/inside"]])
def test_a_folder_that_cannot_be_locked_is_swept(place: Path, files: list[str]) -> None:
    """Its maker was killed before it made the file that is held, or after it removed it."""
    folder = place / f"{scratch.PREFIX}x"
    folder.mkdir()
    for name in files:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()

    scratch.sweep()

    assert left(place) == []


def test_a_folder_in_use_is_not_swept(place: Path) -> None:
    with scratch.scratch() as own:
        (own.folder / "record.json").touch()
        scratch.sweep()
        assert left(own.folder) == [".held", "record.json"]
    assert left(place) == []


def test_a_folder_swept_before_it_was_locked_is_recreated(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, made = tempfile.mkdtemp, []

    def swept_at_first(**words: str) -> str:
        made.append(make(**words))
        if len(made) == 1:
            scratch.sweep()
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", swept_at_first)
    with scratch.scratch() as own:
        assert own.folder == Path(made[1])


def test_a_folder_being_swept_by_another_command_is_skipped(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sweeper holds the lock, and has not removed anything yet."""
    tried: list[int] = []
    lock = fcntl.flock

    def busy_once(file: int, operation: int) -> None:
        tried.append(file)
        if len(tried) == 1:
            raise BlockingIOError
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", busy_once)
    with scratch.scratch() as own:
        there = {path.name for path in place.iterdir()}
        assert own.folder.name in there and len(there) == 2


def test_folders_with_other_names_are_not_swept(place: Path) -> None:
    (place / "haloscope-notes").mkdir()
    scratch.sweep()
    assert left(place) == ["haloscope-notes"]


def left(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


def test_finding_the_temporary_folder_writes_no_file(tmp_path: Path) -> None:
    """Python's own way writes one, and a process that is killed just then leaves it."""
    script = (
        "import os, tempfile; from haloscope.host import scratch\n"
        "scratch.settle(); tempfile._get_default_tempdir = None\n"
        "print(tempfile.gettempdir())\n"
    )
    for variable, expected in ((str(tmp_path), str(tmp_path)), ("/nowhere", "/tmp")):
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "TMPDIR": variable}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stdout.strip() == expected
