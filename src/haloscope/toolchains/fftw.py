# SPDX-License-Identifier: BSD-3-Clause
"""FFTW for the kernel fft_pencil: its location, and how halobench gets it.

If the system has one, the dynamic loader finds it, and nothing here is needed.
"""

from __future__ import annotations

import os
from pathlib import Path

from haloscope.toolchains.added.wheels import FFTW

_VARIABLE = "HALOBENCH_FFTW"


def library() -> Path | None:
    """Return the added library, or None."""
    return FFTW.added()


def environment() -> dict[str, str]:
    """Return the variables that pass the added library to halobench; a user's setting takes
    precedence.
    """
    added = library()
    return {} if added is None or _VARIABLE in os.environ else {_VARIABLE: str(added)}
