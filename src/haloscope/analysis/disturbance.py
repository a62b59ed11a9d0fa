# SPDX-License-Identifier: BSD-3-Clause
"""What says that something else was running while cases were measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.quantities import count, number

BUSY = 0.5
"""BUSY is the largest load beforehand, in processors, that is not worth a word."""
UNEVEN = 1.3
"""UNEVEN is the largest slowest over fastest launch of a case that is not worth a word."""


def disturbances(cases: Sequence[MeasuredCase], machine: Mapping[str, Any] | None) -> Iterator[str]:
    """A sentence on what ran beforehand, and one on launches of a case that differ too much."""
    busy = (machine or {}).get("busy_processors") or 0.0
    if busy > BUSY:
        yield (
            f"Other programs kept {number(busy, 2)} processors busy when the run began: times may "
            "be too long."
        )
    several = [case for case in cases if len(case.times_s) > 1]
    uneven = [case for case in several if max(case.times_s) > UNEVEN * min(case.times_s)]
    if uneven:
        counted = f"{len(uneven)} of {count(len(several), 'case')}"
        where = counted if len(several) > 1 else "the only case"
        yield (
            f"In {where} with several launches the slowest "
            f"took more than {UNEVEN} times as long as the fastest: this machine was not steady."
        )
