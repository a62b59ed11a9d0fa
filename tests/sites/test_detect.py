# SPDX-License-Identifier: BSD-3-Clause
"""A site as a real Slurm describes it: that of a cluster in a box."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from haloscope.cli import main
from haloscope.errors import UserError
from haloscope.lab import cluster
from haloscope.lab.cluster import RunningLab
from haloscope.sites import detect
from haloscope.sites import file as site_file
from haloscope.sites.schedulers import asking

pytestmark = pytest.mark.lab


def test_a_lab_site_file_agrees_with_slurm(lab: RunningLab) -> None:
    site = site_file.find("lab")

    assert [*detect.disagreements(site)] == []
    assert (site.used.nodes, site.used.cores, site.mpi) == (4, 2, "pmix")


def test_a_site_file_is_never_overwritten(
    lab: RunningLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLURM_CONF", cluster.environment()["SLURM_CONF"])

    assert main(["site", "detect", "--name", "box"]) == 0
    written = (tmp_path / "sites" / "box.toml").read_text()
    assert main(["site", "detect", "--name", "box"]) == 2

    found = site_file.load(tmp_path / "sites" / "box.toml")
    assert found.used.max_minutes == 240
    assert found.shared_cores == site_file.find("lab").shared_cores
    assert (tmp_path / "sites" / "box.toml").read_text() == written
    assert main(["site", "check", "box"]) == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"nodes": 9}, "nodes of partition 'lab'"),
        ({"max_minutes": None}, "max_minutes = 240"),
        ({"name": "labs"}, "'labs'"),
    ],
)
def test_outdated_values_are_named(lab: RunningLab, changes: dict[str, object], said: str) -> None:
    site = site_file.find("lab")
    partition = site.used.model_copy(update=changes)
    changed = site.model_copy(update={"partitions": (partition,), "partition": partition.name})

    assert any(said in str(problem) for problem in detect.disagreements(changed))


def test_an_account_that_slurm_refuses_is_named(lab: RunningLab) -> None:
    site = site_file.find("lab").model_copy(update={"constraint": "gpu"})

    (problem,) = detect.disagreements(site)

    assert "sbatch --test-only" in problem.where


def test_a_missing_slurm_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("sinfo") is None:
        pytest.skip("no sinfo in PATH: apt install slurm-wlm")
    monkeypatch.setattr(asking, "ANSWER_S", 1.0)  # it looks for a configuration for a minute
    with pytest.raises(UserError, match="SLURM_CONF"):
        detect.detected(None, {"SLURM_CONF": "/nowhere/slurm.conf"})
