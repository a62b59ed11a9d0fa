# SPDX-License-Identifier: BSD-3-Clause
"""Observed speedup and efficiency by p, with the ideal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.scaling import Ladder, Scaling, scalings
from haloscope.quantities import count, number
from haloscope.report.figures.model import (
    OVER_PROCESSES,
    Axis,
    Curve,
    Figure,
    Lines,
    Mark,
    counts,
    mark,
    of_launches,
    powers_of_two,
)
from haloscope.stats.estimates import Estimate


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """A figure for each scaling, a curve a mesh that has good launches on several p.

    Over nodes and processes per node: a figure a mesh, a curve for each number of the latter.
    """
    return [figure for scaling in scalings(cases) for figure in _figures(scaling, context)]


def _figures(scaling: Scaling, context: Context) -> Iterator[Figure]:
    if not scaling.is_grid:
        named = [(f"N = {one.n}", one, one.steps) for one in scaling.ladders]
        yield from _figure(scaling, scaling.label, named, context)
        return
    for n in sorted({one.n for one in scaling.ladders}):
        own = [one for one in scaling.ladders if one.n == n]
        named = [(f"{one.ppn} per node", one, one.own) for one in own]
        label = ", ".join(text for text in (scaling.label, f"N = {n}") if text)
        yield from _figure(scaling, label, named, context)


_Named = Sequence[tuple[str, Ladder, Mapping[int, MeasuredCase]]]
"""Curves: their names, and which steps of a ladder they show."""


def _figure(scaling: Scaling, label: str, named: _Named, context: Context) -> Iterator[Figure]:
    """A figure where a curve has more than a point."""
    shown = [one for one in named if sum(bool(case.launches) for case in one[2].values()) > 1]
    if not shown:
        return
    cores = sorted({case.cores for _, _, steps in shown for case in steps.values()})
    fewest = min(one.base.cores for _, one, _ in shown if one.base)
    ideal = Curve("ideal", tuple(Mark(p, p / fewest) for p in cores), bound=True)
    flat = Curve("ideal", tuple(Mark(p, 1.0) for p in cores), bound=True)
    seed = context.seed
    joined = scaling.is_grid  # the same processes on each of more and more nodes
    speedups = [_curve(name, steps, one.speedup, seed, joined) for name, one, steps in shown]
    shares = [_curve(name, steps, one.efficiency, seed, joined) for name, one, steps in shown]
    printed = [
        [curve for name, _, steps in shown for curve in _published(name, steps, column, context)]
        for column in ("speedup", "efficiency")
    ]
    x = Axis(f"{scaling.p} p", "log2", counts(cores))
    heights = [point.y for curve in (ideal, *speedups, *printed[0]) for point in curve.marks]
    y = Axis("speedup", "log2", powers_of_two(heights))
    best = max((curve.marks[-1] for curve in speedups), key=lambda point: point.y)
    references = dict.fromkeys(one.reference for _, one, _ in shown)
    yield Figure(
        id="scaling",
        kind="scaling",
        title=context.title("Speedup and efficiency", label),
        panels=(
            Lines("speedup", "Observed speedup", x, y, (ideal, *speedups, *printed[0])),
            Lines(
                "efficiency",
                "Observed efficiency",
                x,
                Axis("efficiency"),
                (flat, *shares, *printed[1]),
            ),
        ),
        fewest=OVER_PROCESSES,
        alt=f"Speedup and efficiency, {count(len(shown), 'curve')}, over {cores[0]} to "
        f"{cores[-1]} {scaling.p}. Highest speedup at the most: {number(best.y)} on {best.x:.0f}.",
        notes=(
            f"Speedup refers to {'; '.join(references)}.",
            *_sources(shown, context),
            *of_launches(
                (case for _, _, steps in shown for case in steps.values()),
                "Bars: bootstrap interval of the ratio of medians, else their range.",
            ),
        ),
    )


_KINDS = ("scaling",)
"""Published tables that a figure takes points from: what its table takes too."""


def _published(
    name: str, steps: Mapping[int, MeasuredCase], column: str, context: Context
) -> Iterator[Curve]:
    """What was printed of the same cases, if anything was: hollow points of a curve's colour."""
    found = ((p, context.library.find(case, column, _KINDS)) for p, case in steps.items())
    if marks := tuple(Mark(p, one.value) for p, one in found if one):
        yield Curve(f"{name}, published", marks, joined=False, published=True, like=name)


def _sources(shown: _Named, context: Context) -> Iterator[str]:
    """Where the published points are from, and of which variant, where that is another."""
    found = (
        context.library.find(case, "speedup", _KINDS)
        for _, _, steps in shown
        for case in steps.values()
    )
    told = dict.fromkeys(
        f"{one.source}{f', variant {one.variant}' if one.variant else ''}" for one in found if one
    )
    if told:
        yield f"Hollow: published: {'; '.join(told)}."


_Ratio = Callable[[MeasuredCase, int], Estimate | None]


def _curve(
    name: str, steps: Mapping[int, MeasuredCase], ratio: _Ratio, seed: int, joined: bool
) -> Curve:
    found = ((p, ratio(case, seed)) for p, case in steps.items())
    return Curve(name, tuple(mark(p, one) for p, one in found if one is not None), joined=joined)
