"""The record of one launch of one case, and the file of records that stands between run and report.

A file has one JSON object a line. Every record is synced to disk before the next case starts, so
that a crash costs at most the case in flight; a line that was cut off is dropped on reading.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

SCHEMA = 1
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Record:
    """One launch of one case. The attributes are the keys of the JSON object; missing is None.

    times_s: seconds of one step, one number a repetition, the maximum over ranks.
    outcome: ok, wrong, failed, timeout or misplaced; reason says why, for all but ok.
    stopped: of a case's last launch, which rule ended its launches where the study asked for a
        precision: narrow, count or time; None elsewhere.
    raw: the JSON object itself.
    """

    schema: int
    case: str
    launch: int
    kernel: str
    params: dict[str, Any]
    layout: dict[str, Any]
    toolchain: dict[str, Any]
    clock: str
    outcome: str
    times_s: list[float]
    raw: dict[str, Any] = field(repr=False)
    reason: str | None = None
    transport: str | None = None
    transport_seen: str | None = None
    runner: str | None = None
    steps: int | None = None
    warmup: int | None = None
    synchronisation: str | None = None
    points: list[dict[str, Any]] = field(default_factory=list)
    phases: list[dict[str, Any]] = field(default_factory=list)
    parts: list[dict[str, Any]] = field(default_factory=list)
    timeline: list[dict[str, Any]] = field(default_factory=list)
    result: dict[str, Any] = field(default_factory=dict)
    work: dict[str, Any] | None = None
    memory: dict[str, Any] | None = None
    timer: dict[str, Any] | None = None
    machine: dict[str, Any] | None = None
    command: list[str] | None = None
    started: str | None = None
    ended: str | None = None
    wall_s: float | None = None
    seed: int | None = None
    study: str | None = None
    run: int | None = None
    haloscope: str | None = None
    git: dict[str, Any] | None = None
    stderr: str | None = None
    stopped: str | None = None

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Record:
        """The record in a JSON object. ValueError if it is none that this version can read."""
        if raw.get("schema") != SCHEMA:
            raise ValueError(f"its schema is {raw.get('schema')}, this haloscope reads {SCHEMA}")
        missing = [
            key.name
            for key in fields(cls)
            if key.name not in ("raw", *raw)
            and key.default is MISSING
            and key.default_factory is MISSING
        ]
        if missing:
            raise ValueError(f"{', '.join(missing)} missing")
        known = {key.name: raw[key.name] for key in fields(cls) if key.name in raw}
        return cls(**known, raw=dict(raw))

    @property
    def key(self) -> tuple[str, int]:
        """What it is the record of: case and launch."""
        return self.case, self.launch


def append(path: Path, record: Mapping[str, Any]) -> None:
    """Add one record to a file and see it on disk before returning.

    A line that a crash cut off is removed first: this record starts on a line of its own.
    """
    line = json.dumps(record, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    with path.open("ab+", buffering=0) as file:
        _mend_last_line(file.fileno())
        file.write(line)
        os.fsync(file.fileno())


def _mend_last_line(file: int) -> None:
    size = os.fstat(file).st_size
    if size == 0 or os.pread(file, 1, size - 1) == b"\n":
        return
    content = os.pread(file, size, 0)
    start = content.rfind(b"\n") + 1
    if _parsed(content[start:]) is None:
        os.ftruncate(file, start)
    else:
        os.write(file, b"\n")


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def read(path: Path) -> list[Record]:
    """All records of a file, in the order they were made; [] if there is no file yet.

    Whatever can't be read is left out with a warning that names the line. The same case and launch
    may come several times, when it failed and was tried again: see `latest`.
    """
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")
    found = []
    for number, line in enumerate(lines, start=1):
        raw = _parsed(line)
        if raw is None and number == len(lines) and line:
            _warn(f"{path}:{number}: the last record was cut off and is left out")
        elif raw is None and line.strip():
            _warn(f"{path}:{number}: not a JSON object, left out")
        elif raw is not None:
            try:
                found.append(Record.of(raw))
            except ValueError as error:
                _warn(f"{path}:{number}: left out: {error}")
    return found


@cache
def _warn(line: str) -> None:
    """Once: one command reads the same file for several purposes."""
    _log.warning(line)


def latest(records: Iterable[Record]) -> list[Record]:
    """The last record of each case and launch."""
    return list({record.key: record for record in records}.values())
