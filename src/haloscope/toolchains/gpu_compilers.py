# SPDX-License-Identifier: BSD-3-Clause
"""Compilers of GPUs: CUDA's and HIP's, those in PATH or one that was added."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from haloscope.errors import Problem, UserError
from haloscope.toolchains import cuda

_VARIABLES = {"cuda": "CUDACXX", "hip": "HIPCXX"}
"""The variables by which users name theirs, as CMake has them."""
_NAMES = {"cuda": "nvcc", "hip": "amdclang++"}
"""ROCm's compiler by the name that it alone has: most programs called clang++ know no GPU."""
_MENDS = {
    "cuda": "haloscope toolchain add cuda, or load your cluster's module, which has nvcc in PATH",
    "hip": "load your cluster's ROCm module, or set HIPCXX to ROCm's clang++",
}

_ARCHITECTURES = {"cuda": ("-DCMAKE_CUDA_ARCHITECTURES=all-major",), "hip": ()}
"""CUDA's code is made for all generations of GPUs that the compiler knows, so that a login node
builds for others; HIP's for those that CMake finds here."""


def options(device: str) -> tuple[str, ...]:
    """What CMake is told besides: for which GPUs, and where NCCL is if NCCL_ROOT says so."""
    nccl = os.environ.get("NCCL_ROOT") if device == "cuda" else None
    return (*_ARCHITECTURES[device], *((f"-DNCCL_ROOT={nccl}",) if nccl else ()))


def find(device: str) -> Path:
    """The compiler of "cuda" or "hip": the user's, one in PATH, or one that was added.

    UserError, with what to do, where there is none.
    """
    variable = _VARIABLES[device]
    named = os.environ.get(variable)
    if named is not None and shutil.which(named) is None:
        raise UserError(Problem(variable, f"{named} is no program", _MENDS[device]))
    for name in (named, _NAMES[device]):
        if name is not None and (found := shutil.which(name)) is not None:
            return Path(found)
    if device == "cuda" and (mine := cuda.added()) is not None:
        return mine
    what = f"no compiler for {device}: {_NAMES[device]} is not in PATH"
    raise UserError(Problem(f"--device {device}", what, _MENDS[device]))


def version(device: str) -> str:
    """What the compiler says of its version: another one makes another program."""
    said = subprocess.run([find(device), "--version"], capture_output=True, check=False)
    return said.stdout.decode(errors="replace").strip()
