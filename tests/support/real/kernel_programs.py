# SPDX-License-Identifier: BSD-3-Clause
"""halobench's programs as the presets build them: where they are, and how they are asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from fakes import FAKE

from haloscope.records.kernels import defaults
from haloscope.run.prepare.workbench import Kernels
from haloscope.toolchains.build import Build, KernelProgram
from haloscope.toolchains.library import Toolchain

ROOT = Path(__file__).resolve().parents[3]
RELEASE = ROOT / "build" / "release"
SMPI = ROOT / "build" / "smpi"


def program(kernel: str, folder: Path = RELEASE, *, device: bool = False) -> Path:
    """The program of a kernel; with device the one that works in a device's memory, too."""
    return folder / KernelProgram(kernel, device).file


def program_of(words: Sequence[str], folder: Path = RELEASE) -> Path:
    """The program that runs a command: options, each with a value, a kernel, and key=value."""
    first = next(place for place in range(0, len(words), 2) if not words[place].startswith("--"))
    kernel, *given = words[first:]
    params = {**defaults(kernel), **dict(word.split("=", 1) for word in given)}
    return folder / KernelProgram.of(kernel, params).file


def builds(folder: Path, toolchain: Toolchain = FAKE, source: str = "hash") -> Build:
    """A folder of programs, as one that a toolchain built."""
    return Build(toolchain, folder, source)


def halobench(folder: Path = RELEASE) -> Kernels:
    """All kernels, to plan with. Skips the test where ./check has not built them."""
    if not program("pingpong", folder).exists():
        pytest.skip(f"{folder} has no programs: ./check builds them")
    return Kernels(lambda: iter([builds(folder)]))
