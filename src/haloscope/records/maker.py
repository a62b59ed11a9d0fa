# SPDX-License-Identifier: BSD-3-Clause
"""Construction of a launch's record, for every runner: request, measurement, and outcome.

docs/records.md describes the keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from haloscope.records.record import SCHEMA
from haloscope.study.case import Launch


@dataclass(frozen=True)
class CampaignFacts:
    """Common facts of all records of a campaign."""

    study: str
    seed: int
    machine: Mapping[str, Any]
    haloscope: str
    git: Mapping[str, Any] | None


@dataclass(frozen=True)
class Ending:
    """The end of a launch, from its runner.

    outcome, reason, command, started, wall_s: as in the record. printed: the end of its output.
    toolchain: what is known about the library besides its name. seen: places reported by ranks.
    more: keys of this runner only.
    """

    outcome: str
    reason: str | None
    command: Sequence[str]
    started: str
    wall_s: float
    toolchain: Mapping[str, Any]
    printed: str = ""
    seen: Sequence[Mapping[str, Any]] = ()
    more: Mapping[str, Any] | None = None


def asked(
    facts: CampaignFacts, runner: str, launch: Launch, *, clock: str = "wall", **more: Any
) -> dict[str, Any]:
    """Return the record of a launch without measurements. more: keys of this runner only."""
    case = launch.case
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
        "case": case.id,
        "launch": launch.number,
        "layout": {
            **case.layout.as_recorded(),
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
        **more,
    }


def absent(record: Mapping[str, Any], why: str) -> dict[str, Any]:
    """Return the record of a launch that cannot run here."""
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


def ended(
    record: Mapping[str, Any], measured: Mapping[str, Any] | None, ending: Ending
) -> dict[str, Any]:
    """Return the record of a launch that ended. measured: written by halobench, or None."""
    whole = {
        **record,
        **(measured or {}),
        "layout": {**record["layout"], "seen": list(ending.seen)},
        "toolchain": {**record["toolchain"], **ending.toolchain},
        **(ending.more or {}),
        "outcome": ending.outcome,
        "reason": ending.reason,
        "command": list(ending.command),
        "started": ending.started,
        "ended": now(),
        "wall_s": round(ending.wall_s, 6),
    }
    return whole if ending.outcome == "ok" else {**whole, "stderr": ending.printed}


def now() -> str:
    """Return the current time in the format of records."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
