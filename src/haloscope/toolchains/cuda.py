"""CUDA's compiler and runtime library, for NVIDIA's GPUs: added from PyPI, without root.

The driver is no part of it: what it builds runs where a driver that is as new as it is sees a GPU.
"""

from __future__ import annotations

from pathlib import Path

from haloscope.errors import Problem, UserError
from haloscope.toolchains import pypi
from haloscope.toolchains.library import Say, prefix_of

NAME = "cuda"
"""What it is called when it is added or removed."""
_COMPILER = "lib/python*/site-packages/nvidia/cu*/bin/nvcc"


def added() -> Path | None:
    """The compiler that was added; None where none was."""
    return next(prefix_of(NAME).glob(_COMPILER), None)


def fill(part: Path, final: Path, say: Say) -> Path:
    """Add it from PyPI, at the version that was tried, to the folder `part`, where it then is.

    UserError where the wheels can't be fetched or have no compiler.
    """
    pypi.install(NAME, part, alone=True)
    if next(part.glob(_COMPILER), None) is None:
        what = f"the wheels have no {_COMPILER}"
        raise UserError(Problem(f"installing {NAME}", what, "load your cluster's CUDA module"))
    return part
