# SPDX-License-Identifier: BSD-3-Clause
"""Convergence of the mean with launches, relative to the mean of all, one curve per case."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase, name_of
from haloscope.analysis.context import Context
from haloscope.analysis.variability import FEWEST_LAUNCHES, Variability, variabilities
from haloscope.quantities import count, number
from haloscope.report.figures.model import Axis, Curve, Figure, Lines, Mark

MOST_CURVES = 8
"""MOST_CURVES is how many cases one figure shows: those that scatter most."""


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """One figure of the cases that scatter most."""
    every = variabilities(cases)
    found = sorted(every, key=lambda one: one.spread, reverse=True)[:MOST_CURVES]
    if not found:
        return []
    own = [one.case for one in found]
    left_out = len(every) - len(found)
    note = (
        "Over the mean of all launches, in the order in which they ran. Bars at the last launch: "
        "from the fastest to the slowest one."
    )
    further = f" {count(left_out, 'case')} that scatter less are in the table alone."
    return [
        Figure(
            id="variability",
            kind="variability",
            title=context.title("How the mean settles"),
            panels=(
                Lines(
                    "variability",
                    "Mean of the first launches",
                    Axis("launches"),
                    Axis("over the mean of all", from_zero=False),
                    tuple(_curve(one, own) for one in found),
                ),
            ),
            fewest=FEWEST_LAUNCHES,
            alt="Mean of the first launches over that of all. " + " ".join(map(_in_words, found)),
            notes=(note + (further if left_out else ""),),
        )
    ]


def _curve(one: Variability, among: Sequence[MeasuredCase]) -> Curve:
    marks = [Mark(n, ratio) for n, ratio in enumerate(one.running, start=1)]
    marks[-1] = Mark(marks[-1].x, marks[-1].y, one.fastest, one.slowest)
    return Curve(name_of(one.case, among) or "mean", tuple(marks))


def _in_words(one: Variability) -> str:
    return (
        f"{count(len(one.running), 'launch', 'launches')}: the first {number(one.running[0])}, "
        f"from {number(one.fastest)} to {number(one.slowest)}."
    )
