# SPDX-License-Identifier: BSD-3-Clause
"""Print what haloscope itself provides to a check; it is installed where it is missing.

Run: python tests/support/checking/provided.py NAME. A failure ends with its error.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Callable

from haloscope.lab.cluster import problems
from haloscope.toolchains import fftw
from haloscope.toolchains.added import extras
from haloscope.toolchains.library import ensure


def mpicxx() -> str:
    """The compiler wrapper of the MPI that haloscope uses here; from PyPI where there is none."""
    return str(ensure(say=lambda _: None).mpicxx)


def nvcc() -> str:
    """CUDA's compiler: from PyPI, at the version that was tried, whatever PATH has."""
    return str(extras.install("cuda", say=lambda _: None))


def environment() -> str:
    """The variables that pass FFTW to kernels, in JSON: from PyPI where the system has none."""
    if not has_fftw():
        extras.install("fftw", say=lambda _: None)
    return json.dumps(fftw.environment())


def has_fftw() -> bool:
    """Whether the user, an earlier command, or the system provides FFTW."""
    if fftw.library() is not None or "HALOBENCH_FFTW" in os.environ:
        return True
    try:
        ctypes.CDLL("libfftw3.so.3")
    except OSError:
        return False
    return True


def no_cluster() -> str:
    """Why no cluster in a box can be made here; "" where one can."""
    return "; ".join(f"{one.where} {one.what}: {one.remedy}" for one in problems())


PROVIDED: dict[str, Callable[[], str]] = {
    one.__name__: one for one in (mpicxx, nvcc, environment, no_cluster)
}

if __name__ == "__main__":
    print(PROVIDED[sys.argv[1]]())
