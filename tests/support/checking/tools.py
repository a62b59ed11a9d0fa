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


@cache
def _printed(code: str) -> str:
    """What a few lines print that use haloscope itself; "" where they fail."""
    done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def mpicxx() -> str:
    """The compiler wrapper of the MPI that haloscope uses here; from PyPI where there is none."""
    code = (
        "from haloscope.toolchains.library import ensure; print(ensure(say=lambda _: None).mpicxx)"
    )
    return _printed(code) or "mpicxx"


def smpicxx() -> str:
    """The compiler wrapper of SimGrid."""
    return "smpicxx"


def nvcc() -> str:
    """CUDA's compiler: from PyPI, at the version that was tried, whatever PATH has."""
    code = (
        "from haloscope.toolchains.added import extras; "
        "print(extras.install('cuda', say=lambda _: None))"
    )
    return _printed(code) or "nvcc"


def environment() -> dict[str, str]:
    """What commands run in: with FFTW from PyPI where the system has none."""
    code = (
        "import json; from haloscope.toolchains import fftw; "
        "from haloscope.toolchains.added import extras; "
        "fftw.is_there() or extras.install('fftw', say=lambda _: None); "
        "print(json.dumps(fftw.environment()))"
    )
    return {**BARE, **json.loads(_printed(code) or "{}")}


def no_cluster() -> str:
    """Why no cluster in a box can be made here; "" where one can."""
    code = (
        "from haloscope.lab.cluster import problems; "
        "print('; '.join(f'{one.where} {one.what}: {one.remedy}' for one in problems()))"
    )
    done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()
