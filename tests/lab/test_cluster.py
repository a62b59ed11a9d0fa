# SPDX-License-Identifier: BSD-3-Clause
"""A real lab: hosts that know each other by name, jobs on them, and nothing left of it."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import lab_jobs
import pytest
from lab_jobs import slurm

from haloscope.cli import main
from haloscope.errors import UserError
from haloscope.lab import FOLDER, LINK, Lab, cages, cluster, wiring
from haloscope.lab.cluster import RunningLab

pytestmark = [pytest.mark.lab, lab_jobs.LIMIT]


def test_hosts_have_names_that_resolve(lab: RunningLab) -> None:
    assert [lab.host(name).output(["hostname"]).strip() for name in lab.lab.names] == [
        "lab1",
        "lab2",
        "lab3",
        "lab4",
    ]
    for name in lab.lab.names:  # where Slurm's daemon of each listens
        connect = f"import socket; socket.create_connection(('{name}', 6818), 300)"
        lab.host("lab1").output(["python3", "-c", connect])


def test_each_host_has_separate_processes_and_shared_memory(lab: RunningLab) -> None:
    lab.host("lab1").output(["touch", "/dev/shm/of-lab1"])

    assert "of-lab1" not in lab.host("lab2").output(["ls", "/dev/shm"])
    assert not Path("/dev/shm/of-lab1").exists()
    assert lab.host("lab2").output(["sh", "-c", "ls -d /proc/[0-9]*"]).count("\n") < 10


def test_links_have_the_configured_rate(lab: RunningLab) -> None:
    assert "rate 1Gbit" in lab.host("lab1").output(["tc", "qdisc", "show", "dev", "eth0"])


PING_PONG = """
import socket, sys, time
def received(end, size):
    while size:
        size -= len(end.recv(size)) or sys.exit("closed")
sizes, turns, server = [1600, 4096, 16384, 65536, 1048576], 8, sys.argv[1:] == []
end = socket.create_server(("", 7007)).accept()[0] if server else None
for _ in range(3000):
    try:
        end = end or socket.create_connection((sys.argv[1], 7007))
        break
    except ConnectionRefusedError:
        time.sleep(0.1)
end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for size in sizes:
    begin = time.perf_counter()
    for _ in range(turns):
        if server:
            received(end, size)
        end.sendall(bytes(size))
        if not server:
            received(end, size)
    if not server:
        print(size, (time.perf_counter() - begin) / turns / 2)
"""
"""PING_PONG prints sizes and half a round trip of each in s; the one without an argument serves."""


def test_a_ping_pong_does_not_exceed_the_rate_of_the_link(lab: RunningLab) -> None:
    """Its least time is that of the bytes but for those of a packet, which a bucket lets pass."""
    server = ["nsenter", "--target", str(lab.host("lab2").pid), "--all", "python3", "-c", PING_PONG]
    with subprocess.Popen(server) as serving:
        said = lab.host("lab1").output(["python3", "-c", PING_PONG, "lab2"])
    assert serving.returncode == 0

    assert lab.lab.rate_bits_per_s == 1e9
    for line in said.splitlines():
        size, half_s = map(float, line.split())
        assert half_s > 8 * (size - wiring.PACKET_BYTES) / 1e9, said
    assert len(said.splitlines()) == 5


def test_a_job_runs_on_the_nodes_of_one_switch(lab: RunningLab, tmp_path: Path) -> None:
    out = tmp_path / "out"
    script = "#!/bin/sh\nsrun hostname\n"
    (tmp_path / "job.sh").write_text(script)

    words = ["--wait", "--nodes=2", "--exclusive", "--switches=1", f"--output={out}"]
    slurm("sbatch", *words, str(tmp_path / "job.sh"))

    hosts = sorted(out.read_text().split())
    assert hosts in (["lab1", "lab2"], ["lab3", "lab4"])


def test_only_one_lab_runs_at_a_time(lab: RunningLab) -> None:
    with pytest.raises(UserError, match="haloscope lab down"):
        cluster.up(Lab(1, 1), print)

    assert cluster.running() is not None


def test_status_lists_hosts_switches_and_rates(
    lab: RunningLab, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", "status"]) == 0

    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("4 hosts")
    assert said[1:3] == ["switch1: lab1, lab2", "switch2: lab3, lab4"]
    assert said[3].endswith("1000 Mbit/s")
    assert said[-1].endswith(f"export SLURM_CONF={FOLDER}/slurm.conf")


def test_a_shell_runs_on_its_host_and_uses_the_lab_slurm(lab: RunningLab, tmp_path: Path) -> None:
    """In the folder that one is in."""
    words = [sys.executable, "-P", "-m", "haloscope", "lab", "shell", "lab3"]
    asked = "hostname\npwd\nsinfo --noheader --format=%P | sort -u\n"

    done = subprocess.run(
        words,
        input=asked,
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "SHELL": "/bin/sh"},
    )

    assert done.stdout.split() == ["lab3", str(tmp_path), "lab*", "urgent"]


def test_an_unknown_host_is_refused(lab: RunningLab) -> None:
    with pytest.raises(UserError, match="lab7"):
        lab.host("lab7")


def test_a_killed_controller_can_be_restarted(lab: RunningLab) -> None:
    lab_jobs.until(lambda: lab_jobs.saved(column="%e"), "what is left of jobs of other tests")
    lab_jobs.controller_ended(lab, "-KILL")
    lab.start_controller()

    cluster.until_ready(lab.lab)


def test_down_cleans_up_after_a_killed_lab(lab: RunningLab) -> None:
    """Last here: it takes the lab of all these tests down, and brings it up again."""
    (FOLDER / "lab.json").unlink()
    holder = next(pid for pid, words in cages._marked() if words[0] == "unshare")
    os.kill(holder, signal.SIGKILL)

    assert cluster.running() is None
    assert cluster.down() >= 5

    assert not [*cages._marked()]
    assert not (Path("/sys/class/net") / LINK).exists()
    assert {path.name for path in FOLDER.iterdir()} == {".lock", ".in-use"}
    assert not _at_work()
    again = cluster.up(lab.lab, lambda _: None)
    lab.cages.update(again.cages)


def _at_work() -> list[str]:
    """The argument lists of processes that have to do with the lab's folder."""
    lines = subprocess.run(["ps", "axo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in lines.splitlines() if str(FOLDER) in line]


def test_the_files_of_a_killed_lab_are_removed_by_the_next(lab: RunningLab) -> None:
    """Where its hosts are gone, however they went."""
    assert cages.end_all() >= 5
    assert (FOLDER / "lab.json").exists()

    lab.cages.update(cluster.up(lab.lab, lambda _: None).cages)

    assert cluster.running() is not None


def test_the_files_of_a_lab_in_another_process_namespace_are_kept(lab: RunningLab) -> None:
    """Its hosts are not to be seen from here, but they hold the lock."""
    assert cluster.down() == 6
    kept = FOLDER / "lab.json"
    kept.touch()
    with (FOLDER / ".in-use").open("w") as elsewhere:
        fcntl.flock(elsewhere, fcntl.LOCK_EX)

        with pytest.raises(UserError, match="already running"):
            cluster.up(lab.lab, lambda _: None)
        with pytest.raises(UserError, match="another container"):
            cluster.down()
        assert kept.exists()

    lab.cages.update(cluster.up(lab.lab, lambda _: None).cages)


def test_a_failed_lab_startup_leaves_nothing(
    lab: RunningLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cluster.down() == 6
    monkeypatch.setattr(cluster, "until_ready", lambda _: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        cluster.up(lab.lab, lambda _: None)

    assert not [*cages._marked()]
    monkeypatch.undo()
    lab.cages.update(cluster.up(lab.lab, lambda _: None).cages)


def test_a_missing_netem_for_a_latency_is_named(lab: RunningLab) -> None:
    cluster.down()
    try:
        late = cluster.up(Lab(1, 1, latency_s=1e-3), lambda _: None)
    except UserError as error:
        assert "--latency: " in str(error) and "netem" in str(error)
        assert not [*cages._marked()]
    else:
        assert "netem delay 1ms" in late.host("lab1").output(["tc", "qdisc", "show", "dev", "eth0"])
    finally:
        cluster.down()
        lab.cages.update(cluster.up(lab.lab, lambda _: None).cages)


@pytest.mark.parametrize("words", [["status"], ["shell", "lab1"], ["down"]])
def test_a_lab_hidden_from_the_user_is_not_reported_as_absent(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    assert main(["lab", *words]) == 2

    assert " root" in capsys.readouterr().err


def test_missing_root_or_slurm_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)

    said = [str(problem) for problem in cluster.problems()]

    assert "as root" in said[0]
    assert any("slurmctld" in line and "apt install slurm-wlm" in line for line in said)
