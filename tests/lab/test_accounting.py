# SPDX-License-Identifier: BSD-3-Clause
"""A lab with accounting: what sacct says of jobs that the controller has forgotten."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from lab_jobs import LIMIT, PATIENCE_S, controller_ended

from haloscope.lab import FOLDER, HEAD, cages, cluster
from haloscope.lab.cluster import RunningLab
from haloscope.sites.schedulers.scheduler import JobState
from haloscope.sites.schedulers.slurm import Slurm

pytestmark = [pytest.mark.lab, LIMIT]


@pytest.fixture(scope="module")
def accounted(lab: RunningLab) -> Iterator[RunningLab]:
    """A lab with accounting in the place of the other tests' lab, which comes back afterwards."""
    if problems := [*cluster.problems(accounted=True)]:
        pytest.skip("no accounting: " + "; ".join(f"{p.where}: {p.remedy}" for p in problems))
    cluster.down()
    try:
        yield cluster.up(replace(lab.lab, nodes=1, switches=1, accounting=True), lambda _: None)
    finally:
        cluster.down()
        lab.cages.update(cluster.up(lab.lab, lambda _: None).cages)


def submitted(*words: str) -> str:
    """A job of one node; its id."""
    env = {**os.environ, **cluster.environment()}
    asked = ["sbatch", "--parsable", "--output=/dev/null", *words]
    return subprocess.run(asked, env=env, capture_output=True, text=True, check=True).stdout.strip()


def until(slurm: Slurm, job: str, *, over: bool) -> JobState:
    """How a job stands as soon as it has begun, or is over."""
    deadline = time.monotonic() + PATIENCE_S
    while (state := slurm.states([job])[job]).over != over or state.state == "PENDING":
        assert time.monotonic() < deadline, state
        time.sleep(0.1)
    return state


def test_sacct_reports_jobs_the_controller_has_forgotten(accounted: RunningLab) -> None:
    slurm = Slurm(cluster.environment())
    good, bad, ended = (submitted(f"--wrap={line}") for line in ("true", "exit 3", "sleep 3000"))
    until(slurm, ended, over=False)
    slurm.cancel(ended)
    for job in (good, bad, ended):
        until(slurm, job, over=True)

    controller_ended(accounted, "-TERM")  # it writes to slurmdbd what it has not written yet
    accounted.host(HEAD).output([*cluster._daemon("slurmctld"), "-c"])  # and forgets all
    cluster.until_ready(accounted.lab)

    assert [slurm._remembered(job) for job in (good, bad, ended)] == [None] * 3
    states = slurm.states([good, bad, ended, "1"])
    assert [state.state for state in states.values()] == [
        "COMPLETED",
        "FAILED",
        "CANCELLED",
        "GONE",
    ]
    assert all(state.over for state in states.values())
    assert {states[job].nodes for job in (good, bad, ended)} == {"lab1"}


def test_accounting_starts_and_stops_with_the_lab(accounted: RunningLab) -> None:
    def at_work() -> list[str]:
        """But for those that have ended, and wait for init to take note of it."""
        words = ["ps", "axo", "stat=,args="]
        lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        found = [line for line in lines.splitlines() if "mariadbd" in line]
        return [line for line in found if not line.startswith("Z")]

    assert at_work() and (FOLDER / "database").is_dir()

    cluster.down()

    assert not at_work() and not [*cages._marked()]
    assert {path.name for path in FOLDER.iterdir()} == {".in-use", ".lock"}


def test_missing_accounting_programs_name_their_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)

    plain, more = ({str(one) for one in cluster.problems(accounted=it)} for it in (False, True))

    assert any("slurmdbd" in line and "apt install slurmdbd" in line for line in more - plain)
    assert any("mariadbd" in line and "mariadb-server-core" in line for line in more - plain)
    assert not any("mariadb" in line for line in plain)
