# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of halobench: their declarations, and a program's forecast of a case.

Declarations are read from kernels.json, which needs no build. A kernel's program answers in JSON
and needs no MPI.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from haloscope.errors import Problem, UserError
from haloscope.paths import share
from haloscope.records.kernels import declared
from haloscope.study.program import Forecast
from haloscope.toolchains import fftw
from haloscope.toolchains.build import KernelProgram


@dataclass(frozen=True)
class KernelParameter:
    """One key=value of a kernel. minimum, maximum, and unit are None if there are none."""

    name: str
    type: Literal["integer", "real", "choice", "sizes", "text", "file"]
    default: Any
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]
    unit: str | None
    help: str


@dataclass(frozen=True)
class KernelResult:
    """One result of a kernel. absent: when it is null or missing; None if it always exists."""

    name: str
    type: Literal["integer", "real", "text", "integers", "reals", "extents", "surface"]
    unit: str | None
    absent: str | None
    help: str


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters, those of the measuring protocol last, and its results.

    least_ranks: cases with fewer ranks are refused. results: in a record's `result`. point_results:
    in the result of each point.
    """

    name: str
    summary: str
    paper: str | None
    parameters: tuple[KernelParameter, ...]
    results: tuple[KernelResult, ...]
    point_results: tuple[KernelResult, ...]
    least_ranks: int = 1


def names() -> list[str]:
    """Return the names of all kernels, from the list used by the build."""
    file = share("halobench") / "kernels.def"
    found = re.findall(r"^KERNEL\((.*)\)", file.read_text(encoding="utf-8"), re.MULTILINE)
    for name in found:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            remedy = "use lower-case letters, digits, and _"
            raise UserError(Problem(str(file), f"invalid name: KERNEL({name})", remedy))
        source = file.parent / "kernels" / name / f"{name}.cpp"
        if not source.is_file():
            raise UserError(Problem(str(file), f"KERNEL({name}) has no source", f"write {source}"))
    return found


@cache
def describe(kernel: str) -> Kernel:
    """Return a kernel as it declares itself. Raise UserError if kernels.json lacks it."""
    if (said := declared().get(kernel)) is None:
        what = "the kernel is in kernels.def, but its parameters are not in kernels.json"
        remedy = f"build it, then run .venv/bin/python tests/support/kernels_file.py {kernel}"
        raise UserError(Problem(f"kernel {kernel}", what, remedy))
    parameters = tuple(
        KernelParameter(**{**one, "choices": tuple(one["choices"])}) for one in said["parameters"]
    )
    results, of_points = (
        tuple(
            KernelResult(one["name"], one["type"], one["unit"], one["absent"], one["help"])
            for one in said[key]
        )
        for key in ("results", "point_results")
    )
    found = (said["summary"], said["paper"], parameters, results, of_points)
    return Kernel(kernel, *found, least_ranks=said["least_ranks"])


def programs(kernel: str) -> list[KernelProgram]:
    """Return the programs of a kernel, that for host memory first; one without
    declaration has one.
    """
    described = describe(kernel).parameters if kernel in declared() else ()
    (memory,) = [one.choices for one in described if one.name == "memory"] or [("host",)]
    return [KernelProgram(kernel, where == "device") for where in memory]


class Planner:
    """A halobench process that forecasts cases, one after the other; it is started once."""

    def __init__(self, binary: Path) -> None:
        """binary: the program, or one that answers in its place."""
        self.binary = binary
        self._process: subprocess.Popen[str] | None = None

    def forecast(
        self,
        kernel: str,
        params: Mapping[str, Any],
        *,
        ranks: int = 1,
        threads: int = 1,
        files: Path | None = None,
    ) -> Forecast:
        """Return the forecast of a case, with all its problems.

        files: folder of the files that parameters name. Raise UserError if the program gives no
        answer.
        """
        settings = [f"{key}={value}" for key, value in params.items()]
        settings += [f"ranks={ranks}", f"threads={threads}"]
        settings += [f"files={files}"] if files else []
        answer = self._answer(kernel, *settings)
        problems = (
            Problem(f"{kernel} {each['key']}={each['value']}", "invalid value", each["message"])
            for each in answer["problems"]
        )
        arrays = (int(answer[key]) for key in ("memory_bytes", "device_bytes"))  # 8e+09 is a float
        memory_bytes, device_bytes = arrays
        absent = answer["absent"]
        return Forecast(answer["params"], memory_bytes, tuple(problems), absent, device_bytes)

    def _answer(self, *words: str) -> dict[str, Any]:
        process = self._running()
        if process.stdin is None or process.stdout is None:
            raise ValueError("halobench was started without pipes")
        with suppress(BrokenPipeError):  # the process has ended, which is reported below
            process.stdin.write("".join(f"{word}\0" for word in (*words, "")))
            process.stdin.flush()
        if not (line := process.stdout.readline()):
            ended = f"ended with {process.wait()}: {self._said(process)}"
            raise _no_answer(self.binary, ("--plan", *words), ended)
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise _no_answer(self.binary, ("--plan", *words), answer["error"])
        return answer

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [self.binary, "--plan"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                env={**os.environ, **fftw.environment()},
            )
            weakref.finalize(self, _end, self._process)
        return self._process

    @staticmethod
    def _said(process: subprocess.Popen[str]) -> str:
        return process.stderr.read() if process.stderr else ""


def _end(process: subprocess.Popen[str]) -> None:
    for pipe in (process.stdin, process.stdout, process.stderr):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()
    process.wait()


def _no_answer(binary: Path, asked: Sequence[str], what: str) -> UserError:
    what = f"{' '.join(asked)}: {what.strip()[-500:]}"
    return UserError(Problem(str(binary), what, "remove this program; it will be built again"))
