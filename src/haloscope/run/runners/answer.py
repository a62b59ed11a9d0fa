"""What came back of a launch: the record that halobench wrote, and its exit code in words."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any


def measured(path: Path) -> dict[str, Any] | None:
    """The record that halobench wrote; None if it wrote none, or not to its end."""
    if not path.exists():
        return None
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
    return record


def how_it_ended(code: int) -> str:
    """An exit code in words, with the signal's name where it was killed by one."""
    if code <= 128 or code - 128 not in set(signal.Signals):
        return f"exit code {code}"
    return f"exit code {code}: killed by {signal.Signals(code - 128).name}"
