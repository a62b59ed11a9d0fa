# SPDX-License-Identifier: BSD-3-Clause
"""Identification of a sweep's points, and their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from haloscope.quantities import size

if TYPE_CHECKING:
    from haloscope.records.record import Record


PointKey = tuple[str | None, int]
"""The identity of a point: an operation, if there are several, and a size."""


def point_key(point: Mapping[str, Any]) -> PointKey:
    """Return the identity of a record's point."""
    return point.get("operation"), point["size_bytes"]


def point_name(key: PointKey, unit: str = "B") -> str:
    """Name a point: "allreduce 8 B", or "8 B" with a single operation."""
    operation, number = key
    return f"{operation or ''} {size_in(number, unit)}".strip()


def size_in(number: int, unit: str) -> str:
    """Format the size of a point: "8 KiB", "8,192 elements"."""
    return size(number) if unit == "B" else f"{number:,} {unit}"


def size_unit(program: Mapping[str, Any] | None) -> str:
    """Return the unit of a record's sizes: bytes, unless its external program has another one."""
    return str((program or {}).get("size_unit", "B"))


TIMES = 10


def most_apart(record: Record) -> tuple[float, str]:
    """Return the largest ratio of longest to shortest repetition, and its point."""
    return max(_ratios(record), default=(1.0, ""))


def is_of_several(record: Record) -> bool:
    """Return whether an external program's times vary so much that they are of different
    operations.
    """
    return record.program is not None and most_apart(record)[0] >= TIMES


def _ratios(record: Record) -> Iterator[tuple[float, str]]:
    if not record.points and record.times_s:
        yield max(record.times_s) / min(record.times_s), ""
    for point in record.points:
        yield (
            max(point["times_s"]) / min(point["times_s"]),
            point_name(point_key(point), size_unit(record.program)),
        )
