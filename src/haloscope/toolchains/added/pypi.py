# SPDX-License-Identifier: BSD-3-Clause
"""Install a package from PyPI in its own virtual environment, without root."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import venv
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from haloscope.errors import Problem, UserError
from haloscope.host import process
from haloscope.host.scratch import scratch

LIMIT_S = 3600.0
"""Half a gigabyte over a slow line takes less; an installer may wait for ever."""

_ALONE = ("--no-deps", "--only-binary", ":all:")


def install(package: str, prefix: Path, version: str | None = None, *, alone: bool = False) -> None:
    """Create the virtual environment `prefix`, and install `package` with its dependencies.

    alone: without dependencies, and not from a source that would have to be built. Version and
    hashes are those in locks/, unless another version is requested. The installer is this Python's
    pip, or uv; none of its processes survives. Raise UserError, with the installer's last words, if
    it fails.
    """
    command = _installer(str(prefix / "bin" / "python"))
    venv.create(prefix, with_pip=False, symlinks=True)
    arguments = [*command, *_requirement(package, version), *(_ALONE if alone else ())]
    remedy = "check the network and the disk space (up to 0.5 GB), then try again"
    step(arguments, os.environ, LIMIT_S, f"installing {package}", remedy)


def step(
    command: Sequence[str], environment: Mapping[str, str], limit_s: float, what: str, remedy: str
) -> None:
    """Run a step of an installation; none of its processes survives its end or ours.

    Raise UserError, with the last lines of its output, if it fails. what: where it then is.
    """
    with scratch() as own:
        done = process.run(command, {**environment, "TMPDIR": str(own.folder)}, limit_s)
    if done.code != 0 or done.timed_out:
        last = "\n    ".join(done.output.strip().splitlines()[-10:])
        raise UserError(Problem(what, last or "failed without output", remedy))


def _requirement(package: str, version: str | None) -> list[str]:
    if version is not None:
        return [f"{package}=={version}"]
    lock = files("haloscope.toolchains") / "locks" / f"{package}.txt"
    return ["--require-hashes", "--requirement", str(lock)]


def can_install() -> bool:
    """Return whether this Python has an installer."""
    return importlib.util.find_spec("pip") is not None or shutil.which("uv") is not None


def _installer(python: str) -> list[str]:
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-P", "-m", "pip", "--python", python, "install", "--quiet"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--quiet", "--python", python]
    remedy = f"run {sys.executable} -m ensurepip, or install uv"
    raise UserError(Problem("haloscope", "this Python has neither pip nor uv", remedy))
