# SPDX-License-Identifier: BSD-3-Clause
"""Launches that were tried, in short: what a campaign has to know of its records to go on.

A report needs records whole. A campaign that goes on needs to know which launches are done, what
they took and their times, of which it keeps no more: tens of thousands take a tenth of the memory.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from haloscope.records.log import whole


@dataclass(frozen=True, slots=True)
class Attempt:
    """A launch that was tried.

    host: of the machine, or the site, that it ran on. wall_s: seconds of the whole launch.
    nodes: how many it was on. allocation: job and restarts, where a batch system gave the nodes.
    times_s: of each point of a sweep, else of the step, one time a repetition.
    """

    case: str
    launch: int
    outcome: str
    host: str | None
    wall_s: float | None
    nodes: int
    allocation: tuple[str, int] | None
    times_s: tuple[Sequence[float], ...]

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """What a record says, as docs/records.md has it."""
        given, machine = record.get("allocation"), record.get("machine")
        points = record.get("points")
        return cls(
            record["case"],
            record["launch"],
            record["outcome"],
            machine["host"] if machine else None,
            record.get("wall_s"),
            record["layout"]["nodes"],
            (given["job"], given["restarts"]) if given else None,
            tuple([one["times_s"] for one in points]) if points else (record["times_s"],),
        )

    @property
    def key(self) -> tuple[str, int]:
        """What was tried: case and launch."""
        return self.case, self.launch


def attempts(path: Path) -> tuple[Attempt, ...]:
    """All that were tried, in their order: a file of records is read as `log.read` reads it."""
    with suppress(OSError):
        status = path.stat()
        return _unchanged(path, status.st_ino, status.st_size, status.st_mtime_ns)
    return _read(path)


@lru_cache(maxsize=1)
def _unchanged(path: Path, *state: int) -> tuple[Attempt, ...]:
    """Those of a file in a state: a command needs those of its folder several times."""
    return _read(path)


def _read(path: Path) -> tuple[Attempt, ...]:
    return tuple(map(Attempt.of, whole(path)))


def attempts_of(path: Path, cases: Collection[str]) -> list[Attempt]:
    """Those of some cases, of a folder beside: of what else lies there nothing is read or told."""
    return [Attempt.of(raw) for raw in whole(path, cases=cases, tell=False) if raw["case"] in cases]
