"""Simulated solves whose working set a cache just holds, or just not: a step of the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.memory_use import Use, uses
from haloscope.analysis.sweeps import capacities
from haloscope.quantities import count, listed, number
from haloscope.report.context import Context
from haloscope.report.findings import Finding

ORDER = 55

NEAR = 1.25
"""NEAR is the factor around a cache's size within which a time is called near a step, because
measured bandwidth falls from one level's to the next over about as wide a range."""
NAMED = 3
"""NAMED is how many cases are named, because more are no headline."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Which simulated times stand near a step of the node model, that measurements do not have.

    Of a sweep, caches below the last hold all or nothing by the model.
    """
    simulated = [case for case in cases if case.simulated]
    every = uses(simulated, context.all_cases, context.machine)
    near = [(use, level) for use in every if (level := _step(use, context))]
    if not near:
        return
    named = listed([f"{label_of(use.case, simulated)} (at {level})" for use, level in near[:NAMED]])
    more = f" and {count(len(near) - NAMED, 'more case')}" if len(near) > NAMED else ""
    yield Finding(
        f"Near a step of the model: {named}{more}. Sweeps there are within a factor of "
        f"{number(NEAR)} of what a cache holds; by the node model it holds all of them or nothing, "
        "where measured times change little by little.",
        "warning",
    )


def _step(use: Use, context: Context) -> str | None:
    """The level below the last whose size a sweep's working set is near; None where none is."""
    below_the_last = capacities(use.case, context.machine)[:-1]
    return next(
        (
            level
            for level, held in below_the_last
            if 1 / NEAR <= use.working_set_bytes / held <= NEAR
        ),
        None,
    )
