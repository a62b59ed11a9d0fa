# SPDX-License-Identifier: BSD-3-Clause
"""halobench built for simulation, as tests need it: brought up to date once a session."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from filelock import FileLock
from kernel_programs import ROOT, SMPI


def missing_program() -> str | None:
    """What a simulation needs and this machine has not."""
    programs = ("smpirun", "smpicxx", "cmake", "ninja")
    return next((each for each in programs if shutil.which(each) is None), None)


def build_it() -> None:
    """Bring the simulated programs up to date."""
    SMPI.parent.mkdir(exist_ok=True)
    with FileLock(SMPI.with_suffix(".lock")):
        built = [
            "--target",
            "halobench_all",
            "platform",
            "test_star_forest",
            "test_shared_memory",
            "test_sockets",
        ]
        for command in (
            ["cmake", "--preset", "smpi"],
            ["cmake", "--build", str(SMPI), *built],
        ):
            done = subprocess.run(
                command, cwd=ROOT / "halobench", capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def smpi() -> None:
    missing = missing_program()
    if missing is not None:
        pytest.skip(f"{missing} is not there (Debian, Ubuntu: apt install simgrid libsimgrid-dev)")
    build_it()
