# SPDX-License-Identifier: BSD-3-Clause
"""The program of a kernel, built for a toolchain where it is not yet."""

from __future__ import annotations

from pathlib import Path

from haloscope.toolchains import build
from haloscope.toolchains.build import KernelProgram
from haloscope.toolchains.library import Toolchain


def built(toolchain: Toolchain, kernel: str, *, device: bool = False) -> Path:
    """Its path."""
    own = KernelProgram(kernel, device)
    return build.build(build.of(toolchain), [own]).path(own)
