# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns on the lab's Slurm for tests, and what goes wrong on the way: one function a fault."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console

from haloscope.errors import UserError
from haloscope.lab import FOLDER, HEAD, cluster
from haloscope.lab.cages import Cage
from haloscope.lab.cluster import RunningLab
from haloscope.records.log import read
from haloscope.records.record import Record
from haloscope.run.campaign.request import Request, start
from haloscope.run.jobs import following, submission
from haloscope.run.jobs.submission import Submission
from haloscope.run.progress import Teller

QUIET = Teller(Console(quiet=True))
Fault = Callable[[RunningLab, Submission], bool]
"""Something that goes wrong; whether it could: a job must be at work for most of them."""


def submitted(text: str, folder: Path, toolchain: str) -> Submission:
    """A new campaign on the lab, with its folder; no job of it yet."""
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    request = Request(str(folder / "mine.toml"), folder / "out", toolchain=toolchain, on="lab")
    campaign = start(request, QUIET)
    submission.begin(campaign, {}, QUIET)
    return submission.of(campaign, MINUTES)


MINUTES = 60
"""MINUTES is how long jobs are: each has the time for several launches that take TIMEOUT_S."""
TIMEOUT_S = 600
"""TIMEOUT_S is how long a launch may take that ends within a second on a machine of its own."""
PATIENCE_S = 1500.0
"""PATIENCE_S is how long a campaign may take that ends within two minutes there, and anything of
the lab that ends within seconds. It is for what never ends: nothing is measured by it."""
LIMIT = pytest.mark.timeout(2 * PATIENCE_S)
"""LIMIT is that of a test of the lab."""


def until(there: Callable[[], bool], what: str) -> None:
    """Wait until something is there. The test fails, with what and how nodes stand, if never."""
    deadline = time.monotonic() + PATIENCE_S
    while not there():
        if time.monotonic() > deadline:
            pytest.fail(f"not within {PATIENCE_S:g} s: {what}; {nodes_in_words()}")
        time.sleep(0.2)


def followed(jobs: Submission, between: Callable[[], None] = lambda: None) -> None:
    """Follow a campaign to its end, asking the batch system all the time.

    between: what to do every now and then. The test fails, with how the jobs stand, where the end
    does not come.
    """
    deadline = time.monotonic() + PATIENCE_S

    def wait(_: float) -> None:
        time.sleep(0.2)
        if time.monotonic() > deadline:
            stand = following.in_words(jobs.states())
            pytest.fail(f"no end after {PATIENCE_S:g} s: {stand}; {nodes_in_words()}")
        between()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(following, "LAST_POLL_S", following.LOOK_S)
        following.follow(jobs, QUIET, wait=wait, poll_s=following.LOOK_S)


def nodes_in_words() -> str:
    """The states of the lab's nodes, with reasons; or that no lab is running."""
    if cluster.running() is None:
        return "no lab"
    said = slurm("sinfo", "--noheader", "--Node", "--partition=lab", "--format=%N is %T (%E)")
    return ", ".join(said.splitlines())


def launched_by(launcher: str, folder: Path, mpi: str = "pmix") -> None:
    """Let the site `lab` start ranks by srun or by mpirun: a user's own site file comes first."""
    text = (FOLDER / "sites" / "lab.toml").read_text(encoding="utf-8")
    (folder / "sites").mkdir()
    own = text.replace('launcher = "srun"', f'launcher = "{launcher}"')
    own = own.replace('mpi = "pmix"', f'mpi = "{mpi}"')
    (folder / "sites" / "lab.toml").write_text(own, encoding="utf-8")


def follow_through(
    lab: RunningLab, jobs: Submission, faults: Iterable[tuple[int, Fault]]
) -> list[int]:
    """Follow a campaign to its end; each fault strikes once so many records are there.

    How many records there were when each did.
    """
    coming, struck = [*faults], []
    records = jobs.directory / "records.jsonl"

    def strike() -> None:
        there = len(read(records))
        if coming and there >= coming[0][0] and coming[0][1](lab, jobs):
            coming.pop(0)
            struck.append(there)

    followed(jobs, strike)
    return struck


def slurm(*words: str) -> str:
    """What a command of the lab's Slurm printed."""
    env = {**os.environ, **cluster.environment()}
    done = subprocess.run(
        words, capture_output=True, text=True, check=True, env=env, timeout=PATIENCE_S
    )
    return done.stdout


def completed(*words: str) -> None:
    """Submit a batch job and wait for its end; an assertion names the state of one that failed."""
    env = {**os.environ, **cluster.environment()}
    command = ["sbatch", "--wait", "--parsable", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=env, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr + slurm("scontrol", "show", "job", done.stdout.strip())


def killed(host: Cage, program: str, signal: str = "-KILL") -> bool:
    """Whether a host had processes of such a program, which got that signal."""
    with suppress(UserError):  # pkill found none
        host.output(["pkill", signal, "-f", program])
        return True
    return False


def at_work(lab: RunningLab, program: str) -> tuple[str, str, list[str]] | None:
    """A job that runs such a program at this moment, its first node, and its nodes; else None."""
    for line in slurm("squeue", "--noheader", "--states=R", "--format=%i|%B|%N").splitlines():
        job, first, nodes = line.split("|")
        with suppress(UserError):  # pgrep found none
            lab.host(first).output(["pgrep", "-f", program])
            names = slurm("scontrol", "show", "hostnames", nodes).split()
            return job, first, names
    return None


def good(records: Path) -> list[Record]:
    """The records of launches that ended well, of which each is there once.

    The test fails with any other record but those of crashes that are none of ours: Open MPI 4.1
    (by TCP, in MPI_Init) crashes by srun in one of some 60 launches on four nodes. They are
    launched again.
    """
    every = read(records)
    ended_well = [one for one in every if one.outcome == "ok"]
    others = [one for one in every if one.outcome != "ok"]
    assert [one.reason for one in others if CRASH not in (one.stderr or "")] == []
    assert len({one.key for one in ended_well}) == len(ended_well)
    return ended_well


CRASH = "Segmentation fault"
"""CRASH is what Slurm says of such a launch."""
RANKS = "halobench_.*--out"
"""RANKS is how pgrep finds a launch."""
DRIVER = "haloscope drive .* --nodes"
"""DRIVER is how pgrep finds a job's driver."""


@contextmanager
def standing_still(lab: RunningLab, *nodes: str) -> Iterator[None]:
    """Stop the drivers on these nodes for so long: no launch is begun meanwhile."""
    for node in nodes:
        killed(lab.host(node), DRIVER, "-STOP")
    try:
        yield
    finally:
        for node in nodes:
            killed(lab.host(node), DRIVER, "-CONT")


def driver_killed(lab: RunningLab, jobs: Submission) -> bool:
    """The driver is killed by kill -9, wherever it runs."""
    found = at_work(lab, DRIVER)
    return found is not None and killed(lab.host(found[1]), DRIVER)


def job_cancelled(lab: RunningLab, jobs: Submission) -> bool:
    """The job at work is cancelled from outside."""
    if (found := at_work(lab, DRIVER)) is None:
        return False
    slurm("scancel", found[0])
    return True


def controller_restarted(lab: RunningLab, jobs: Submission) -> bool:
    """The controller ends in order, is away for two seconds, and is started again."""
    controller_ended(lab, "-TERM")
    time.sleep(2)
    lab.start_controller()
    return True


def controller_ended(lab: RunningLab, signal: str) -> None:
    """End the controller by a signal; it is gone, and another may take its port."""
    head, pid = lab.host(HEAD), (FOLDER / f"{HEAD}.pid").read_text().strip()
    head.output(["kill", signal, pid])

    def gone() -> bool:
        return head.output(["sh", "-c", f"kill -0 {pid} 2>/dev/null || echo gone"]) != ""

    until(gone, "the controller's end")


def saved(column: str) -> bool:
    """Whether the controller has written down what squeue's column says of all jobs, a time each.

    It writes its state some seconds after a change. Killed before, it takes jobs that have ended
    for running ones, begins them again two minutes later, and their nodes refuse the second copy.
    """
    said = slurm("squeue", "--noheader", "--states=all", f"--format={column}").split()
    times = [datetime.fromisoformat(one) for one in said if one != "N/A"]
    if not times:
        return True
    state = FOLDER / "state" / "job_state"
    rest = timedelta(seconds=1)  # of a second, which squeue leaves out
    return state.exists() and datetime.fromtimestamp(state.stat().st_mtime) >= max(times) + rest


def controller_killed(lab: RunningLab, jobs: Submission) -> bool:
    """The controller is killed by kill -9 while a job is at work, and started again."""
    if at_work(lab, DRIVER) is None:
        return False
    with standing_still(lab, *lab.lab.names):
        until(lambda: saved(column="%S"), "when the job began, in the controller's folder")
        controller_ended(lab, "-KILL")
        time.sleep(2)
        lab.start_controller()
    return True


def node_failed(lab: RunningLab, jobs: Submission) -> bool:
    """The node that the driver runs on is taken down, its slurmd killed; the driver lives on."""
    return _failed(lab, which=0)


def other_node_failed(lab: RunningLab, jobs: Submission) -> bool:
    """The same of a node that only ranks run on."""
    return _failed(lab, which=-1)


def _failed(lab: RunningLab, which: int) -> bool:
    if (found := at_work(lab, DRIVER)) is None:
        return False
    with standing_still(lab, found[1]):
        _lost(lab, found[2][which])
    return True


def _lost(lab: RunningLab, node: str) -> None:
    lab.host(node).output(["kill", "-9", (FOLDER / f"{node}.pid").read_text().strip()])
    slurm("scontrol", "update", f"nodename={node}", "state=down", "reason=a test")


def node_cut_off(lab: RunningLab, jobs: Submission) -> bool:
    """The driver's node is given up for dead, and its driver stands still until `node_back`."""
    if (found := at_work(lab, DRIVER)) is None:
        return False
    killed(lab.host(found[1]), DRIVER, "-STOP")
    _lost(lab, found[1])
    _begun_at_once(found[0])
    return True


def _begun_at_once(job: str) -> None:
    """Spare a job that was put back into the queue the 41 s that Slurm has it wait.

    They keep a node from taking its new credential for the one that was revoked: right for a job
    that no longer has that node.
    """
    asked = ("squeue", "--noheader", f"--jobs={job}", "--format=%T")
    until(lambda: slurm(*asked).split() == ["PENDING"], f"job {job} in the queue again")
    slurm("scontrol", "update", f"jobid={job}", "starttime=now")


def node_back(lab: RunningLab, jobs: Submission) -> bool:
    """The driver goes on where it stood, as soon as the job begun anew has taken its folder."""
    if '"restarts": 1' not in (jobs.directory / "jobs" / "driver.json").read_text():
        return False
    for node in lab.lab.names:
        killed(lab.host(node), DRIVER, "-CONT")
    return True


def time_over(lab: RunningLab, jobs: Submission) -> bool:
    """A launch hangs, and its job's time limit is hit: Slurm sees it within half a minute.

    Not where the launch has ended meanwhile: the job could then end by itself before its limit.
    """
    found = at_work(lab, RANKS)
    if found is None or not killed(lab.host(found[1]), RANKS, "-STOP"):
        return False
    job = found[0]
    end = datetime.now() + timedelta(seconds=2)
    slurm("scontrol", "update", f"jobid={job}", f"endtime={end:%Y-%m-%dT%H:%M:%S}")
    return True


def time_nearly_over(lab: RunningLab, jobs: Submission) -> bool:
    """The end of the job at work comes near: Slurm, which looks twice a minute, warns its driver.

    Two minutes before the end at the latest: here at once when it looks.
    """
    if (found := at_work(lab, RANKS)) is None:
        return False
    end = datetime.now() + timedelta(seconds=100)
    slurm("scontrol", "update", f"jobid={found[0]}", f"endtime={end:%Y-%m-%dT%H:%M:%S}")
    return True


def preempted(lab: RunningLab, jobs: Submission) -> bool:
    """A job that comes first wants this one's nodes for two seconds."""
    if (found := at_work(lab, DRIVER)) is None:
        return False
    nodes = f"--nodelist={','.join(found[2])}"
    words = ["--partition=urgent", nodes, "--exclusive", "--output=/dev/null", "--wrap=sleep 2"]
    slurm("sbatch", *words)
    return True


def mended(lab: RunningLab) -> None:
    """Every node with its daemon, ready for jobs, and no job there, nor what one left running."""
    if slurm("squeue", "--noheader"):
        slurm("scancel", "--me")
    for word in cluster.states().split():
        node, _, state = word.partition("=")
        if state.startswith("down"):
            lab.start_daemon(node)  # its registration makes the node idle, whatever took it down
        if state.startswith("dr"):  # draining, or drained
            slurm("scontrol", "update", f"nodename={node}", "state=resume")
        for program in (DRIVER, RANKS):
            killed(lab.host(node), program)
    cluster.until_ready(lab.lab)
