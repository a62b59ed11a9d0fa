# SPDX-License-Identifier: BSD-3-Clause
"""How far the repetitions of one launch are apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from haloscope.records.points import point_key, point_name, size_unit

if TYPE_CHECKING:
    from haloscope.records.record import Record

TIMES = 10


def most_apart(record: Record) -> tuple[float, str]:
    """The longest over the shortest repetition, and where: the most of a sweep's points."""
    return max(_ratios(record), default=(1.0, ""))


def is_of_several(record: Record) -> bool:
    """Whether an external program's times are so far apart that they are of several things."""
    return record.program is not None and most_apart(record)[0] >= TIMES


def _ratios(record: Record) -> Iterator[tuple[float, str]]:
    if not record.points and record.times_s:
        yield max(record.times_s) / min(record.times_s), ""
    for point in record.points:
        yield (
            max(point["times_s"]) / min(point["times_s"]),
            point_name(point_key(point), size_unit(record.raw)),
        )
