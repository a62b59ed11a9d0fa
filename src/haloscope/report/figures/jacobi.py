# SPDX-License-Identifier: BSD-3-Clause
"""Jacobi updates per second by ranks: measured, modelled, published (ORFEO report, Figure 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.jacobi import JacobiCase, JacobiScaling, published, scalings
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
    powers_of_two,
)

if TYPE_CHECKING:
    from haloscope.papers.file import PublishedValue


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """A figure for every combination of the other settings."""
    return [_figure(one, context) for one in scalings(cases, context.all_cases)]


def _figure(scaling: JacobiScaling, context: Context) -> Figure:
    fewest, most = scaling.swept[0].sweep.ranks, scaling.swept[-1].sweep.ranks
    best = max(scaling.swept, key=lambda one: one.rate.value)
    shown = _model_shown(scaling)
    lines = f"Lines: the {shown} model{_shared(scaling)}. " if shown else ""
    beside = any(_published(one, context) for one in scaling.swept)
    return Figure(
        id="jacobi",
        kind="jacobi",
        title=context.title("Jacobi: updates a second by processes", scaling.part.label),
        panels=(_performance(scaling, context), *_ratios(scaling, context)),
        fewest=OVER_PROCESSES,
        alt=f"Updates a second of {fewest} to {most} processes; most: "
        f"{number(best.rate.value / 1e6)} MLUP/s on {best.sweep.ranks}.",
        notes=(
            "Performance P: of the fastest grid and nodes of each N. N P₁ / P: N times the updates "
            "a second of one process over those of N, 1 where nothing is lost; 1-D: ranks along "
            f"one axis alone; 2/3-D: along two or three. {lines}Dashed grey: N times one.",
            *scaling.lacking,
            *(["Published: the report's own program, for 1200³ points a rank."] if beside else ()),
        ),
    )


def _shared(scaling: JacobiScaling) -> str:
    """What a model has in common with the simulation that it stands beside."""
    if not all(one.case.simulated for one in scaling.swept):
        return ""
    return ", which takes one rank's sweep, messages and bandwidth from the same simulation"


def _model_shown(scaling: JacobiScaling) -> str | None:
    """The best that there is; the tables have all of them."""
    return next((name for name in ("detailed", "textbook") if name in scaling.models), None)


def _published(one: JacobiCase, context: Context) -> Mapping[str, PublishedValue] | None:
    """Where the same problem was measured on the very cluster that is simulated here."""
    weak = one.case.settings.get("size") == "cubes"  # as all of theirs
    return published(one, context.library) if weak and one.case.cluster else None


def _performance(scaling: JacobiScaling, context: Context) -> Lines:
    """The fastest of each number of ranks, by one curve each: grids lie too close to be seen."""
    fastest = {
        one.sweep.ranks: one for one in sorted(scaling.swept, key=lambda one: one.rate.value)
    }
    own = [fastest[ranks] for ranks in sorted(fastest)]
    curves: list[Curve] = []
    if scaling.alone:
        one_rank = scaling.alone.rate.value / 1e9
        marks = tuple(Mark(one.sweep.ranks, one.sweep.ranks * one_rank) for one in own)
        curves.append(Curve("N times one", marks, bound=True))
    clock = "simulated" if own[0].case.simulated else "measured"
    marks = tuple(mark(one.sweep.ranks, one.rate.times(1e-9)) for one in own)
    curves.append(Curve(clock, marks, joined=False, style=0))
    curves += _modelled(scaling, own, "", 1, lambda one, rate: rate / 1e9)
    rows = [(one, row) for one in scaling.swept if (row := _published(one, context))]
    told = {one[0].sweep.ranks: _rate(one) / 1e3 for one in sorted(rows, key=_rate)}
    curves += _beside("published", 0, told.items())
    x = Axis("processes N", "log2", counts([*fastest]))
    y = Axis("GLUP/s", "log2", powers_of_two([m.y for curve in curves for m in curve.marks]))
    return Lines("rate", "Performance", x, y, tuple(curves))


def _rate(row: tuple[JacobiCase, Mapping[str, PublishedValue]]) -> float:
    return float(row[1]["mlups"] or 0)


def _ratios(scaling: JacobiScaling, context: Context) -> Iterator[Lines]:
    """What scaling loses, a panel for each number of nodes: grids along one axis against others."""
    if scaling.alone is None:
        return
    several = sorted({one.sweep.nodes for one in scaling.swept})
    for nodes in several:
        own = [one for one in scaling.swept if one.sweep.nodes == nodes]
        if not any(one.sweep.ranks > 1 for one in own):
            continue
        where = f", {count(nodes, 'node')}" if len(several) > 1 else ""
        x = Axis("processes N", "log2", counts([one.sweep.ranks for one in own]))
        curves = tuple(_ratio_curves(scaling, own, scaling.alone.rate.value, context))
        y = Axis("N P₁ / P", from_zero=False)
        name = f"ratio-{nodes}" if nodes > 1 else "ratio"
        yield Lines(name, f"N P₁ / P{where}", x, y, curves, alt=_lost(curves))


def _lost(curves: Sequence[Curve]) -> str:
    """What a panel of ratios shows: the largest of its points, and where."""
    points = [(mark, curve) for curve in curves if not curve.model for mark in curve.marks]
    most, of = max(points, key=lambda point: point[0].y)
    return (
        "N times the updates a second of one process over those of N. "
        f"Largest: {number(most.y)} on {most.x:g} processes, {of.label}."
    )


def _ratio_curves(
    scaling: JacobiScaling, among: Sequence[JacobiCase], one_rank: float, context: Context
) -> Iterator[Curve]:
    def ratio(one: JacobiCase, rate: float) -> float:
        return one.sweep.ranks * one_rank / rate

    for style, (name, own) in enumerate(_families(among), 2):  # beside those of the rate's panel
        marks = tuple(Mark(one.sweep.ranks, ratio(one, one.rate.value)) for one in own)
        yield Curve(name, marks, joined=False, style=style)
        yield from _modelled(scaling, own, f"{name}, ", style, ratio)
        rows = [(one, row) for one in own if (row := _published(one, context))]
        told = [(one.sweep.ranks, float(row["ratio"] or 0)) for one, row in rows]
        yield from _beside(f"{name}, published", style, told)


def _families(among: Sequence[JacobiCase]) -> list[tuple[str, list[JacobiCase]]]:
    """Ranks along one axis, and grids that are cut along more; one rank belongs to both."""
    line = [one for one in among if max(one.sweep.grid) == one.sweep.ranks]
    more = [one for one in among if one not in line or one.sweep.ranks == 1]
    named = (("1-D", line), ("2/3-D", more))
    return [(name, own) for name, own in named if any(one.sweep.ranks > 1 for one in own)]


def _modelled(
    scaling: JacobiScaling,
    own: Sequence[JacobiCase],
    label: str,
    style: int,
    shown: Callable[[JacobiCase, float], float],
) -> Iterator[Curve]:
    name = _model_shown(scaling)
    if name is not None:
        rates = [(one, scaling.predicted(name, one)) for one in own]
        marks = tuple(Mark(one.sweep.ranks, shown(one, rate)) for one, rate in rates if rate)
        yield Curve(f"{label}{name} model", marks, model=True, style=style)


def _beside(label: str, style: int, points: Iterable[tuple[int, float]]) -> Iterator[Curve]:
    """Published points, where there are any."""
    marks = tuple(Mark(ranks, y) for ranks, y in points)
    if marks:
        yield Curve(label, marks, joined=False, style=style, published=True)
