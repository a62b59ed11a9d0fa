# SPDX-License-Identifier: BSD-3-Clause
"""FFTW, which kernel fft_pencil needs: where it is, and what halobench is told of it.

Where the system has one, the dynamic loader finds it and nothing here is needed.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from haloscope.toolchains.added.wheels import FFTW

_VARIABLE = "HALOBENCH_FFTW"


def library() -> Path | None:
    """The library that was added; None where none was."""
    return FFTW.added()


def environment() -> dict[str, str]:
    """What tells halobench of the added library; the user's own word goes before it."""
    added = library()
    return {} if added is None or _VARIABLE in os.environ else {_VARIABLE: str(added)}


def is_there() -> bool:
    """Whether the user, the system or an earlier command has one."""
    if library() is not None or _VARIABLE in os.environ:
        return True
    try:
        ctypes.CDLL("libfftw3.so.3")
    except OSError:
        return False
    return True
