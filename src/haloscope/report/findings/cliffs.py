# SPDX-License-Identifier: BSD-3-Clause
"""Simulated solves whose working set a cache just holds, or just not: a step of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.model_steps import NEAR, step_near
from haloscope.quantities import count, listed, number
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import place

ORDER = 55

NAMED = 3
"""NAMED is how many cases are named, because more are no headline."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Which simulated times stand near a step of the node model, that measurements do not have.

    Of a sweep, caches below the last hold all or nothing by the model.
    """
    simulated = [case for case in cases if case.simulated]
    near = [(case, level) for case in simulated if (level := step_near(case, context.machine))]
    if not near:
        return
    named = listed([f"{label_of(case, simulated)} (at {level})" for case, level in near[:NAMED]])
    more = f" and {count(len(near) - NAMED, 'more case')}" if len(near) > NAMED else ""
    where = place(*(case for case, _ in near))
    yield Finding(
        f"Near a step of the model{where}: {named}{more}. Sweeps there are within a factor of "
        f"{number(NEAR)} of what a cache holds; by the node model it holds all of them or nothing, "
        "where measured times change little by little.",
        "warning",
    )
