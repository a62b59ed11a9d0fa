# SPDX-License-Identifier: BSD-3-Clause
"""What tells a point of a sweep from the others of its launch, and its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from haloscope.quantities import size

PointKey = tuple[str | None, int]


def point_key(point: Mapping[str, Any]) -> PointKey:
    """What a point of a record is of."""
    return point.get("operation"), point["size_bytes"]


def point_name(key: PointKey, unit: str = "B") -> str:
    """Name a point: "allreduce 8 B", or "8 B" where there is one operation."""
    operation, number = key
    return f"{operation or ''} {size_in(number, unit)}".strip()


def size_in(number: int, unit: str) -> str:
    """A size of a point: "8 KiB", "8,192 elements"."""
    return size(number) if unit == "B" else f"{number:,} {unit}"


def size_unit(raw: Mapping[str, Any]) -> str:
    """The unit of a record's sizes: bytes, unless its external program has another one."""
    return str((raw.get("program") or {}).get("size_unit", "B"))
