"""What a record says of a launch besides what halobench measured: shared by all runners."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from haloscope.records.record import SCHEMA
from haloscope.run.runners.base import CampaignFacts
from haloscope.study.case import Case, Launch


def asked(facts: CampaignFacts, runner: str, launch: Launch, clock: str = "wall") -> dict[str, Any]:
    """What a record says of a launch before anything is launched."""
    case = launch.case
    return {
        **_unmeasured(case, clock),
        "case": case.id,
        "launch": launch.number,
        "layout": {
            **asdict(case.layout),
            "ranks": case.layout.ranks,
            "oversubscribed": case.oversubscribed,
            "seen": [],
        },
        "toolchain": {"name": case.toolchain},
        "transport": case.transport,
        "transport_seen": None,
        "runner": runner,
        "run": case.run,
        **asdict(facts),
    }


def absent(record: Mapping[str, Any], why: str) -> dict[str, Any]:
    """The record of what can't run."""
    return {
        **record,
        "transport_seen": None,
        "outcome": "absent",
        "reason": why,
        "command": None,
        "wall_s": 0.0,
        "started": now(),
        "ended": now(),
    }


def measured(path: Path) -> dict[str, Any] | None:
    """The record that halobench wrote; None if it wrote none, or not to its end."""
    if not path.exists():
        return None
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
    return found


def _unmeasured(case: Case, clock: str) -> dict[str, Any]:
    """What a record says of a case that measured nothing."""
    return {
        "schema": SCHEMA,
        "kernel": case.kernel,
        "params": dict(case.params),
        "clock": clock,
        "times_s": [],
        "steps": None,
        "warmup": None,
        "synchronisation": None,
        "points": [],
        "phases": [],
        "result": {},
        "work": None,
        "memory": None,
        "timer": None,
    }


def how_it_ended(code: int) -> str:
    """An exit code in words, with the signal's name where it was killed by one."""
    if code <= 128 or code - 128 not in set(signal.Signals):
        return f"exit code {code}"
    return f"exit code {code}: killed by {signal.Signals(code - 128).name}"


def now() -> str:
    """This moment, as records write it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
