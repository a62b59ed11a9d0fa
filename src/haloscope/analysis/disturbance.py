# SPDX-License-Identifier: BSD-3-Clause
"""What says that something else was running while cases were measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from haloscope.analysis.cases import MeasuredCase

BUSY = 0.5
"""BUSY is the largest load beforehand, in processors, that is not worth a word."""
UNEVEN = 1.3
"""UNEVEN is the largest slowest over fastest launch of a case that is not worth a word."""


def busy_processors(machine: Mapping[str, Any] | None) -> float:
    """How many processors other programs kept busy when the run began; 0 of too few to matter."""
    busy = float((machine or {}).get("busy_processors") or 0.0)
    return busy if busy > BUSY else 0.0


def uneven(cases: Sequence[MeasuredCase]) -> list[MeasuredCase]:
    """The cases whose slowest launch took much longer than the fastest."""
    several = [case for case in cases if len(case.times_s) > 1]
    return [case for case in several if max(case.times_s) > UNEVEN * min(case.times_s)]
