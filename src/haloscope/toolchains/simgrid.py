"""SimGrid's compiler wrapper and launcher: where they are."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from haloscope.errors import Problem, UserError
from haloscope.toolchains.library import Toolchain

SIMGRID = "simgrid"
INSTALL = "Debian, Ubuntu: apt install simgrid libsimgrid-dev"


def folder() -> str | None:
    """Where they are looked for: below the prefix SIMGRID_ROOT; None for PATH."""
    prefix = os.environ.get("SIMGRID_ROOT")
    return str(Path(prefix) / "bin") if prefix else None


def programs() -> tuple[Path, Path] | None:
    """smpicxx and smpirun; None where they are not both there."""
    wrapper, launcher = (shutil.which(name, path=folder()) for name in ("smpicxx", "smpirun"))
    return (Path(wrapper), Path(launcher)) if wrapper and launcher else None


OLDEST = (3, 32)
"""The first SimGrid whose interface halobench/platform/ is written for."""


def _too_old(version: str) -> str | None:
    """What is wrong with a version, as smpirun tells it; None for one that may do."""
    found = re.search(r"(\d+)\.(\d+)", version)
    if found is None or (int(found[1]), int(found[2])) >= OLDEST:
        return None
    oldest = ".".join(map(str, OLDEST))
    return f"is of SimGrid {found[0]}: platforms can't be built with one before {oldest}"


def smpi() -> Toolchain:
    """The two as a toolchain. UserError where they are not installed, or too old."""
    there = programs()
    if there is None:
        what = f"SimGrid is not installed: no smpicxx and smpirun in {folder() or 'PATH'}"
        mend = f"{INSTALL}; one of your own: set SIMGRID_ROOT to its prefix"
        raise UserError(Problem("simulation", what, mend))
    mpicxx, mpirun = there
    done = subprocess.run(
        [mpirun, "-version"], capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    version = next(iter(done.stdout.splitlines()), "SimGrid").replace("version ", "").strip()
    if (wrong := _too_old(version)) is not None:
        mend = f"{INSTALL}; a newer one of your own: set SIMGRID_ROOT to its prefix"
        raise UserError(Problem(str(mpirun), wrong, mend))
    return Toolchain(SIMGRID, None, mpicxx, mpirun, "simgrid", version)
