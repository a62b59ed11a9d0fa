# SPDX-License-Identifier: BSD-3-Clause
"""How a step's time grows with tasks that have as much work each, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.mappings import named
from haloscope.analysis.weak_scaling import last, weak_scalings
from haloscope.quantities import count, listed, number
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import place, spread

ORDER = 131
ANSWERS = ("weak_scaling",)


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of each comparison: the most tasks in every pattern, over the fewest on one node."""
    for part, scaling in weak_scalings(cases):
        most, patterns = last(scaling)
        told = [
            f"{number(ratio.value)} times as long {pattern} ({count(case.number('nodes'), 'node')})"
            f"{spread(ratio)}"
            for pattern, case in patterns.items()
            if (ratio := scaling.over_reference(case, context.seed))
        ]
        timed = [case for case in part.cases if case.time]
        if told:
            fewest = count(scaling.reference.ranks, "task")
            yield Finding(
                f"{named(part)}{place(*timed)}: from {fewest} on one node to {most.tasks:,} a "
                f"step takes {listed(told)}."
            )
