# SPDX-License-Identifier: BSD-3-Clause
"""Results of checks, and the machine that is checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from haloscope.host import machine
from haloscope.toolchains.library import Toolchain

Severity = Literal["ok", "note", "warn", "fail"]


@dataclass(frozen=True)
class CheckResult:
    """One check's result.

    level: ok; note; warn: measurements would be disturbed; fail: runs would not work.
    remedy:  what to do, or None.
    """

    check: str
    level: Severity
    what: str
    remedy: str | None = None


@dataclass(frozen=True)
class Patient:
    """What is checked: a machine's /proc and /sys below root, and the toolchain of runs."""

    root: Path = machine.ROOT
    toolchain: Toolchain | None = None
