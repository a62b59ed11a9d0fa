# SPDX-License-Identifier: BSD-3-Clause
"""Figures of speedup and efficiency, and of scaling laws."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.grouped import grouped
from haloscope.models.scaling_law import CONFIDENCE, ScalingLaw
from haloscope.quantities import count, listed, number, percent
from haloscope.stats.estimates import Estimate
from haloscope.topics.common.figure import (
    Axis,
    Curve,
    Figure,
    Lines,
    Mark,
    bars,
    counts,
    mark,
    of_launches,
    powers_of_two,
)
from haloscope.topics.common.words import clock
from haloscope.topics.scaling import Ladder, Law, Scaling, laws, scalings


def scaling_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Speedup and efficiency by p, with the ideal."""
    return [figure for scaling in scalings(cases) for figure in _figures(scaling, context)]


def _figures(scaling: Scaling, context: Context) -> Iterator[Figure]:
    if not scaling.is_grid:
        named = [(f"n = {one.n}", one, one.steps) for one in scaling.ladders]
        yield from _scaling_figure(scaling, scaling.label, named, context)
        return
    for n in sorted({one.n for one in scaling.ladders}):
        own = [one for one in scaling.ladders if one.n == n]
        named = [(f"{one.ppn} per node", one, one.own) for one in own]
        label = ", ".join(text for text in (scaling.label, f"n = {n}") if text)
        yield from _scaling_figure(scaling, label, named, context)


_Named = Sequence[tuple[str, Ladder, Mapping[int, MeasuredCase]]]


def _scaling_figure(
    scaling: Scaling, label: str, named: _Named, context: Context
) -> Iterator[Figure]:
    shown = [one for one in named if sum(bool(case.launches) for case in one[2].values()) > 1]
    if not shown:
        return
    cores = sorted({case.cores for _, _, steps in shown for case in steps.values()})
    fewest = min(one.base.cores for _, one, _ in shown if one.base)
    ideal = Curve("ideal", tuple(Mark(p, p / fewest) for p in cores), bound=True)
    flat = Curve("ideal", tuple(Mark(p, 1.0) for p in cores), bound=True)
    seed = context.seed
    joined = scaling.is_grid  # the same number of processes on more and more nodes
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
    references = dict.fromkeys(one.reference() for _, one, _ in shown)
    yield Figure(
        kind="scaling",
        title=context.title("Speedup and efficiency", label),
        panels=(
            Lines("speedup", "Speedup", x, y, (ideal, *speedups, *printed[0])),
            Lines("efficiency", "Efficiency", x, Axis("efficiency"), (flat, *shares, *printed[1])),
        ),
        alt=f"Speedup and efficiency, {count(len(shown), 'curve')}, for {cores[0]} to "
        f"{cores[-1]} {scaling.p}. Speedup with the most: {number(best.y)} on {best.x:.0f}.",
        notes=(
            f"Speedup is relative to {listed([*references])}.",
            *_sources(shown, context),
            *of_launches(
                (case for _, _, steps in shown for case in steps.values()),
                "Bars: bootstrap interval of the ratio of medians, or its range if there "
                "are few launches.",
            ),
        ),
        cases=tuple(case.id for _, _, steps in shown for case in steps.values()),
    )


_KINDS = ("scaling",)
"""Published tables with points for the figure, as for its table."""


def _published(
    name: str, steps: Mapping[int, MeasuredCase], column: str, context: Context
) -> Iterator[Curve]:
    found = ((p, context.library.find(case, column, _KINDS)) for p, case in steps.items())
    if marks := tuple(Mark(p, one.value) for p, one in found if one):
        yield Curve(f"{name}, published", marks, joined=False, published=True, like=name)


def _sources(shown: _Named, context: Context) -> Iterator[str]:
    found = (
        context.library.find(case, "speedup", _KINDS)
        for _, _, steps in shown
        for case in steps.values()
    )
    sources = dict.fromkeys(
        f"{one.source}{f', variant {one.variant}' if one.variant else ''}" for one in found if one
    )
    if sources:
        yield f"Hollow: published: {'; '.join(sources)}."


_Ratio = Callable[[MeasuredCase, int], Estimate | None]


def _curve(
    name: str, steps: Mapping[int, MeasuredCase], ratio: _Ratio, seed: int, joined: bool
) -> Curve:
    found = ((p, ratio(case, seed)) for p, case in steps.items())
    return Curve(name, tuple(mark(p, one) for p, one in found if one is not None), joined=joined)


STEPS = 60


def scaling_law_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Time by processes with the fitted law and its band."""
    fitted = [(one, one.law) for one in laws(cases, context.seed) if one.law is not None]
    meshes = grouped(fitted, lambda pair: (pair[0].mesh, pair[0].p, pair[0].ppn is None))
    return [_law_figure(own, context) for own in meshes.values()]


def _law_figure(found: Sequence[tuple[Law, ScalingLaw]], context: Context) -> Figure:
    one = found[0][0]
    own = [case for each, _ in found for case in each.cases]
    panel = Lines(
        "law",
        "",
        Axis(one.p, "log2", counts([x for each, _ in found for x in each.x])),
        Axis("time (ms)", "log"),
        (*(_points(each) for each, _ in found), *_laws(found)),
    )
    banded = len(found) == 1 and found[0][1].draws.size > 0
    return Figure(
        kind="scaling_law",
        title=context.title("Time and fitted law", one.mesh),
        panels=(panel,),
        alt=" ".join(_in_words(each, law) for each, law in found),
        notes=(
            *bars(own, [panel]),
            *([_BANDED] if banded else []),
            f"Law: {ScalingLaw.source}.",
        ),
    )


_BAND = f"{percent(CONFIDENCE)} band"
_BANDED = f"Dashed: {_BAND} of the law over resampled launches, with its terms fixed."


def _points(one: Law) -> Curve:
    pairs = zip(one.x, one.cases, strict=True)
    marks = tuple(mark(x, case.time.times(1e3)) for x, case in pairs if case.time)
    return Curve(
        one.per_node or clock(one.cases), marks, joined=False, style=None if one.ppn else 0
    )


def _laws(found: Sequence[tuple[Law, ScalingLaw]]) -> Iterator[Curve]:
    if len(found) == 1:
        yield from _drawn(found[0][1])
        return
    for one, law in found:
        p = np.geomspace(*law.valid, STEPS)
        marks = _marks(p, law.predict(p))
        yield Curve("law of each", marks, model=True, like=one.per_node)


def _in_words(one: Law, law: ScalingLaw) -> str:
    first, last = (
        number(1e3 * case.time.value) for case in (one.cases[0], one.cases[-1]) if case.time
    )
    named = f"{one.per_node}: time" if one.per_node else "Time"
    return (
        f"{named} {_over(one)}, {first} to {last} ms; the law predicts omitted points "
        f"within {percent(law.cross_validation)}."
    )


def _over(one: Law) -> str:
    """Return "on 1 to 16 processes" or "for n from 64 to 1024"."""
    if one.over_sizes:
        return f"for n from {one.x[0]} to {one.x[-1]}"
    return f"on {one.x[0]} to {one.x[-1]} {one.p}"


def _drawn(law: ScalingLaw) -> Iterator[Curve]:
    p = np.geomspace(*law.valid, STEPS)
    yield Curve("law", _marks(p, law.predict(p)), model=True, style=1)
    if (band := law.band(p)) is not None:
        for end in band:
            yield Curve(_BAND, _marks(p, end), bound=True, style=1)


def _marks(
    p: np.typing.NDArray[np.float64], times: np.typing.NDArray[np.float64]
) -> tuple[Mark, ...]:
    pairs = zip(p, times, strict=True)
    return tuple(Mark(float(x), 1e3 * float(time)) for x, time in pairs if time > 0)
