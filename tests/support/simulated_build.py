# SPDX-License-Identifier: BSD-3-Clause
"""halobench built for simulation, as tests need it: brought up to date once a session."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]
BINARY = ROOT / "build" / "smpi" / "halobench"


def missing_program() -> str | None:
    """What a simulation needs and this machine has not."""
    programs = ("smpirun", "smpicxx", "cmake", "ninja")
    return next((each for each in programs if shutil.which(each) is None), None)


def build_it() -> None:
    """Bring the simulated halobench up to date."""
    BINARY.parent.parent.mkdir(exist_ok=True)
    with FileLock(BINARY.parent.with_suffix(".lock")):
        built = [
            "--target",
            "halobench",
            "platform",
            "test_star_forest",
            "test_shared_memory",
            "test_sockets",
        ]
        for command in (
            ["cmake", "--preset", "smpi"],
            ["cmake", "--build", str(BINARY.parent), *built],
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
