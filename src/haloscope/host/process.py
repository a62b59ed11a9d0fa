# SPDX-License-Identifier: BSD-3-Clause
"""Run a command with a time limit; none of its processes survives its end or ours."""

from __future__ import annotations

import os
import select
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from haloscope.errors import printable
from haloscope.verbosity import shows_commands

_SUPERVISE = Path(__file__).with_name("supervise.py")
TAIL = 4000


def supervised(command: Sequence[str]) -> list[str]:
    """Return a command that ends, with all its processes, when its standard input is closed."""
    return [sys.executable, "-I", "-S", str(_SUPERVISE), *command]


@cache
def show_commands() -> None:
    """Print each command that this process runs from now on, if verbosity requires it."""
    sys.addaudithook(_show_command)


def _show_command(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("subprocess.Popen", "os.exec") and shows_commands():
        words = [os.fsdecode(word) for word in arguments[1]]
        own = supervised([])
        if words[: len(own)] == own:
            words = words[len(own) :]
        print(f"$ {printable(shlex.join(words))}", file=sys.stderr, flush=True)


def exit_and_peak(by_the_supervisor: bytes) -> tuple[int, int]:
    """Parse the exit code and peak memory in bytes written by supervise.py; 128 if it
    was killed.
    """
    code, peak = (int(word) for word in by_the_supervisor.split() or (128, 0))
    return code, peak


@dataclass(frozen=True)
class Ended:
    """The end of a command.

    code: its exit code, or 128 + signal. output: the last part of its output. peak_bytes: peak
    memory of the largest of its processes.
    """

    code: int
    timed_out: bool
    wall_s: float
    output: str
    peak_bytes: int = 0


class Running:
    """A running command. It must be ended with `end`, however the caller is left.

    When it is ended, or when this process dies (an exception, Ctrl-C, even kill -9), the command
    and all its processes are ended too; see supervise.py.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], timeout_s: float
    ) -> None:
        """Start the command and its time limit."""
        self._begin = time.perf_counter()
        self._deadline = self._begin + timeout_s
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end()
        self._supervisor = subprocess.Popen(
            supervised(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._output,
            env=environment,
            start_new_session=True,  # we handle Ctrl-C
        )

    def fileno(self) -> int:
        """Return a file descriptor that becomes readable when the command has ended."""
        assert self._supervisor.stdout
        return self._supervisor.stdout.fileno()

    @property
    def left_s(self) -> float:
        """Return the seconds until its time limit, at least 0."""
        return max(0.0, self._deadline - time.perf_counter())

    def end(self, tail: int = TAIL) -> Ended:
        """End all remaining processes; return how it ended, and the last `tail` characters of
        output.
        """
        with self._output, self._supervisor as supervisor:
            assert supervisor.stdin and supervisor.stdout
            in_time = bool(select.select([self], [], [], 0)[0])
            supervisor.stdin.close()
            wall_s = time.perf_counter() - self._begin
            code, peak = exit_and_peak(supervisor.stdout.read())
            supervisor.wait()
            return Ended(code, not in_time, wall_s, _end_of(self._output, tail), peak)


def wait(running: Sequence[Running]) -> list[Running]:
    """Wait until some of these have ended or reached their time limit; return those."""
    ended, _, _ = select.select(running, [], [], min(one.left_s for one in running))
    return [one for one in running if one in ended or one.left_s == 0.0]


def run(
    command: Sequence[str], environment: Mapping[str, str], timeout_s: float, tail: int = TAIL
) -> Ended:
    """Run a command until its end or time limit, and keep the last `tail` characters of output.

    Inside `ahead`, the same command in the same environment may already be running.
    """
    running = _started.pop(_key(command, environment), None)
    running = running or Running(command, environment, timeout_s)
    try:
        wait([running])
    except BaseException:
        running.end()
        raise
    return running.end(tail)


@contextmanager
def ahead(
    commands: Iterable[tuple[Sequence[str], Mapping[str, str]]], timeout_s: float
) -> Iterator[None]:
    """Start commands, with their environments, that `run` will request within the context.

    Commands that were not requested are ended with the context. timeout_s: their time limit, which
    replaces that of `run`.
    """
    try:
        for command, environment in commands:
            _started[_key(command, environment)] = Running(command, environment, timeout_s)
        yield
    finally:
        while _started:
            _started.popitem()[1].end()


_Key = tuple[tuple[str, ...], frozenset[tuple[str, str]]]
_started: dict[_Key, Running] = {}


def _key(command: Sequence[str], environment: Mapping[str, str]) -> _Key:
    return tuple(command), frozenset(environment.items())


def _end_of(file: BinaryIO, characters: int) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 4 * characters))
    return file.read().decode(errors="replace")[-characters:]
