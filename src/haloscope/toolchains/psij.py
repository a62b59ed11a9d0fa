# SPDX-License-Identifier: BSD-3-Clause
"""psij-python, which submits jobs to PBS and LSF, in a virtual environment of its own.

Its pins (of packaging, of psutil) would hold back those of haloscope. Nodes of a job need none.
"""

from __future__ import annotations

from pathlib import Path

from haloscope.toolchains import pypi
from haloscope.toolchains.library import Say, prefix_of

NAME = "psij"
"""What it is called when it is added or removed."""
_PACKAGE = "psij-python"


def python() -> Path | None:
    """The Python that can import it; None where it was not added."""
    found = prefix_of(NAME) / "bin" / "python"
    there = next(prefix_of(NAME).glob("lib/python*/site-packages/psij/__init__.py"), None)
    return found if there and found.exists() else None


def fill(part: Path, final: Path, say: Say) -> Path:
    """Add it from PyPI, at the version that was tried, to the folder `part`."""
    pypi.install(_PACKAGE, part)
    return part
