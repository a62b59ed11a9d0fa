# SPDX-License-Identifier: BSD-3-Clause
"""Temporary folders of launches, in TMPDIR and in shared memory, and removal of abandoned ones.

The process that creates a folder holds a lock on it until it ends, however it ends. An unlocked
folder was left by a killed process, and `sweep` removes it.
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
"""MEMORY is Linux's folder for files in memory, where MPI libraries keep shared memory."""
PREFIX = "haloscope-scratch-"
"""PREFIX begins the name of every such folder; `sweep` removes no others."""
SEGMENTS = ("mpich_shm_", "mpich_vci_")
"""Files that MPICH leaves in MEMORY when ranks are killed; Open MPI uses a configurable folder."""


@dataclass(frozen=True)
class Scratch:
    """Folders that one launch may write to. memory: None if the system has no such folder."""

    folder: Path
    memory: Path | None


@contextmanager
def scratch() -> Iterator[Scratch]:
    """Create folders that are removed at the end, with what ranks left beside them."""
    with ExitStack() as stack:
        folder = stack.enter_context(_held(Path(tempfile.gettempdir())))
        since = (folder / _HELD).stat().st_mtime
        memory = None
        with suppress(OSError):  # the folder does not exist, or it is full
            memory = stack.enter_context(_held(MEMORY))
        try:
            yield Scratch(folder, memory)
        finally:
            _remove_segments(since)


def cramped() -> str | None:
    """Return why ranks of this host may get no shared memory; None if there is enough."""
    try:
        room = shutil.disk_usage(MEMORY)
    except OSError:
        return f"{MEMORY} does not exist, but ranks of a host need it for shared memory"
    if room.total >= _LEAST_BYTES and room.free >= _LEAST_BYTES // 4:
        return None
    free, total = room.free / 2**20, room.total / 2**20
    return f"{MEMORY} has {free:.1f} of {total:.1f} MiB free; ranks of a host need it for messages"


_LEAST_BYTES = 64 * 2**20
"""With less, launches hang or are killed: MPI libraries use some megabytes per rank."""


def may_execute(folder: Path) -> bool:
    """Return whether programs in a folder can be run: not if it is mounted noexec."""
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
        what = "is on a file system mounted noexec, so programs built there cannot run"
        remedy = "set HALOSCOPE_CACHE to a folder on a file system mounted without noexec"
        raise UserError(Problem(str(folder), what, remedy))
    return folder


def settle() -> None:
    """Set Python's temporary folder to TMPDIR, or to /tmp, if it is writable.

    Python itself tests a folder by writing a file, which remains if the process is killed just
    then.
    """
    for name in filter(None, (os.environ.get("TMPDIR"), "/tmp")):
        if Path(name).is_dir() and os.access(name, os.W_OK | os.X_OK):
            tempfile.tempdir = str(Path(name).absolute())
            return


def sweep() -> None:
    """Remove folders and ranks' memory that killed processes of this user left."""
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
        except FileNotFoundError:  # removed in the meantime
            continue
        with suppress(OSError):  # without locks nothing is removed
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # another command is removing it
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
    """Remove a folder and its contents, `_HELD` last, so that others finish if we are killed.

    What cannot be removed remains.
    """
    with suppress(OSError):
        _remove_all(path for path in folder.iterdir() if path.name != _HELD)
        (folder / _HELD).unlink(missing_ok=True)
        folder.rmdir()


def _remove_unheld(folder: Path) -> None:
    """Remove a folder without `_HELD`, whose creator was killed before creating it, or at the end.

    Another process may be creating the folder now, so only what was there before is removed.
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
    """Lock a file and yield when it was created. Raise OSError if another process holds it."""
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
    """Remove shared memory of this user's ranks created since then that no process uses."""
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
