# SPDX-License-Identifier: BSD-3-Clause
"""The short form of kills and of full disks: `python tests/faults/whole.py` is the long one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from simulated_build import missing_program

from haloscope.paths import cache_path
from haloscope.toolchains import build, library
from haloscope.toolchains.build import KernelProgram
from haloscope.toolchains.simgrid import smpi

HERE = Path(__file__).parent
TRIES = 3
"""TRIES is how many signals a kind of campaign gets."""
KINDS = ["real", *(pytest.param(kind, marks=pytest.mark.long) for kind in ("precise", "simulated"))]
DISKS = [
    "tmpfs of 24 KiB",
    *(pytest.param(disk, marks=pytest.mark.long) for disk in ("full ext4", "folder that vanishes")),
]


@pytest.fixture(scope="module")
def builds() -> Path:
    """Where halobench is built, for ranks and, where that can be had, for simulation."""
    real = [KernelProgram(name) for name in ("ring", "empty", "pingpong")]
    build.build(build.of(library.ensure(None)), real)
    if missing_program() is None:
        build.build(build.of(smpi()), [KernelProgram("poisson_cg")])
    return cache_path() / "builds"


def figures_of(script: str, *words: str | Path) -> dict[str, object]:
    """What a script of this folder keeps of one run."""
    figures = Path(words[-1])
    command = [sys.executable, str(HERE / script), *map(str, words[:-1]), "--keep", str(figures)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert figures.exists(), done.stdout + done.stderr
    found: dict[str, object] = json.loads(figures.read_text())
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_campaign_neither_loses_launches_nor_leaves_processes(
    kind: str, builds: Path, tmp_path: Path
) -> None:
    if kind == "simulated" and (missing := missing_program()):
        pytest.skip(f"{missing} is not there (Debian, Ubuntu: apt install simgrid libsimgrid-dev)")
    words = ["--tries", str(TRIES), "--kinds", kind, "--builds", str(builds)]

    found = figures_of("kill.py", *words, tmp_path / "figures")

    assert (found["tries"], found["wrong"]) == (TRIES, [])


@pytest.mark.parametrize("disk", DISKS)
def test_a_campaign_on_a_failing_disk_reports_it_and_resumes_afterwards(
    disk: str, builds: Path, tmp_path: Path
) -> None:
    if reason := no_mounts():
        pytest.skip(reason)

    found = figures_of("full_disks.py", "--disks", disk, "--builds", builds, tmp_path / "figures")

    assert (found["tries"], found["wrong"]) == (1, [])


def no_mounts() -> str | None:
    """Why no disk can be mounted here; None where one can."""
    if os.geteuid() != 0 or not (shutil.which("unshare") and shutil.which("mkfs.ext4")):
        return "mounting disks takes root, unshare (util-linux) and mkfs.ext4 (e2fsprogs)"
    words = ["unshare", "-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return f"no disk can be mounted: {done.stderr.strip()}" if done.returncode else None
