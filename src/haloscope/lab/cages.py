# SPDX-License-Identifier: BSD-3-Clause
"""Cages: groups of namespaces with one first process, whose end ends all others in them.

A host of a lab is a cage: it has its own network, host name, mounts, shared memory, and processes.
It is identified only by the argument list of its first process. Nothing remains when that process
ends, however it ends, and after a kill -9 it can still be found.
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
"""Programs that may have MARK among their arguments; an editor of a file with that name is not
ours.
"""
_PATIENCE_S = 60.0
"""_PATIENCE_S is the time limit for the end of a process, which takes milliseconds."""


@dataclass(frozen=True)
class Cage:
    """A host of the lab, or its switches. pid: of its first process, in this machine's
    namespace.
    """

    name: str
    pid: int

    def inside(self, command: Sequence[str]) -> list[str]:
        """Return a command line that runs inside the cage."""
        return ["nsenter", "--target", str(self.pid), "--all", "--wd=/", *command]

    def output(self, command: Sequence[str], lines: Sequence[str] = ()) -> str:
        """Return a command's output on this host. lines: its input. Raise UserError if it fails."""
        return output_of(self.inside(command), lines)


def output_of(command: Sequence[str], lines: Sequence[str] = ()) -> str:
    """Return the output of a command. lines: its input. Raise UserError if it fails.

    A command that starts background processes must write to a file, because they would keep our
    pipes open.
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
    """Create a cage. Raise UserError if the kernel refuses."""
    first = ["sh", str(files("haloscope.lab") / "host.sh"), name, str(hosts), f"{MARK}{name}"]
    starter = subprocess.Popen(
        ["setsid", "--fork", "unshare", *_UNSHARED, *first],  # it must outlive this process
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
    """Return all existing cages, whoever created them."""
    found = {}
    for pid, words in _marked():
        if words[0] == "sh":
            found[words[-1].removeprefix(MARK)] = pid
    return [Cage(name, pid) for name, pid in sorted(found.items())]


def _marked() -> Iterator[tuple[int, list[str]]]:
    """Yield process ids and argument lists of first processes, and of those that wait for them."""
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
            mine = words and words[0] in _KINDS and words[-1].startswith(MARK)
            if mine and entry.stat().st_uid == os.geteuid():
                yield int(entry.name), words


def end_all() -> int:
    """End every cage with all its processes; return their number. Raise UserError if
    one remains.
    """
    names = {words[-1] for _, words in _marked()}
    deadline = time.monotonic() + _PATIENCE_S
    ending = set[int]()
    while left := {pid for pid, _ in _marked()} | {pid for pid in ending if not _ended(pid)}:
        if time.monotonic() > deadline:
            where = f"processes {', '.join(map(str, sorted(left)))}"
            raise UserError(Problem(where, "did not end", "use ps to find out what blocks them"))
        for pid in left - ending:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        ending |= left
        time.sleep(0.02)
    return len(names)


def _ended(pid: int) -> bool:
    """Return whether a process has ended; its arguments disappear before its children do."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in ("Z", "X")
