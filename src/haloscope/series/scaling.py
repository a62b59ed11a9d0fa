"""Observed speedup and efficiency over p, with the ideal."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.evidence import MeasuredCase
from haloscope.quantities import count, number
from haloscope.scaling import Ladder, Scaling, scalings
from haloscope.series.model import (
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
from haloscope.tables.context import Context


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """A figure for each scaling, a curve a mesh that has good launches on several p."""
    found = (_figure(scaling, context) for scaling in scalings(cases))
    return [figure for figure in found if figure is not None]


def _figure(scaling: Scaling, context: Context) -> Figure | None:
    ladders = [one for one in scaling.ladders if len(_speedups(one, context)) > 1]
    if not ladders:
        return None
    cores = sorted({case.cores for one in ladders for case in one.steps.values()})
    fewest = min(one.base.cores for one in ladders if one.base)
    x = Axis(f"{scaling.p} p", "log2", counts(cores))
    speedups = [Curve(f"N = {one.n}", _speedups(one, context), joined=False) for one in ladders]
    shares = [Curve(f"N = {one.n}", _efficiencies(one, context), joined=False) for one in ladders]
    ideal = tuple(Mark(p, p / fewest) for p in cores)
    flat = tuple(Mark(p, 1.0) for p in cores)
    best = max((curve.marks[-1] for curve in speedups), key=lambda mark: mark.y)
    return Figure(
        id="scaling",
        kind="scaling",
        title=context.title("Speedup and efficiency", scaling.label),
        panels=(
            Lines(
                "speedup",
                "Observed speedup",
                x,
                Axis(
                    "speedup",
                    "log2",
                    powers_of_two(
                        [
                            mark.y
                            for curve in [ideal, *(c.marks for c in speedups)]
                            for mark in curve
                        ]
                    ),
                ),
                (Curve("ideal", ideal, bound=True), *speedups),
            ),
            Lines(
                "efficiency",
                "Observed efficiency",
                x,
                Axis("efficiency"),
                (Curve("ideal", flat, bound=True), *shares),
            ),
        ),
        alt=f"Speedup and efficiency for {count(len(ladders), 'mesh', 'meshes')} over "
        f"{cores[0]} to {cores[-1]} {scaling.p}. Highest speedup at the most: "
        f"{number(best.y)} on {best.x:.0f}.",
        notes=(
            f"Speedup refers to {'; '.join(one.reference for one in ladders)}.",
            *of_launches(
                (case for one in ladders for case in one.steps.values()),
                "Bars: bootstrap interval of the ratio of medians; without: fewer than 6 launches.",
            ),
        ),
    )


def _speedups(one: Ladder, context: Context) -> tuple[Mark, ...]:
    found = ((p, one.speedup(case, context.seed)) for p, case in one.steps.items())
    return tuple(mark(p, ratio) for p, ratio in found if ratio is not None)


def _efficiencies(one: Ladder, context: Context) -> tuple[Mark, ...]:
    found = ((p, one.efficiency(case, context.seed)) for p, case in one.steps.items())
    return tuple(mark(p, ratio) for p, ratio in found if ratio is not None)
