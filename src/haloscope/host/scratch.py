# SPDX-License-Identifier: BSD-3-Clause
"""Folders for what no launch may leave behind, in TMPDIR and in shared memory; what died ones left.

Who makes one holds a lock on it for as long as it lives, however it ends. What nobody holds was
left by a process that was killed, and `sweep` removes it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from haloscope.errors import Problem, UserError
from haloscope.paths import cache_folder

MEMORY = Path("/dev/shm")
"""MEMORY is where Linux has files that lie in memory, and MPI libraries the memory they share."""
PREFIX = "haloscope-scratch-"
"""PREFIX begins the name of every such folder; nothing of another name is swept."""
SEGMENTS = ("mpich_shm_", "mpich_vci_")
"""What MPICH leaves in MEMORY when ranks are killed; Open MPI can be told a folder."""


@dataclass(frozen=True)
class Scratch:
    """What one launch may write to. memory: None where the system has no such folder."""

    folder: Path
    memory: Path | None


@contextmanager
def scratch() -> Iterator[Scratch]:
    """Folders that are there until the end, when what ranks left beside them goes, too."""
    with ExitStack() as stack:
        folder = stack.enter_context(_held(Path(tempfile.gettempdir())))
        since = (folder / _HELD).stat().st_mtime
        memory = None
        with suppress(OSError):  # there is none, or it is full
            memory = stack.enter_context(_held(MEMORY))
        try:
            yield Scratch(folder, memory)
        finally:
            _remove_segments(since)


def cramped() -> str | None:
    """Why ranks of this host may get no shared memory, in words; None where there is room."""
    try:
        room = shutil.disk_usage(MEMORY)
    except OSError:
        return f"{MEMORY} does not exist, but ranks of a host need it for shared memory"
    if room.total >= _LEAST_BYTES and room.free >= _LEAST_BYTES // 4:
        return None
    free, total = room.free / 2**20, room.total / 2**20
    return f"{MEMORY} has {free:.1f} of {total:.1f} MiB free; ranks of a host need it for messages"


_LEAST_BYTES = 64 * 2**20
"""With less, launches hang or are killed: MPI libraries take some megabytes for each rank."""


def may_execute(folder: Path) -> bool:
    """Whether programs in a folder may be run: not where it is mounted noexec."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=PREFIX) as own:
        script = Path(own) / "trial"
        script.write_text("#!/bin/sh\n", encoding="utf-8")
        script.chmod(0o700)
        return os.access(script, os.X_OK)


def program_folder(name: str) -> Path:
    """Return a folder in the cache for programs and libraries; create it if needed.

    Raise UserError if it is not writable, or if nothing in it can be run.
    """
    folder = cache_folder(name)
    if not may_execute(folder):
        what = "is on a file system that is mounted noexec: programs built there cannot run"
        remedy = "set HALOSCOPE_CACHE to a folder that is not noexec"
        raise UserError(Problem(str(folder), what, remedy))
    return folder


def settle() -> None:
    """Let Python's temporary files go where TMPDIR says, or to /tmp, where one can write there.

    Python itself tries a folder by writing a file there, which it leaves if it is killed just then.
    """
    for name in filter(None, (os.environ.get("TMPDIR"), "/tmp")):
        if Path(name).is_dir() and os.access(name, os.W_OK | os.X_OK):
            tempfile.tempdir = str(Path(name).absolute())
            return


def sweep() -> None:
    """Remove what processes of this user left that were killed: folders, and ranks' memory."""
    began = []
    for folder in _left():
        with suppress(OSError):
            _remove_unheld(folder)
        with suppress(OSError), _taken(folder / _HELD) as since:
            began.append(since)
            _remove(folder)
    if began:
        _remove_segments(min(began))


_HELD = ".held"


@contextmanager
def _held(root: Path) -> Iterator[Path]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
        try:
            lock = os.open(folder / _HELD, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:  # swept just now
            continue
        with suppress(OSError):  # where nothing can be locked, nothing is swept either
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # another command is sweeping it
                os.close(lock)
                continue
        if (folder / _HELD).exists():
            break
        os.close(lock)
    try:
        yield folder
    finally:
        _remove(folder)
        os.close(lock)


def _remove(folder: Path) -> None:
    """Remove a folder and what is in it, `_HELD` last: whoever is killed here leaves it to others.

    What can't be removed stays.
    """
    with suppress(OSError):
        _remove_all(path for path in folder.iterdir() if path.name != _HELD)
        (folder / _HELD).unlink(missing_ok=True)
        folder.rmdir()


def _remove_unheld(folder: Path) -> None:
    """Remove a folder without `_HELD`, whose maker was killed before it made that, or at the end.

    Another may be making it just now: nothing is removed but what was there before.
    """
    there = [*folder.iterdir()]
    if not any(path.name == _HELD for path in there):
        _remove_all(there)
        folder.rmdir()


def _remove_all(paths: Iterable[Path]) -> None:
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


@contextmanager
def _taken(held: Path) -> Iterator[float]:
    """While a file is locked by us: when it was made. OSError where another process holds it."""
    lock = os.open(held, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield os.fstat(lock).st_mtime
    finally:
        os.close(lock)


def _left() -> Iterator[Path]:
    for root in {Path(tempfile.gettempdir()), MEMORY}:
        with suppress(OSError):
            for path in root.iterdir():
                if path.name.startswith(PREFIX) and path.lstat().st_uid == os.geteuid():
                    yield path


def _remove_segments(since: float) -> None:
    """Remove the memory that ranks of this user shared, made since then, and no process holds."""
    found = []
    with suppress(OSError):
        for path in MEMORY.iterdir():
            if path.name.startswith(SEGMENTS):
                status = path.lstat()
                if status.st_uid == os.geteuid() and status.st_ctime >= since:
                    found.append(path)
    held = _names_held() if found else set()
    for path in found:
        if path.name not in held:
            path.unlink(missing_ok=True)


def _names_held() -> set[str]:
    names: set[str] = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            names.update(_NAME.findall((process / "maps").read_text(errors="replace")))
            for opened in (process / "fd").iterdir():
                with suppress(OSError):
                    names.update(_NAME.findall(str(opened.readlink())))
    return names


_NAME = re.compile(rf"{MEMORY}/([^/\s]+)")
