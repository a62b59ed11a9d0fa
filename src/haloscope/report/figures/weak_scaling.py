# SPDX-License-Identifier: BSD-3-Clause
"""Weak scaling: time relative to the fewest tasks on one node, one curve per pattern."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import Facet, MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.mappings import PATTERNS, named
from haloscope.analysis.weak_scaling import WeakScaling, weak_scalings
from haloscope.quantities import count, number
from haloscope.report.figures.model import (
    OVER_PROCESSES,
    Axis,
    Curve,
    Figure,
    Lines,
    Mark,
    bars,
    counts,
    mark,
)


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """One figure, a panel for each comparison with a reference on one node."""
    found = weak_scalings(cases)
    panels = [_panel(index, *one, context.seed) for index, one in enumerate(found)]
    if not panels:
        return []
    shown = [case for _, one in found for spread in one.spreads for case in spread.cases.values()]
    references = dict.fromkeys(
        f"{named(part)}: {count(scaling.reference.ranks, 'task')} on one node"
        for part, scaling in found
    )
    return [
        Figure(
            id="weak_scaling",
            kind="weak_scaling",
            title=context.title("Weak scaling, by tasks"),
            panels=tuple(panels),
            fewest=OVER_PROCESSES,
            alt="Time over that of the reference. " + " ".join(map(_in_words, panels)),
            notes=(f"Reference: {'; '.join(references)}.", *bars(shown, panels)),
        )
    ]


def _panel(index: int, part: Facet, scaling: WeakScaling, seed: int) -> Lines:
    curves = tuple(
        Curve(pattern, marks, style=style)
        for style, pattern in enumerate(PATTERNS)
        if (marks := tuple(_marks(pattern, scaling, seed)))
    )
    tasks = sorted({int(point.x) for curve in curves for point in curve.marks})
    ideal = Curve("ideal", tuple(Mark(x, 1.0) for x in tasks), bound=True)
    return Lines(
        f"weak-scaling-{index}",
        named(part),
        Axis("tasks", "log2", counts(tasks)),
        Axis("time over reference"),
        (ideal, *curves),
    )


def _marks(pattern: str, scaling: WeakScaling, seed: int) -> Iterator[Mark]:
    for one in scaling.spreads:
        case = one.patterns.get(pattern)
        ratio = scaling.over_reference(case, seed) if case else None
        if ratio is not None:
            yield mark(one.tasks, ratio)


def _in_words(panel: Lines) -> str:
    """The last point of every curve."""
    last = [(curve.label, curve.marks[-1]) for curve in panel.curves if not curve.bound]
    told = ", ".join(f"{label} {number(point.y)} with {point.x:g} tasks" for label, point in last)
    return f"{panel.title}: {told}."
