"""What the halobench program says about its kernels, asked without MPI; its words are JSON.

The kernels' names alone are known before it is built.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from haloscope.errors import Problem, UserError, no_such
from haloscope.paths import share
from haloscope.study.plan import Forecast
from haloscope.toolchains import fftw


@dataclass(frozen=True)
class KernelName:
    """One line of the list of kernels."""

    name: str
    summary: str


@dataclass(frozen=True)
class KernelParameter:
    """One key=value of a kernel. minimum, maximum and unit are None where there are none."""

    name: str
    type: Literal["integer", "real", "choice", "sizes", "text", "file"]
    default: Any
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]
    unit: str | None
    help: str


@dataclass(frozen=True)
class Kernel:
    """A kernel and all its parameters, those of the measuring protocol last."""

    name: str
    summary: str
    paper: str | None
    parameters: tuple[KernelParameter, ...]


def names() -> list[str]:
    """The names of all kernels, from the list that halobench is built by."""
    listed = (share("halobench") / "kernels.def").read_text(encoding="utf-8")
    return re.findall(r"^KERNEL\((\w+)\)", listed, re.MULTILINE)


def require(where: str, kernel: str) -> None:
    """UserError, with the nearest name, where there is no such kernel."""
    if kernel not in names():
        raise UserError(no_such(where, "kernel", kernel, names()))


def kernels(binary: Path) -> list[KernelName]:
    """The kernels that this halobench has."""
    answer = _ask(binary, "--list")
    return [KernelName(each["name"], each["summary"]) for each in answer["kernels"]]


def describe(binary: Path, kernel: str) -> Kernel:
    """The parameters of a kernel that there is."""
    answer = _ask(binary, "--describe", kernel)
    parameters = tuple(
        KernelParameter(
            name=each["name"],
            type=each["type"],
            default=each["default"],
            minimum=each.get("minimum"),
            maximum=each.get("maximum"),
            choices=tuple(each.get("choices") or ()),
            unit=each.get("unit") or None,
            help=each["help"],
        )
        for each in answer["parameters"]
    )
    return Kernel(answer["name"], answer["summary"], answer["paper"], parameters)


def forecast(
    binary: Path,
    kernel: str,
    params: Mapping[str, Any],
    *,
    ranks: int = 1,
    threads: int = 1,
    files: Path | None = None,
) -> Forecast:
    """What this case would be; what is wrong with it is in the forecast's problems, all of it.

    files: the folder that has the files which parameters name.
    """
    settings = [f"{key}={value}" for key, value in params.items()]
    settings += [f"ranks={ranks}", f"threads={threads}", *([f"files={files}"] if files else [])]
    answer = _ask(binary, "--plan", kernel, *settings)
    problems = (
        Problem(f"{kernel} {each['key']}={each['value']}", "refused", each["message"])
        for each in answer["problems"]
    )
    return Forecast(answer["params"], answer["memory_bytes"], tuple(problems), answer["absent"])


def _ask(binary: Path, *arguments: str) -> dict[str, Any]:
    """Run halobench without a launcher. 2 with an answer is a forecast's "no"; else an error."""
    done = subprocess.run(
        [binary, *arguments],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        env={**os.environ, **fftw.environment()},
    )
    if done.returncode not in (0, 2) or not done.stdout:
        what = f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()[-500:]}"
        raise UserError(Problem(str(binary), what, "remove it, and it will be built again"))
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
