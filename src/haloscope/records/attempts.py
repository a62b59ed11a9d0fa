# SPDX-License-Identifier: BSD-3-Clause
"""Summaries of tried launches, which a campaign needs to continue.

A report needs complete records. A campaign that continues needs to know which launches are done,
their duration, and their times. Only these are kept, which takes a tenth of the memory for tens of
thousands of launches.
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

    host: of the machine or site. wall_s: duration of the launch in seconds. nodes: number of nodes.
    allocation: job and restarts, if a batch system assigned the nodes. times_s: of each point of a
    sweep, or of the step, one time per repetition.
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
        """Return the summary of a record, as described in docs/records.md."""
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
        """Case and launch."""
        return self.case, self.launch


def attempts(path: Path) -> tuple[Attempt, ...]:
    """Return all attempts in order: the file of records is read as by `log.read`."""
    with suppress(OSError):
        status = path.stat()
        return _unchanged(path, status.st_ino, status.st_size, status.st_mtime_ns)
    return _read(path)


@lru_cache(maxsize=1)
def _unchanged(path: Path, *state: int) -> tuple[Attempt, ...]:
    """Return the attempts in a file with a given state: a command needs those of its folder
    repeatedly.
    """
    return _read(path)


def _read(path: Path) -> tuple[Attempt, ...]:
    return tuple(map(Attempt.of, whole(path)))


def attempts_of(path: Path, cases: Collection[str]) -> list[Attempt]:
    """Return the attempts of some cases in another folder, without reading or reporting other
    lines.
    """
    return [Attempt.of(raw) for raw in whole(path, cases=cases, tell=False) if raw["case"] in cases]
