# SPDX-License-Identifier: BSD-3-Clause
"""Cages: groups of namespaces with one first process, whose end is the end of all in them.

A host of a lab is a cage: network, host name, mounts, shared memory and processes of its own. It
has no name but its first process's argument list, so that nothing of it is left when that process
is gone, however it went; and by that argument list it is found again after a kill -9.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from haloscope.errors import Problem, UserError

MARK = "haloscope-lab:"
_UNSHARED = (
    "--mount",
    "--ipc",
    "--uts",
    "--net",
    "--pid",
    "--fork",
    "--mount-proc",
    "--kill-child",
)
_KINDS = ("unshare", "sh")
"""Programs that may bear MARK: no editor with such a file name is ours."""
_PATIENCE_S = 60.0
"""_PATIENCE_S is how long a process may take to end, which takes milliseconds."""


@dataclass(frozen=True)
class Cage:
    """A host of the lab, or its switches. pid: of its first process, as this machine counts."""

    name: str
    pid: int

    def inside(self, command: Sequence[str]) -> list[str]:
        """A command line that runs there."""
        return ["nsenter", "--target", str(self.pid), "--all", "--wd=/", *command]

    def output(self, command: Sequence[str], lines: Sequence[str] = ()) -> str:
        """Return a command's output on this host. lines: its input. Raise UserError if it fails."""
        return output_of(self.inside(command), lines)


def output_of(command: Sequence[str], lines: Sequence[str] = ()) -> str:
    """Return the output of a command. lines: its input. Raise UserError if it fails.

    A command that starts background processes must write to a file: they would keep our pipes open.
    """
    done = subprocess.run(
        command,
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        what = (done.stderr or done.stdout).strip()[-500:] or f"exit code {done.returncode}"
        raise UserError(
            Problem(" ".join(command)[-200:], what, "run haloscope lab down, and try again")
        )
    return done.stdout


def cage(name: str, hosts: Path, holding: int) -> Cage:
    """Make a new one. Raise UserError where the kernel refuses it."""
    first = ["sh", str(files("haloscope.lab") / "host.sh"), name, str(hosts), f"{MARK}{name}"]
    starter = subprocess.Popen(
        ["setsid", "--fork", "unshare", *_UNSHARED, *first],  # it is to outlive us
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        pass_fds=[holding],
    )
    with starter:
        assert starter.stdout
        said = starter.stdout.readline().strip()
    made = next((one for one in there() if one.name == name), None)
    if said != "ready" or made is None:
        remedy = "if this is a container, allow it to create namespaces"
        raise UserError(Problem(f"host {name}", said or "did not start", remedy))
    return made


def there() -> list[Cage]:
    """All cages that there are, whoever made them and whatever became of him."""
    found = {}
    for pid, words in _marked():
        if words[0] == "sh":
            found[words[-1].removeprefix(MARK)] = pid
    return [Cage(name, pid) for name, pid in sorted(found.items())]


def _marked() -> Iterator[tuple[int, list[str]]]:
    """Our first processes, and those that wait for them: process ids and argument lists."""
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
            mine = words and words[0] in _KINDS and words[-1].startswith(MARK)
            if mine and entry.stat().st_uid == os.geteuid():
                yield int(entry.name), words


def end_all() -> int:
    """End every cage with all that runs in it; how many there were. UserError if one stays."""
    names = {words[-1] for _, words in _marked()}
    deadline = time.monotonic() + _PATIENCE_S
    ending = set[int]()
    while left := {pid for pid, _ in _marked()} | {pid for pid in ending if not _ended(pid)}:
        if time.monotonic() > deadline:
            where = f"processes {', '.join(map(str, sorted(left)))}"
            raise UserError(Problem(where, "do not end", "use ps to find out what blocks them"))
        for pid in left - ending:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        ending |= left
        time.sleep(0.02)
    return len(names)


def _ended(pid: int) -> bool:
    """Whether a process is none any more: its arguments are gone before what runs in it is."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in ("Z", "X")
