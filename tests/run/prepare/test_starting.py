# SPDX-License-Identifier: BSD-3-Clause
"""Which launcher starts ranks in a site's jobs, where srun lacks what an MPI library needs."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import replace
from pathlib import Path

import fake_slurm
import pytest
from far_site import site
from noted import shows

from haloscope.errors import UserError
from haloscope.run.places.batched import BatchPlace
from haloscope.run.prepare import starting
from haloscope.run.prepare.probing import NodesAsked
from haloscope.run.prepare.workbench import Workbench
from haloscope.toolchains.build import Build
from haloscope.toolchains.launching.launch import starter
from haloscope.toolchains.library import Toolchain
from haloscope.toolchains.transport import Family

NODES = NodesAsked(("n1", "n2"), "slurm")
SPEAKS_PMI2 = """[ "$SLURM_MPI_TYPE" = pmi2 ] || exit 2"""
"""SPEAKS_PMI2 is a program whose ranks each assume to be alone unless PMI-2 reports others: one
rank has nobody to send a message to, and refuses."""
ALONE = "exit 2"


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a Slurm in whose job this is; its srun comes first in PATH."""
    for name in ("bin", "state"):
        (tmp_path / name).mkdir()
    (tmp_path / "bin" / "srun").symlink_to(fake_slurm.__file__)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_SLURM", str(tmp_path / "state"))
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    return tmp_path / "state"


def library(folder: Path, family: Family, program: str = "exit 0", own: str = "exit 0") -> Build:
    """A library whose ranks are a script, and whose own mpirun is another."""
    for name, body in (("halobench_pingpong", program), ("mpirun", own)):
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    toolchain = Toolchain("x", None, folder / "mpicxx", folder / "mpirun", family, "X MPI 1.0")
    return Build(toolchain, folder, "5eed")


@pytest.mark.parametrize(
    ("family", "there", "mpi", "program", "by"),
    [
        ("openmpi", True, "pmix", "exit 0", "srun --mpi=pmix"),
        ("openmpi", False, "pmix", "exit 0", "mpirun"),
        ("openmpi", False, "pmi2", f"[ -z $SLURM_MPI_TYPE ] || {ALONE}", "mpirun"),
        ("mpich", True, "pmix", SPEAKS_PMI2, "srun --mpi=pmi2"),
        ("mpich", False, "pmix", SPEAKS_PMI2, "srun --mpi=pmi2"),
        ("impi", False, "pmi2", "exit 0", "srun --mpi=pmi2"),
    ],
)
def test_the_first_launcher_with_working_communication_is_used(
    slurm: Path, tmp_path: Path, family: Family, there: bool, mpi: str, program: str, by: str
) -> None:
    if there:
        (slurm / "pmix").touch()
    described = site("slurm", "srun", mpi=mpi)

    found = starting.started(library(tmp_path, family, program), described, NODES)

    assert starter(found.toolchain) == by


def test_a_launcher_other_than_the_sites_is_reported_with_the_srun_error(
    slurm: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    starting.started(library(tmp_path, "openmpi"), site("slurm", "srun", mpi="pmix"), NODES)

    (line,) = caplog.messages
    assert shows(line, "srun --mpi=pmix ", " PMIx library")
    assert "; mpirun " in line


def test_if_no_launcher_works_that_of_the_site_is_kept(slurm: Path, tmp_path: Path) -> None:
    broken = library(tmp_path, "mpich", program="exit 1", own="exit 1")

    found = starting.started(broken, site("slurm", "srun", mpi="pmi2"), NODES)

    assert starter(found.toolchain) == "srun --mpi=pmi2"


def test_a_library_without_a_launcher_uses_only_srun(slurm: Path, tmp_path: Path) -> None:
    """As Cray's: its `mpirun` is srun."""
    built = library(tmp_path, "mpich", program="exit 1")
    cray = replace(built, toolchain=replace(built.toolchain, mpirun=Path("srun"), launcher="srun"))

    found = starting.started(cray, site("slurm", "srun", mpi="cray_shasta"), NODES)

    assert starter(found.toolchain) == "srun --mpi=cray_shasta"
    tried = [json.loads(line)["words"][0] for line in (slurm / "sruns").read_text().splitlines()]
    named = ["--mpi=cray_shasta", "--mpi=pmi2", "--mpi=pmix"]
    assert [*dict.fromkeys(tried)] == [*named, "--nodes=1"]  # at last, the cluster's default


def test_the_cluster_default_is_used_if_no_named_kind_works(slurm: Path, tmp_path: Path) -> None:
    built = library(
        tmp_path, "openmpi", program=f"[ $SLURM_MPI_TYPE = none ] || {ALONE}", own=ALONE
    )

    found = starting.started(built, site("slurm", "srun", mpi="pmi2"), NODES)

    assert starter(found.toolchain) == "srun"


def test_a_jsrun_site_uses_only_jsrun(tmp_path: Path) -> None:
    found = starting.started(library(tmp_path, "openmpi"), site("lsf", "jsrun"), NODES)

    assert (starter(found.toolchain), found.toolchain.launcher) == ("jsrun", "jsrun")


@pytest.mark.parametrize("launcher", ["mpirun", "jsrun"])
def test_a_jsrun_library_needs_a_jsrun_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launcher: str
) -> None:
    """Else its jobs would ask for other nodes than jsrun starts ranks on."""
    monkeypatch.setenv("LSB_JOBID", "7")
    monkeypatch.setenv("LSB_HOSTS", socket.gethostname())
    built = library(tmp_path, "openmpi")
    toolchain = replace(built.toolchain, mpirun=Path("/opt/jsrun"), launcher="jsrun")
    bench = Workbench({"x": replace(built, toolchain=toolchain)}, ("x",), ())
    place = BatchPlace("far", site("lsf", launcher), tmp_path)

    if launcher == "jsrun":
        assert starter(place._started("x", bench).toolchain) == "jsrun"
        return
    with pytest.raises(UserError, match="site far: launcher") as caught:
        place._started("x", bench)
    assert '"jsrun"' in caught.value.problems[0].remedy
