# SPDX-License-Identifier: BSD-3-Clause
"""Watches what a command does to files and processes, by Python's own audit events."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import pytest

from haloscope.cli import main
from haloscope.errors import printable

LIMIT_S = 600
"""Seconds that a command on a hostile file may take, however busy the machine is."""
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork")
CHANGES = (
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.symlink", "os.link", "os.chmod"),
    *("os.truncate", "shutil.rmtree", "shutil.move"),
)
REACHES = ("socket.connect", "urllib.Request", "webbrowser.open", "ctypes.dlopen")


@dataclass
class Seen:
    """What happened: programs started, files opened and changed, other machines reached."""

    started: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    reached: list[str] = field(default_factory=list)


_seen: Seen | None = None


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if _seen is None:
        return
    if event == "open":
        path, _, flags = arguments
        writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)
        if isinstance(path, str | bytes):
            (_seen.written if writes else _seen.opened).append(_absolute(path))
    elif event in STARTS:
        _seen.started.append(f"{event} {arguments}")
    elif event in CHANGES:
        paths = (path for path in arguments if isinstance(path, str | bytes))
        _seen.written.extend(_absolute(path) for path in paths)
    elif event in REACHES:
        _seen.reached.append(f"{event} {arguments}")


def _absolute(path: str | bytes) -> str:
    """Without following links: the canary detects a file outside that a link reaches."""
    return os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - resolve() follows links


sys.addaudithook(_hook)


@contextmanager
def watched() -> Iterator[Seen]:
    """What happens inside; Python keeps no bytecode of what it imports first just then."""
    global _seen
    seen = _seen = Seen()
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield seen
    finally:
        _seen, sys.dont_write_bytecode = None, kept


def state(folder: Path) -> dict[str, str]:
    """Every file below a folder with a hash of what it is."""
    return {str(path.relative_to(folder)): _state(path) for path in sorted(folder.rglob("*"))}


def _state(path: Path) -> str:
    if path.is_symlink():
        return f"link to {os.readlink(path)}"  # noqa: PTH115
    if not path.is_file():
        return oct(path.lstat().st_mode)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass
class Outcome:
    """What a command printed, and how it ended."""

    code: int
    out: str
    seen: Seen


def obey(words: list[str], capture: pytest.CaptureFixture[str]) -> Outcome:
    """Run a command line in this process. It fails by an exception, and by taking too long."""
    capture.readouterr()

    def too_long(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"no end within {LIMIT_S} s: {words}")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LIMIT_S)
    try:
        with watched() as seen:
            code = main(words)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    printed = capture.readouterr()
    return Outcome(code, printed.out + printed.err, seen)


def obeyed_by_a_terminal(text: str) -> list[str]:
    """The characters of a text that a terminal obeys, but for ends of lines."""
    return [sign for sign in text if printable(sign) != sign or sign == "\r"]
