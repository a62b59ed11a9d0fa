# SPDX-License-Identifier: BSD-3-Clause
"""Simulated solves whose working set a cache just holds, or just not: a step of the node model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.memory_use import swept_bytes
from haloscope.analysis.sweeps import capacities

NEAR = 1.25
"""NEAR is the factor around a cache's size within which a time is called near a step, because
measured bandwidth falls from one level's to the next over about as wide a range."""


def step_near(case: MeasuredCase, machine: Mapping[str, Any] | None) -> str | None:
    """The cache level whose size a simulated sweep's working set is near; None where none is.

    By the model, caches below the last hold all of a sweep or nothing; those of Poisson solves are
    known.
    """
    if case.kernel != "poisson_cg" or not case.simulated or not case.launches:
        return None
    swept = swept_bytes(case)
    below_the_last = capacities(case, machine)[:-1]
    near = (level for level, held in below_the_last if 1 / NEAR <= swept / held <= NEAR)
    return next(near, None)
