# SPDX-License-Identifier: BSD-3-Clause
"""Run a command so that no process of it survives: `python -I -S supervise.py COMMAND...`.

This is a separate program, because it must outlive a haloscope that was killed. Its standard input
is a pipe that is never written to. When the pipe closes, because the runner ends the command or is
gone, the command and all its descendants are ended, whatever process groups or sessions they moved
to. The same happens when the command ends by itself. It writes the command's exit code (128 +
signal if killed) and the peak memory in bytes of its largest process to standard output.
"""

from __future__ import annotations

# Each launch starts this program. contextlib and signal would double its processor time.
import _signal as signal  # type: ignore[import-not-found]
import ctypes
import errno
import os
import resource
import select
import sys
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_GRACE_S = 4.0  # maximum time for a launcher to end its ranks and remove their shared memory
_prctl = ctypes.CDLL(None).prctl


def main(command: list[str]) -> int:
    """Run `command` until its end, or until standard input closes."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # orphans become our children, so none escapes
    children, wake = os.pipe()
    for end in (children, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = start(command)
    status = wait(child, children)
    if status is None:
        send(child, signal.SIGTERM)
        status = wait_at_most(child, _GRACE_S)
    end_descendants()
    code = os.waitstatus_to_exitcode(status) if status is not None else -signal.SIGKILL
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    try:
        os.write(1, b"%d %d" % (code if code >= 0 else 128 - code, peak))
    except BrokenPipeError:
        return 0  # the runner is gone
    return 0


def send(process: int, number: int) -> None:
    """Send a signal to a process that may have ended."""
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return


def start(command: list[str]) -> int:
    """Start `command` and return its process id; its output goes to standard error."""
    child = os.fork()
    if child:
        return child
    try:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)  # if this supervisor is killed
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {reason(command[0], error)}\n".encode())
    os._exit(127)


def reason(program: str, error: OSError) -> str | None:
    """Return why a program cannot be started; the system's message does not name a missing
    interpreter.
    """
    if error.errno == errno.ENOEXEC:
        return "is not executable: no #! line, or built for another processor"
    if error.errno == errno.ENOENT and os.path.exists(program):  # noqa: PTH110
        return "interpreter (#! line) or dynamic loader not found"
    return error.strerror


def wait(child: int, children: int) -> int | None:
    """Return the wait status of `child`; None if standard input closed first."""
    while True:
        ready, _, _ = select.select([0, children], [], [])
        if children in ready:
            os.read(children, 512)
            status = reap(child)
            if status is not None:
                return status
        if 0 in ready:
            return None


def wait_at_most(child: int, seconds: float) -> int | None:
    """Return the wait status of `child`, or None if it has not ended after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        status = reap(child)
        if status is not None:
            return status
        time.sleep(0.01)
    return None


def reap(child: int) -> int | None:
    """Collect all ended processes; return the wait status of `child` if it was among them."""
    found = None
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if process == 0:
            return found
        if process == child:
            found = status


def end_descendants() -> None:
    """Kill all descendants of this process; they become our children and are collected."""
    while any_left():
        for process in descendants(os.getpid()):
            send(process, signal.SIGKILL)
        reap(0)
        time.sleep(0.002)


def any_left() -> bool:
    """Return whether a descendant remains; those without a parent are our children."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def descendants(root: int) -> list[int]:
    """Return all descendants of `root`."""
    parents = dict(filter(None, map(parent, filter(str.isdigit, os.listdir("/proc")))))  # noqa: PTH208
    return [process for process in parents if comes_from(process, root, parents)]


def parent(process: str) -> tuple[int, int] | None:
    """Return (process, its parent), or None if it has ended."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:  # noqa: PTH123
            return int(process), int(file.read().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def comes_from(process: int, root: int, parents: dict[int, int]) -> bool:
    """Return whether `root` is an ancestor of `process`."""
    while process in parents:
        process = parents[process]
        if process == root:
            return True
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
