# SPDX-License-Identifier: BSD-3-Clause
"""Times with more digits than were printed: a serial time over a printed speedup."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from haloscope.papers.tables import Paper, PaperTable, PublishedValue, load

_SPEEDUP_STEP = 1e-4


@dataclass(frozen=True)
class ExactTime:
    """A cell's time, and how far apart the times are that would be printed alike, in seconds.

    row: all keys of the cell, by column. source: the table whose speedup it is from.
    """

    row: Mapping[str, PublishedValue]
    time_s: float
    step_s: float
    source: str


def exact_times(table: PaperTable) -> dict[tuple[PublishedValue, ...], ExactTime]:
    """By the values of the table's keys: what its paper's tables of speedups determine.

    They may have cells that the table itself lacks.
    """
    if table.speedups is None:
        return {}
    paper = load(table.paper)
    serial = _serial(paper, table.speedups.serial)
    found: dict[tuple[PublishedValue, ...], ExactTime] = {}
    for name in table.speedups.tables:
        for row in paper.table(name).rows:
            speedup, first = row["speedup"], serial.get(row["n"])
            if not isinstance(speedup, int | float) or first is None:
                continue
            time, step = first[0] / speedup, first[1] / speedup
            step += time * _SPEEDUP_STEP / speedup
            keys = tuple(row[key] for key in table.keys)
            found.setdefault(keys, ExactTime(row, time, step, name))
    return found


def _serial(paper: Paper, name: str) -> dict[PublishedValue, tuple[float, float]]:
    table = paper.table(name)
    return {
        row["n"]: (float(time), table.resolution_s or 0.0)
        for row in table.rows
        if isinstance(time := row["time_s"], int | float)
    }
