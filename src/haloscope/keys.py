# SPDX-License-Identifier: BSD-3-Clause
"""The description of one key of a JSON object, beside its type: Annotated[int, Key("...")]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

WrittenBy = Literal["halobench", "runner", "campaign"]
"""Writer of a key: the measured program, its runner, or the campaign."""


@dataclass(frozen=True)
class Key:
    """One key of a record: its meaning, writer, unit, and when it has no value.

    by: None for the writer of the enclosing object.
    absent: when the key is absent or null; None if it always has a value.
    kernels: kernels whose records always have the key, and no others; empty if it is common to all.
    keys: type of the object, or of each object in the list, if the annotation does not name it.
    least, most: smallest and largest valid number; most is None without a bound of its own.
    values: all valid words.
    """

    meaning: str
    by: WrittenBy | None = None
    unit: str | None = None
    absent: str | None = None
    keys: type | None = None
    kernels: tuple[str, ...] = ()
    least: float = 0
    most: float | None = None
    values: tuple[str, ...] = ()
