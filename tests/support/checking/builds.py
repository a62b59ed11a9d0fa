# SPDX-License-Identifier: BSD-3-Clause
"""Commands that build halobench and run its C++ tests."""

from __future__ import annotations

from collections.abc import Callable

from checking.tools import PYTHON, ROOT, mpicxx, nvcc, smpicxx

Commands = Callable[[], list[list[str]]]
MPI = "usual"
"""MPI is the toolchain that haloscope takes where none is named."""
CROWDED = "3 ranks|4 ranks"
"""CROWDED are tests on more ranks than a small machine has cores, which are slow there."""


def cxx_sources() -> list[str]:
    """All C++ files: of halobench, of the profiler, of its test and of the documentation."""
    folders = ("halobench", "profiler", "tests/profiling", "docs/examples")
    return [str(path) for name in folders for path in sorted((ROOT / name).rglob("*.[ch]pp"))]


def build(preset: str, compiler: Callable[[], str], *targets: str) -> Commands:
    """Configure and build targets of halobench/CMakePresets.json's preset, warnings as errors."""
    return lambda: [
        ["cmake", "-S", "halobench", "--preset", preset, f"-DCMAKE_CXX_COMPILER={compiler()}"],
        ["cmake", "--build", f"build/{preset}", "--target", *targets],
    ]


def build_for(toolchain: str, preset: str, *more: str) -> Commands:
    """Build a preset, whose programs are then those that haloscope takes for that toolchain."""
    compiler = mpicxx if toolchain == MPI else smpicxx
    adopt = [str(PYTHON), "tests/support/adopt.py", toolchain, f"build/{preset}"]
    return lambda: [*build(preset, compiler, "halobench_all", *more)(), adopt]


def ctest(preset: str, *options: str, cores: int, whole: bool) -> list[list[str]]:
    """The C++ tests of a preset. whole: also those that have not changed since they passed.

    Twice as many ranks at once as cores: much of a test is the launcher, which waits.
    """
    options = ("-j", str(2 * cores), "--repeat", "until-pass:2", *options)
    if whole:
        always = ("--no-tests=error", "--output-on-failure")
        return [["ctest", "--test-dir", f"build/{preset}", *always, *options]]
    return [[str(PYTHON), "tests/support/changed_ctests.py", f"build/{preset}", *options]]


def cuda() -> list[list[str]]:
    """Compile and link halobench for GPUs, with NCCL; without one it must say so, else run.

    With another host compiler than MPI's wrapper, as CUDAHOSTCXX gives it.
    """
    compilers = [f"-DCMAKE_CUDA_COMPILER={nvcc()}", "-DCMAKE_CUDA_HOST_COMPILER=g++"]
    configure, make = build("cuda", mpicxx, "halobench_all")()
    chain, grid = (f"build/cuda/halobench_{name}_device" for name in ("launches", "sf_grid"))
    run = f'{chain} launches size=1600 2>&1 | grep -E \'"outcome":"ok"|no GPU found by cuda\''
    nccl = f"{grid} --plan sf_grid memory=device mpi=nccl | grep '\"absent\":null'"
    lag = f"{chain} --plan launches device_lag=until_waited | grep 'one is a GPU'"
    return [[*configure, *compilers], make, *(["sh", "-c", each] for each in (run, nccl, lag))]
