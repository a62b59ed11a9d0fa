# SPDX-License-Identifier: BSD-3-Clause
"""Studies on a cluster by the command line, continued from another shell."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lab_jobs import LIMIT, PATIENCE_S, slurm
from noted import shows

from haloscope.lab.cluster import RunningLab
from haloscope.records.log import read

pytestmark = [pytest.mark.lab, LIMIT, pytest.mark.usefixtures("whole")]

STUDY = """
title = "Rings on one and two nodes"
launches = 2
timeout_s = 600
[[runs]]
kernel = "ring"
params = { repetitions = 1 }
layout = { nodes = [1, 2], ppn = 1 }
[[tables]]
kind = "ring"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.toml").write_text(STUDY)
    return tmp_path


def output_of(folder: Path, *words: str, ends: int = 0) -> str:
    """What haloscope printed, by a process of its own."""
    command = [sys.executable, "-P", "-m", "haloscope", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == ends, done.stderr + done.stdout
    return " ".join((done.stdout + done.stderr).split())


def until_measured(folder: Path) -> str:
    """What `status` says as soon as no launch is left."""
    deadline = time.monotonic() + PATIENCE_S
    while "0 launches left" not in (said := output_of(folder, "status", "out")):
        assert time.monotonic() < deadline, said
        time.sleep(1)
    return said


def test_a_dry_run_prints_the_number_cost_and_start_time_of_jobs(
    lab: RunningLab, built: str, folder: Path
) -> None:
    run = ("run", "mine.toml", "--on", "lab", "--toolchain", built, "--minutes", "30")

    said = output_of(folder, *run, "--dry-run")

    assert "4 launches to run" in said
    assert "2 jobs, at most 1.5 node-hours" in said
    assert shows(said, "preflight check: 1 node", " 2 minutes")
    starts = r"%s, 30 minutes: Job \d+ .* \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
    for nodes in ("1 node", "2 nodes"):
        assert re.search(starts % nodes, said), said
    assert [path.name for path in folder.iterdir()] == ["mine.toml"]


def test_a_study_is_submitted_detached_and_collected(
    lab: RunningLab, built: str, folder: Path
) -> None:
    """By processes that end: nothing of ours is left where it was submitted."""
    run = ("run", "mine.toml", "--on", "lab", "--toolchain", built, "--minutes", "40")

    said = output_of(folder, *run, "--out", "out", "--detach")
    assert re.search(r"job \d+: 1 node, \D*40 \D*\d+: 2 nodes, \D*40", said), said
    assert not (folder / "out" / "report.html").exists()
    until_measured(folder)

    assert "report: out/report.html" in output_of(folder, "collect", "out")
    assert (folder / "out" / "report.html").stat().st_size > 10_000
    records = read(folder / "out" / "records.jsonl")
    assert [one.outcome for one in records] == ["ok"] * 4
    assert len({one.key for one in records}) == 4


def test_scripts_submitted_by_hand_work_too(lab: RunningLab, built: str, folder: Path) -> None:
    run = ("run", "mine.toml", "--on", "lab", "--toolchain", built, "--minutes", "40")

    said = output_of(folder, *run, "--out", "out", "--script-only")
    assert "4 launches left" in output_of(folder, "status", "out")
    assert "no records yet" in output_of(folder, "collect", "out", ends=2)
    scripts = re.findall(r"written: (\S+)", said)
    for script in scripts:
        slurm("sbatch", script)
    until_measured(folder)

    assert len(scripts) == 3  # the one that asks the nodes comes first
    assert "report: out/report.html" in output_of(folder, "collect", "out")
    assert [one.outcome for one in read(folder / "out" / "records.jsonl")] == ["ok"] * 4
