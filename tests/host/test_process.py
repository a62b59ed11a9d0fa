# SPDX-License-Identifier: BSD-3-Clause
"""Jobs end, and nothing of them is left: not by a time limit, an exception, or kill -9."""

import contextlib
import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from haloscope.host import process

# a launcher whose rank leaves for a session of its own, and ignores being asked to end
ESCAPE = """
import os, signal, subprocess, sys, time
rank = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", rank], start_new_session=True)
with open(sys.argv[1], "w") as file:
    file.write(f"{os.getpid()} {child.pid}\\n")
time.sleep(600)
"""


def escaping(pids: Path) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", ESCAPE, str(pids)]


def started(pids: Path) -> list[int]:
    while not (pids.exists() and pids.read_text().endswith("\n")):
        time.sleep(0.01)
    return [int(pid) for pid in pids.read_text().split()]


def wait_until_gone(pids: list[int]) -> None:
    """Returns once none is there (or only as a zombie); the test's own time limit is the cap."""
    while any(alive(pid) for pid in pids):
        time.sleep(0.01)


def alive(pid: int) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -SEGV $$", 128 + signal.SIGSEGV)]
)
def test_the_exit_code_is_that_of_the_command(script: str, code: int) -> None:
    ended = process.run(["sh", "-c", script], os.environ, 600)
    assert (ended.code, ended.timed_out) == (code, False)


def test_a_missing_launcher_is_reported() -> None:
    ended = process.run(["/no/such/mpirun"], os.environ, 600)
    assert (ended.code, ended.output) == (127, f"/no/such/mpirun: {os.strerror(errno.ENOENT)}\n")


def test_the_end_of_the_output_is_kept() -> None:
    ended = process.run(["sh", "-c", "seq 100000; echo last >&2"], os.environ, 600)
    assert len(ended.output) == 4000
    assert ended.output.endswith("99999\n100000\nlast\n")


def test_the_environment_is_inherited() -> None:
    ended = process.run(
        ["sh", "-c", "echo $OMP_PLACES"], {**os.environ, "OMP_PLACES": "cores"}, 600
    )
    assert ended.output == "cores\n"


def test_a_prestarted_command_runs_once_and_unused_ones_are_stopped(tmp_path: Path) -> None:
    ran, sleeping = tmp_path / "ran", tmp_path / "pids"
    command = ["sh", "-c", f"echo once >> {ran}; echo $WORD"]
    environment = {**os.environ, "WORD": "answer"}
    with process.ahead([(command, environment), (escaping(sleeping), os.environ)], 600):
        pids = started(sleeping)
        assert process.run(command, environment, 600).output == "answer\n"
        assert ran.read_text() == "once\n"
        assert process.run(command, {**environment, "WORD": "other"}, 600).output == "other\n"
        assert process.run(command, environment, 600).output == "answer\n"
    assert ran.read_text() == "once\n" * 3
    wait_until_gone(pids)


def test_a_job_has_its_own_session_so_haloscope_handles_interrupts() -> None:
    ended = process.run(["cut", "-d", " ", "-f", "6", "/proc/self/stat"], os.environ, 600)
    assert int(ended.output) != os.getsid(0)


def test_a_time_limit_stops_a_command() -> None:
    assert process.run(["sleep", "600"], os.environ, 0.2).timed_out


def test_a_time_limit_stops_all_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is reached once all of them are there, however long that takes."""
    clock = SimpleNamespace(now_s=10.0)
    clock.perf_counter = lambda: clock.now_s
    monkeypatch.setattr(process, "time", clock)
    running = process.Running(escaping(tmp_path / "pids"), os.environ, 2.0)
    try:
        pids = started(tmp_path / "pids")
        clock.now_s = 11.5
        assert running.left_s == 0.5
        clock.now_s = 12.0
        assert process.wait([running]) == [running]
    finally:
        ended = running.end()
    assert (ended.timed_out, ended.wall_s) == (True, 2.0)
    assert not any(alive(pid) for pid in pids)


def test_processes_left_by_a_command_are_stopped(tmp_path: Path) -> None:
    script = f"sleep 600 & echo $! > {tmp_path / 'pids'}; exit 1"
    assert process.run(["sh", "-c", script], os.environ, 600).code == 1
    assert not any(alive(pid) for pid in started(tmp_path / "pids"))


def test_other_processes_are_not_inspected_if_none_are_left() -> None:
    code = "import supervise; supervise.descendants = None; supervise.end_descendants()"
    folder = Path(process.__file__).parent

    subprocess.run([sys.executable, "-S", "-c", code], cwd=folder, check=True, timeout=600)


def test_an_interrupt_stops_all_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        started(tmp_path / "pids")
        os.kill(os.getpid(), signal.SIGINT)

    def interrupted(running: list[process.Running]) -> list[process.Running]:
        thread.start()  # not before: on a busy machine all may run while it is being started
        return really(running)

    thread, really = threading.Thread(target=interrupt), process.wait
    monkeypatch.setattr(process, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        process.run(escaping(tmp_path / "pids"), os.environ, 600)
    thread.join()
    assert not any(alive(pid) for pid in started(tmp_path / "pids"))


@pytest.mark.parametrize("victim", ["runner", "supervisor"])
def test_kill_9_leaves_no_processes(tmp_path: Path, victim: str) -> None:
    pids = tmp_path / "pids"
    script = "import os, sys; from haloscope.host import process;"
    script += "process.run(sys.argv[1:], os.environ, 600)"
    runner = subprocess.Popen([sys.executable, "-c", script, *escaping(pids)])
    launcher, rank = started(pids)
    supervisor = psutil.Process(launcher).ppid()
    os.kill(runner.pid if victim == "runner" else supervisor, signal.SIGKILL)
    if victim == "supervisor":
        wait_until_gone([launcher])  # and an MPI launcher takes its ranks along
        os.kill(rank, signal.SIGKILL)
    wait_until_gone([launcher, rank])
    runner.wait()
