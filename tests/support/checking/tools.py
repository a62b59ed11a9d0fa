# SPDX-License-Identifier: BSD-3-Clause
"""Programs that steps use, and why some cannot run here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
BIN = ROOT / ".venv" / "bin"
PYTHON = BIN / "python"
BARE = {
    **os.environ,
    "HALOSCOPE_EXTRAS": "dev",
    "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
}
"""BARE is what ./haloscope makes the environment in."""
BARE.pop("PYTHONDONTWRITEBYTECODE", None)
"""Set in many containers; without compiled files every start of pytest takes 10 s longer."""


def needs(program: str, package: str) -> Callable[[], str]:
    """A reason to skip where `program` is not in PATH."""
    return lambda: "" if shutil.which(program) else f"no {program} in PATH: apt install {package}"


SIMGRID = needs("smpicxx", "libsimgrid-dev simgrid")


class NotProvidedError(Exception):
    """Something that haloscope was to provide to a step; its text is the end of the error."""


@cache
def provided(name: str) -> str:
    """What tests/support/checking/provided.py prints for a name.

    Raise NotProvidedError where it fails: a check without FFTW would only report missing kernels.
    """
    program = ROOT / "tests" / "support" / "checking" / "provided.py"
    command = [str(PYTHON), str(program), name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
        raise NotProvidedError(f"{name} is not provided: {last}")
    return done.stdout.strip()


def mpicxx() -> str:
    """The compiler wrapper of the MPI that haloscope uses here; from PyPI where there is none."""
    return provided("mpicxx")


def smpicxx() -> str:
    """The compiler wrapper of SimGrid."""
    return "smpicxx"


def nvcc() -> str:
    """CUDA's compiler, from PyPI."""
    return provided("nvcc")


def environment() -> dict[str, str]:
    """What commands run in: with FFTW from PyPI where the system has none."""
    return {**BARE, **json.loads(provided("environment"))}


def no_cluster() -> str:
    """Why no cluster in a box can be made here; "" where one can."""
    return provided("no_cluster")
