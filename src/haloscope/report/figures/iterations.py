# SPDX-License-Identifier: BSD-3-Clause
"""Iterations per second of the variants of poisson_cg by ranks."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.iteration_rates import Paces, paces
from haloscope.quantities import number
from haloscope.report.figures.model import OVER_PROCESSES, Axis, Curve, Figure, Lines, counts, mark


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """A figure for every combination of the other settings that has several numbers of ranks."""
    return [_figure(one, context) for one in paces(cases) if len(one.by_ranks) > 1]


def _figure(found: Paces, context: Context) -> Figure:
    ranks = list(found.by_ranks)
    curves = tuple(
        Curve(
            name,
            tuple(
                mark(count, row[name][1]) for count, row in found.by_ranks.items() if name in row
            ),
            joined=False,
        )
        for name in found.variants
    )
    last = found.by_ranks[ranks[-1]]
    told = ", ".join(f"{name} {number(pace.value)}" for name, (_, pace) in last.items())
    return Figure(
        id="iterations",
        kind="iterations",
        title=context.title("Iterations a second by variant", found.part.label),
        panels=(
            Lines(
                "pace",
                "",
                Axis("ranks", "log2", counts(ranks)),
                Axis("iterations a second", "log"),
                curves,
            ),
        ),
        fewest=OVER_PROCESSES,
        alt=f"Iterations a second on {ranks[0]} to {ranks[-1]} ranks; on the most: {told}.",
    )
