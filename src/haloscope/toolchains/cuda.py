# SPDX-License-Identifier: BSD-3-Clause
"""CUDA's compiler and runtime library, and NCCL, for NVIDIA's GPUs: from PyPI, without root.

The driver is no part of it: what it builds runs where a driver that is as new as it is sees a GPU.
"""

from __future__ import annotations

from pathlib import Path

from haloscope.errors import Problem, UserError
from haloscope.toolchains import pypi
from haloscope.toolchains.library import Say, prefix_of

NAME = "cuda"
_COMPILER = "lib/python*/site-packages/nvidia/cu*/bin/nvcc"
_NCCL = "lib/python*/site-packages/nvidia/nccl/include/nccl.h"
"""_NCCL is where halobench's CMakeLists.txt looks for it, seen from the compiler."""


def added() -> Path | None:
    """The compiler that was added, with NCCL beside it; None where they were not."""
    return _compiler(prefix_of(NAME))


def _compiler(prefix: Path) -> Path | None:
    if next(prefix.glob(_NCCL), None) is None:
        return None
    return next(prefix.glob(_COMPILER), None)


def fill(part: Path, final: Path, say: Say) -> Path:
    """Add it from PyPI, at the version that was tried, to the folder `part`, where it then is."""
    pypi.install(NAME, part, alone=True)
    if _compiler(part) is None:
        what = f"the wheels do not contain {_COMPILER} or {_NCCL}"
        raise UserError(Problem(f"installing {NAME}", what, "load your cluster's CUDA module"))
    return part
