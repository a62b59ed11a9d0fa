# SPDX-License-Identifier: BSD-3-Clause
"""halobench, as far as planning needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from haloscope.errors import Problem
from haloscope.study.case import Value
from haloscope.toolchains.build import KernelProgram


@dataclass(frozen=True)
class Forecast:
    """halobench's answer about a case that is not launched (--plan).

    params:       all parameters, including defaults.
    memory_bytes: the large arrays of all ranks together.
    problems:     why the case is invalid, each with key and value.
    absent:       why a valid case cannot run on this machine, or None if it can.
    device_bytes: the part of the memory that is on GPUs.
    unchecked: the program that is not built. Only the declared ranges of parameters were checked;
        memory and limits that depend on the number of ranks are unknown.
    """

    params: Mapping[str, Any]
    memory_bytes: int
    problems: Sequence[Problem]
    absent: str | None = None
    device_bytes: int = 0
    unchecked: KernelProgram | None = None


class Program(Protocol):
    """halobench, as far as planning needs it."""

    def kernels(self) -> Sequence[str]:
        """Return the names of all kernels."""

    def parameters(self, kernel: str) -> Mapping[str, Any]:
        """Return a kernel's parameters by name, each with its default."""

    def numbers(self, kernel: str) -> Sequence[str]:
        """Return the names of parameters that are numbers."""

    def prepared(
        self, kernel: str, params: Mapping[str, Value], ranks: int
    ) -> tuple[Mapping[str, Value], str | None]:
        """Prepare the files that parameters name; return parameters and the folder of the files.

        The folder is None if no parameter names a file. Raise UserError for invalid files.
        """

    def forecast(
        self, kernel: str, params: Mapping[str, Value], ranks: int, threads: int
    ) -> Forecast:
        """Return one case's resolved parameters, memory, and problems."""

    def unable(self, kernel: str, toolchain: str, *, simulated: bool) -> str | None:
        """Why a kernel cannot run with an MPI library, or be simulated; None if it can."""
