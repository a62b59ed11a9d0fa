"""A launched job with a time limit, of which nothing survives its end or ours."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_SUPERVISE = Path(__file__).with_name("supervise.py")
TAIL = 4000


@dataclass(frozen=True)
class Ended:
    """How a job ended.

    code: its exit code, 128 + signal if it was killed by one. output: the end of what it printed.
    """

    code: int
    timed_out: bool
    wall_s: float
    output: str


def run(
    command: Sequence[str], environment: Mapping[str, str], timeout_s: float, tail: int = TAIL
) -> Ended:
    """Run a command to its end, or to its time limit; keep `tail` characters of what it prints.

    Whichever way this is left (an exception, Ctrl-C, even kill -9 of this process), the command and
    all that it started are ended too: see supervise.py.
    """
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SUPERVISE), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            env=environment,
            start_new_session=True,  # a Ctrl-C is ours to handle
        )
        with supervisor:
            assert supervisor.stdin and supervisor.stdout
            try:
                ended, _, _ = select.select([supervisor.stdout], [], [], timeout_s)
            finally:
                supervisor.stdin.close()  # ends whatever is still there
            wall_s = time.perf_counter() - begin
            code = int(supervisor.stdout.read() or 128)
        return Ended(code, not ended, wall_s, _end_of(output, tail))


def _end_of(file: BinaryIO, characters: int) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 4 * characters))
    return file.read().decode(errors="replace")[-characters:]
