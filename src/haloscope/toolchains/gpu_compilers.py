# SPDX-License-Identifier: BSD-3-Clause
"""GPU compilers of CUDA and HIP: those in PATH, or an added one."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from haloscope.errors import Problem, UserError
from haloscope.host import gpus, process
from haloscope.toolchains.added.wheels import CUDA

_VARIABLES = {"cuda": "CUDACXX", "hip": "HIPCXX"}
_NAMES = {"cuda": "nvcc", "hip": "amdclang++"}
"""ROCm's compiler by its unique name: most programs called clang++ do not support GPUs."""
_REMEDIES = {
    "cuda": "load your cluster's CUDA module, or run haloscope toolchain add cuda",
    "hip": "load your cluster's ROCm module, or set HIPCXX to the clang++ of ROCm",
}

_ARCHITECTURES = {"cuda": ("-DCMAKE_CUDA_ARCHITECTURES=all-major",), "hip": ()}
"""CUDA: all generations, so that a login node can build for others. HIP: those found here."""


def options(device: str) -> tuple[str, ...]:
    """Return additional CMake options: GPU architectures, and NCCL's location from NCCL_ROOT."""
    nccl = os.environ.get("NCCL_ROOT") if device == "cuda" else None
    return (*_ARCHITECTURES[device], *((f"-DNCCL_ROOT={nccl}",) if nccl else ()))


def find(device: str) -> Path:
    """Return the compiler of "cuda" or "hip": the user's, one in PATH, or an added one.

    Raise UserError, with the remedy, if there is none.
    """
    variable = _VARIABLES[device]
    named = os.environ.get(variable)
    if named is not None and shutil.which(named) is None:
        raise UserError(Problem(variable, f"{named} is not a program", _REMEDIES[device]))
    if named is not None and (found := shutil.which(named)) is not None:
        return Path(found)  # a user's choice is used: a driver may run newer programs in other ways
    there = [*_there(device)]
    if not there:
        raise UserError(_none(device))
    working = [one for one in there if _said(one) is not None]
    if not working:
        what = f"{there[0]} cannot be run, or fails with --version"
        raise UserError(Problem(f"--device {device}", what, _REMEDIES[device]))
    return _for_driver(working) if device == "cuda" else working[0]


def _there(device: str) -> Iterator[Path]:
    name = _NAMES[device]
    if (found := shutil.which(name)) is not None:
        yield Path(found)
    if device == "cuda":
        homes = [Path(home) for key in ("CUDA_HOME", "CUDA_PATH") if (home := os.environ.get(key))]
        homes += sorted(INSTALLED.glob("cuda-*"), key=_number, reverse=True)
        yield from (home / "bin" / name for home in homes if (home / "bin" / name).exists())
        if (mine := CUDA.added()) is not None:
            yield mine


INSTALLED = Path("/usr/local")
"""INSTALLED is the folder of NVIDIA's packages, with one CUDA version beside another."""


def _number(home: Path) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", home.name)))


def _for_driver(there: Sequence[Path]) -> Path:
    """Return the first compiler whose programs this machine's driver runs. Raise
    UserError if none.
    """
    driver = gpus.nvidia_driver()
    most = next((cuda for least, cuda in _RUNS if driver and _major(driver) >= least), None)
    if most is None:
        return there[0]
    for compiler in there:
        if (made := _release(compiler)) is None or _major(made) <= most:
            return compiler
    what = (
        f"{there[0]} belongs to CUDA {_release(there[0])}, but driver {driver} supports only "
        f"CUDA {most}"
    )
    remedy = f"load a module with CUDA {most}, or use this compiler anyway: CUDACXX={there[0]}"
    raise UserError(Problem("--device cuda", what, remedy))


_RUNS = ((580, 13), (525, 12), (450, 11))
"""NVIDIA's first driver for each major version of CUDA."""


def _major(version: str) -> int:
    return int(version.partition(".")[0])


def _release(compiler: Path) -> str | None:
    """Return the CUDA version of a compiler, such as 12.4; None if it does not print it."""
    found = re.search(r"release (\d+\.\d+)", _said(compiler) or "")
    return found[1] if found else None


@cache
def _said(compiler: Path) -> str | None:
    return _asked(compiler)


def _asked(compiler: Path) -> str | None:
    ended = process.run([str(compiler), "--version"], os.environ, _ANSWER_S)
    return None if ended.code or ended.timed_out else ended.output.strip()


_ANSWER_S = 30.0


def _none(device: str) -> Problem:
    what = f"{_NAMES[device]} not found in PATH"
    return Problem(f"--device {device}", what, _REMEDIES[device])


def version(device: str) -> str:
    """Return the compiler's version text: another compiler makes another program."""
    return _asked(find(device)) or ""
