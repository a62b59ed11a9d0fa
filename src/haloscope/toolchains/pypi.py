"""A package from PyPI in a virtual environment of its own, without root."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from haloscope.errors import Problem, UserError


def install(package: str, prefix: Path) -> None:
    """Make the virtual environment `prefix` and install `package` in it; what it needs comes along.

    With whichever installer this Python has: its own pip, or uv. UserError, with the installer's
    last words, where that fails.
    """
    command = _installer(str(prefix / "bin" / "python"))
    venv.create(prefix, with_pip=False, symlinks=True)
    done = subprocess.run(
        [*command, package], capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    if done.returncode != 0:
        last = "\n    ".join(done.stderr.strip().splitlines()[-5:])
        mend = "it needs the network, and up to 0.5 GB of disk space; then try again"
        raise UserError(Problem(f"installing {package}", last or "no reason given", mend))


def can_install() -> bool:
    """Whether this Python has an installer."""
    return importlib.util.find_spec("pip") is not None or shutil.which("uv") is not None


def _installer(python: str) -> list[str]:
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-P", "-m", "pip", "--python", python, "install", "--quiet"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--quiet", "--python", python]
    mend = f"{sys.executable} -m ensurepip, or install uv"
    raise UserError(Problem("haloscope", "this Python has neither pip nor uv", mend))
