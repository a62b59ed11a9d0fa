# SPDX-License-Identifier: BSD-3-Clause
"""What came back of a launch: the record that halobench wrote, and its exit code in words."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

from haloscope.host.scratch import cramped

BAD_USAGE = 2
"""BAD_USAGE is halobench's exit code where it can't do what it was asked, and says why."""


def measured(path: Path) -> dict[str, Any] | None:
    """The record that halobench wrote; None if it wrote none, or not to its end."""
    if not path.exists():
        return None
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
    return record


def refused(code: int, printed: str) -> str | None:
    """Return halobench's message about an invalid case, or None if there is none."""
    if code != BAD_USAGE:
        return None
    found = re.search(r"^halobench: (.+)", printed, re.MULTILINE)
    return found[1] if found else None


def with_cause(reason: str) -> str:
    """Why a launch ended, with what may be the cause on this host."""
    return f"{reason}; {cause}" if (cause := cramped()) else reason


def how_it_ended(code: int) -> str:
    """An exit code in words, with the signal's name where it was killed by one."""
    if code <= 128 or code - 128 not in set(signal.Signals):
        return f"exit code {code}"
    return f"exit code {code}: killed by {signal.Signals(code - 128).name}"
