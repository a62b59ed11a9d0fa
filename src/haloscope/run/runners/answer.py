# SPDX-License-Identifier: BSD-3-Clause
"""The result of a launch: the record written by halobench, and its exit code in words."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

from haloscope.host.scratch import cramped

BAD_USAGE = 2
"""BAD_USAGE is halobench's exit code for an invalid request, with a message."""


def measured(path: Path) -> dict[str, Any] | None:
    """Return the record that halobench wrote; None if it is missing or incomplete."""
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
    """Return why a launch ended, with a possible cause on this host."""
    return f"{reason}; {cause}" if (cause := cramped()) else reason


def how_it_ended(code: int) -> str:
    """Describe an exit code, with the signal's name if it was killed."""
    if code <= 128 or code - 128 not in set(signal.Signals):
        return f"exit code {code}"
    return f"exit code {code}: killed by {signal.Signals(code - 128).name}"
