# SPDX-License-Identifier: BSD-3-Clause
"""FFTW, which kernel fft_pencil needs: where it was added from PyPI, without root.

Where the system has one, the dynamic loader finds it and nothing here is needed. PyPI has FFTW in
the wheel of pyfftw, a Python interface, of which only the C library is used.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from haloscope.errors import Problem, UserError
from haloscope.toolchains import pypi
from haloscope.toolchains.library import Say, prefix_of

NAME = "fftw"

_VARIABLE = "HALOBENCH_FFTW"
_PACKAGE = "pyfftw"
_LIBRARY = "pyfftw.libs/libfftw3-*.so*"
_BELOW = f"lib/python*/site-packages/{_LIBRARY}"


def library() -> Path | None:
    """The library that was added; None where none was."""
    return next(prefix_of(NAME).glob(_BELOW), None)


def environment() -> dict[str, str]:
    """What tells halobench of the added library; the user's own word goes before it."""
    added = library()
    return {} if added is None or _VARIABLE in os.environ else {_VARIABLE: str(added)}


def fill(part: Path, final: Path, say: Say) -> Path:
    """Add it from PyPI, at the version that was tried, to the folder `part`, where it then is."""
    pypi.install(_PACKAGE, part, alone=True)
    if next(part.glob(_BELOW), None) is None:
        what = f"the wheel of {_PACKAGE} does not contain {_LIBRARY}"
        remedy = "install FFTW from your system (Debian, Ubuntu: apt install libfftw3-double3)"
        raise UserError(Problem(f"installing {NAME}", what, remedy))
    return part


def is_there() -> bool:
    """Whether the user, the system or an earlier command has one."""
    if library() is not None or _VARIABLE in os.environ:
        return True
    try:
        ctypes.CDLL("libfftw3.so.3")
    except OSError:
        return False
    return True
