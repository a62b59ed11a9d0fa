# SPDX-License-Identifier: BSD-3-Clause
"""Faults on the real Slurm of a cluster in a box: each launch is still measured once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import lab_jobs
import pytest
from lab_jobs import Fault, follow_through, good, launched_by, submitted

from haloscope.lab.cluster import RunningLab
from haloscope.records.log import read

pytestmark = [pytest.mark.lab, lab_jobs.LIMIT]

EIGHT = """
title = "Eight launches"
launches = 8
timeout_s = 600
[[runs]]
kernel = "ring"
params = { repetitions = 1, steps = 1 }
layout = { nodes = [2], ppn = [1] }
"""
FORTY = EIGHT.replace("Eight", "Forty").replace("= 8", "= 20").replace("[2]", "[1, 2]")


@pytest.mark.minutes  # each but one is among those of the forty launches below
@pytest.mark.parametrize(
    ("fault", "restarts", "ends"),
    [
        (lab_jobs.driver_killed, {0}, {"FAILED", "COMPLETED"}),
        (lab_jobs.job_cancelled, {0}, {"CANCELLED", "COMPLETED"}),
        (lab_jobs.time_over, {0}, {"TIMEOUT", "COMPLETED"}),
        (lab_jobs.node_failed, {0, 1}, {"COMPLETED"}),
        (lab_jobs.other_node_failed, {0, 1}, {"COMPLETED"}),
        (lab_jobs.preempted, {0, 1}, {"COMPLETED"}),
    ],
)
def test_terminated_jobs_neither_lose_nor_repeat_a_launch(
    whole: RunningLab, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    fault: Fault, restarts: set[int], ends: set[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    jobs = submitted(EIGHT, tmp_path, built)

    struck = follow_through(whole, jobs, [(3, fault)])

    records = good(tmp_path / "out" / "records.jsonl")
    assert len(struck) == 1
    assert struck[0] < 8
    assert len(records) == 8
    allocations = {
        (one.raw["allocation"]["job"], one.raw["allocation"]["restarts"]) for one in records
    }
    assert len(allocations) == 2
    assert {restarted for _, restarted in allocations} == restarts
    assert {state.state for state in jobs.states().values()} == ends
    assert [path.name for path in (tmp_path / "out").iterdir() if "scratch" in path.name] == []


@pytest.mark.minutes
def test_a_job_near_its_time_limit_leaves_the_rest_to_another(
    whole: RunningLab, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By Slurm's own signal: of the driver's clock, the job has minutes left."""
    monkeypatch.chdir(tmp_path)
    jobs = submitted(EIGHT.replace("launches = 8", "launches = 60"), tmp_path, built)

    struck = follow_through(whole, jobs, [(3, lab_jobs.time_nearly_over)])

    records = good(tmp_path / "out" / "records.jsonl")
    assert len(struck) == 1
    assert len(records) == 60
    first, second = Counter(one.raw["allocation"]["job"] for one in records).values()
    assert {state.state for state in jobs.states().values()} == {"COMPLETED"}
    logs = "".join(path.read_text() for path in (tmp_path / "out" / "jobs").glob("*.log"))
    assert logs.count("Slurm signalled") == 1
    assert f"{first} launches run, {second} left for another job" in logs


def test_a_killed_controller_loses_no_launch(
    whole: RunningLab, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the job goes on or the next one does is Slurm's to say: what it last saved."""
    monkeypatch.chdir(tmp_path)
    jobs = submitted(EIGHT, tmp_path, built)

    assert len(follow_through(whole, jobs, [(3, lab_jobs.controller_killed)])) == 1

    every = read(tmp_path / "out" / "records.jsonl")
    ended_well = [record.key for record in every if record.outcome == "ok"]
    assert len(ended_well) == len({*ended_well}) == 8
    assert jobs.left() == []


def test_a_driver_forgotten_by_its_batch_system_stops(
    whole: RunningLab, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By mpirun on one node, launches need no batch system: it would go on to the end.

    It goes on once the job that was begun anew waits for the folder.
    """
    monkeypatch.chdir(tmp_path)
    launched_by("mpirun", tmp_path)
    jobs = submitted(EIGHT.replace("[2]", "[1]"), tmp_path, built)

    struck = follow_through(whole, jobs, [(3, lab_jobs.node_cut_off), (3, lab_jobs.node_back)])

    records = good(tmp_path / "out" / "records.jsonl")
    assert len(struck) == 2
    assert len(records) == 8
    restarts = Counter(one.raw["allocation"]["restarts"] for one in records)
    assert restarts.keys() == {0, 1}
    assert restarts[0] <= struck[1] + 1  # the launch that was under way is its last


@pytest.mark.long
def test_forty_launches_with_faults_are_each_measured_once(
    whole: RunningLab, built: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    jobs = submitted(FORTY, tmp_path, built)
    faults = [
        (3, lab_jobs.driver_killed),
        (8, lab_jobs.job_cancelled),
        (12, lab_jobs.controller_restarted),
        (16, lab_jobs.node_failed),
        (24, lab_jobs.time_over),
        (26, lab_jobs.preempted),
    ]

    struck = follow_through(whole, jobs, faults)

    assert len(struck) == len(faults)
    assert len(good(tmp_path / "out" / "records.jsonl")) == 40
    assert jobs.left() == []
    logs = "".join(path.read_text() for path in (tmp_path / "out" / "jobs").glob("*.log"))
    for said in ("DUE TO TIME LIMIT", "DUE TO PREEMPTION"):
        assert logs.count(said) == 1
    assert "was not recorded" in logs  # on a busy machine by more than one driver
    assert len(jobs.noted()) >= 6  # the check, two shapes, and one more after each of three ends
