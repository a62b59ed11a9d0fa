"""FFTW, which kernel fft_pencil needs: where it was added from PyPI, without root.

Where the system has one, the dynamic loader finds it and nothing here is needed. PyPI has FFTW in
the wheel of pyfftw, a Python interface, of which only the C library is used.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from haloscope.errors import Problem, UserError
from haloscope.paths import cache_path
from haloscope.toolchains import pypi

NAME = "fftw"
"""What it is called beside MPI libraries, when it is added or removed."""

_VARIABLE = "HALOBENCH_FFTW"
_PACKAGE = "pyfftw"
_LIBRARY = "pyfftw.libs/libfftw3-*.so*"


def prefix() -> Path:
    """The folder it lies in, or would."""
    return cache_path() / "toolchains" / NAME


def library() -> Path | None:
    """The library that was added; None where none was."""
    return next(prefix().glob(f"lib/python*/site-packages/{_LIBRARY}"), None)


def environment() -> dict[str, str]:
    """What tells halobench of the added library; the user's own word goes before it."""
    added = library()
    return {} if added is None or _VARIABLE in os.environ else {_VARIABLE: str(added)}


def install(*, say: Callable[[str], None] = print) -> Path:
    """Add it from PyPI, at the version that was tried, unless it is there; the library's file."""
    folder = prefix()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if library() is None:
            say(f"installing {NAME} into {folder}")
            shutil.rmtree(folder, ignore_errors=True)
            pypi.install(_PACKAGE, folder, alone=True)
        if (added := library()) is None:
            what = f"the wheel of {_PACKAGE} has no {_LIBRARY}"
            mend = "install your system's FFTW (Debian, Ubuntu: libfftw3-double3)"
            raise UserError(Problem(f"installing {NAME}", what, mend))
        return added


def ensure(*, say: Callable[[str], None] = print) -> None:
    """Add it where neither the user, nor the system, nor an earlier command has one."""
    if library() is None and _VARIABLE not in os.environ and not _is_found():
        install(say=say)


def _is_found() -> bool:
    """Whether the dynamic loader finds one."""
    try:
        ctypes.CDLL("libfftw3.so.3")
    except OSError:
        return False
    return True


def remove() -> None:
    """Delete what was added. UserError where nothing was."""
    if library() is None:
        raise UserError(
            Problem("toolchain", f"'{NAME}' was not added", f"haloscope toolchain add {NAME}")
        )
    with FileLock(prefix().with_suffix(".lock")):
        shutil.rmtree(prefix())
