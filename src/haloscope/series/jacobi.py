"""Jacobi's updates a second by ranks: measured, models, published; the ORFEO report's Figure 6."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from haloscope.evidence import MeasuredCase
from haloscope.jacobi_cases import Scaling, Swept, scalings
from haloscope.quantities import number
from haloscope.series.model import Axis, Curve, Figure, Lines, Mark, counts, mark, powers_of_two
from haloscope.tables.context import Context
from haloscope.tables.jacobi import published


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """A figure for every combination of the other settings."""
    return [_figure(one, context) for one in scalings(cases, context.all_cases)]


def _figure(scaling: Scaling, context: Context) -> Figure:
    rates = _rates(scaling, context)
    x = Axis("processes N", "log2", counts([one.sweep.ranks for one in scaling.swept]))
    y = Axis("GLUP/s", "log2", powers_of_two([m.y for curve in rates for m in curve.marks]))
    best = max(scaling.swept, key=lambda one: one.rate.value)
    return Figure(
        id="jacobi",
        kind="jacobi",
        title=context.title("Jacobi: updates a second by processes", scaling.part.label),
        panels=(
            Lines("rate", "Performance", x, y, rates),
            Lines("ratio", "N P₁ / P", x, Axis("N P₁ / P"), _ratios(scaling, context)),
        ),
        alt=f"Updates a second of 1 to {best.sweep.ranks} processes; most: "
        f"{number(best.rate.value / 1e6)} MLUP/s on {best.sweep.ranks}.",
        notes=(
            "1-D: ranks along one axis alone; 2/3-D: along two or three. Lines: what the "
            "models say; dashed grey: N times one.",
            *scaling.lacking,
        ),
    )


def _families(scaling: Scaling) -> list[tuple[str, list[Swept]]]:
    """Ranks along one axis, and grids that are cut along more; one rank belongs to both."""
    line = [one for one in scaling.swept if max(one.sweep.grid) == one.sweep.ranks]
    more = [one for one in scaling.swept if one not in line or one.sweep.ranks == 1]
    named = (("1-D", line), ("2/3-D", more))
    return [(name, own) for name, own in named if any(one.sweep.ranks > 1 for one in own)]


def _rates(scaling: Scaling, context: Context) -> tuple[Curve, ...]:
    curves: list[Curve] = []
    if scaling.alone:
        ideal = {one.sweep.ranks for one in scaling.swept}
        one_rank = scaling.alone.rate.value / 1e9
        marks = tuple(Mark(ranks, ranks * one_rank) for ranks in sorted(ideal))
        curves.append(Curve("N times one", marks, bound=True))
    for name, own in _families(scaling):
        marks = tuple(mark(one.sweep.ranks, one.rate.times(1e-9)) for one in own)
        curves.append(Curve(name, marks, joined=False))
        curves += _modelled(scaling, name, own, lambda one, rate: rate / 1e9)
        found = [(one, published(one, context)) for one in own]
        marks = tuple(
            Mark(one.sweep.ranks, float(row["mlups"] or 0) / 1e3) for one, row in found if row
        )
        if marks:
            curves.append(Curve(f"{name}, published", marks, joined=False))
    return tuple(curves)


def _ratios(scaling: Scaling, context: Context) -> tuple[Curve, ...]:
    if scaling.alone is None:
        return ()
    one_rank = scaling.alone.rate.value

    def ratio(one: Swept, rate: float) -> float:
        return one.sweep.ranks * one_rank / rate

    curves: list[Curve] = []
    for name, own in _families(scaling):
        marks = tuple(Mark(one.sweep.ranks, ratio(one, one.rate.value)) for one in own)
        curves.append(Curve(name, marks, joined=False))
        curves += _modelled(scaling, name, own, ratio)
        found = [(one, published(one, context)) for one in own]
        marks = tuple(Mark(one.sweep.ranks, float(row["ratio"] or 0)) for one, row in found if row)
        if marks:
            curves.append(Curve(f"{name}, published", marks, joined=False))
    return tuple(curves)


def _modelled(
    scaling: Scaling, name: str, own: Sequence[Swept], shown: Callable[[Swept, float], float]
) -> list[Curve]:
    found = []
    for model in scaling.models:
        rates = [(one, scaling.predicted(model, one)) for one in own]
        marks = tuple(Mark(one.sweep.ranks, shown(one, rate)) for one, rate in rates if rate)
        found.append(Curve(f"{name}, {model} model", marks, model=True))
    return found
