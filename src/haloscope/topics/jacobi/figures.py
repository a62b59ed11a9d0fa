# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Jacobi in three dimensions: rates over cores, and their roofline.

After Williams, Waterman and Patterson, Communications of the ACM 52, 2009: the rate of operations
is at most the memory bandwidth times the operations per byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import band_of
from haloscope.analysis.context import Context
from haloscope.papers.file import PublishedValue
from haloscope.quantities import count, listed, number
from haloscope.stats.estimates import Estimate
from haloscope.topics.common.figure import (
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
from haloscope.topics.common.words import clock
from haloscope.topics.jacobi import (
    JacobiCase,
    JacobiScaling,
    in_cache,
    operations_of_update,
    published,
    scalings,
    swept_phase,
)
from haloscope.topics.memory import memory_triads


def jacobi_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Jacobi updates per second by ranks: measured, modelled, published (ORFEO report, Figure 6).

    A figure for every combination of the other settings.
    """
    return [_figure(one, context) for one in scalings(cases, context.all_cases)]


def _figure(scaling: JacobiScaling, context: Context) -> Figure:
    fewest, most = scaling.swept[0].sweep.ranks, scaling.swept[-1].sweep.ranks
    best = max(scaling.swept, key=lambda one: one.rate.value)
    shown = _model_shown(scaling)
    lines = [f"Lines: the {shown} model{_shared(scaling)}."] if shown else []
    beside = any(_published(one, context) for one in scaling.swept)
    return Figure(
        kind="jacobi",
        title=context.title("Jacobi: updates per second by processes", scaling.part.label),
        panels=(_performance(scaling, context), *_ratios(scaling, context)),
        fewest=OVER_PROCESSES,
        alt=f"Updates per second of {fewest} to {most} processes. Highest: "
        f"{number(best.rate.value / 1e6)} MLUP/s on {best.sweep.ranks}.",
        notes=(
            "Performance P: fastest grid and nodes for each N; dashed grey: linear speedup.",
            "N P₁ / P: ideal over measured performance; 1 means no loss.",
            *lines,
            "1-D: ranks along one axis; 2/3-D: along two or three.",
            *scaling.lacking,
            *(
                ["Published values: the report's own program, with 1200³ points per rank."]
                if beside
                else ()
            ),
        ),
    )


def _shared(scaling: JacobiScaling) -> str:
    if not all(one.case.simulated for one in scaling.swept):
        return ""
    return ", from one rank's sweep, messages, and bandwidth of the same simulation"


def _model_shown(scaling: JacobiScaling) -> str | None:
    """Return the most detailed available model; the tables have all of them."""
    return next((name for name in ("detailed", "textbook") if name in scaling.models), None)


def _published(one: JacobiCase, context: Context) -> Mapping[str, PublishedValue] | None:
    """Return the published row of the same problem on the simulated cluster."""
    weak = one.case.settings.get("size") == "cubes"  # all of theirs use cubes
    return published(one, context.library) if weak and one.case.cluster else None


def _performance(scaling: JacobiScaling, context: Context) -> Lines:
    """Draw the fastest case of each number of ranks, one curve each: grids would overlap."""
    fastest = {
        one.sweep.ranks: one for one in sorted(scaling.swept, key=lambda one: one.rate.value)
    }
    own = [fastest[ranks] for ranks in sorted(fastest)]
    curves: list[Curve] = []
    if scaling.alone:
        one_rank = scaling.alone.rate.value / 1e9
        marks = tuple(Mark(one.sweep.ranks, one.sweep.ranks * one_rank) for one in own)
        curves.append(Curve("linear speedup", marks, bound=True))
    marks = tuple(mark(one.sweep.ranks, one.rate.times(1e-9)) for one in own)
    curves.append(Curve(clock([own[0].case]), marks, joined=False, style=0))
    curves += _modelled(scaling, own, "", 1, lambda one, rate: rate / 1e9)
    rows = [(one, row) for one in scaling.swept if (row := _published(one, context))]
    rates = {one[0].sweep.ranks: _sweep_rate(one) / 1e3 for one in sorted(rows, key=_sweep_rate)}
    curves += _beside("published", 0, rates.items())
    x = Axis("processes N", "log2", counts([*fastest]))
    y = Axis("GLUP/s", "log2", powers_of_two([m.y for curve in curves for m in curve.marks]))
    return Lines("rate", "Performance", x, y, tuple(curves))


def _sweep_rate(row: tuple[JacobiCase, Mapping[str, PublishedValue]]) -> float:
    return float(row[1]["mlups"] or 0)


def _ratios(scaling: JacobiScaling, context: Context) -> Iterator[Lines]:
    if scaling.alone is None:
        return
    several = sorted({one.sweep.nodes for one in scaling.swept})
    for nodes in several:
        own = [one for one in scaling.swept if one.sweep.nodes == nodes]
        if not any(one.sweep.ranks > 1 for one in own):
            continue
        where = f", {count(nodes, 'node')}" if len(several) > 1 else ""
        x = Axis("processes N", "log2", counts([one.sweep.ranks for one in own]))
        curves = tuple(_ratio_curves(scaling, own, scaling.alone, context))
        y = Axis("N P₁ / P", from_zero=False)
        name = f"ratio-{nodes}" if nodes > 1 else "ratio"
        yield Lines(name, f"N P₁ / P{where}", x, y, curves, alt=_lost(curves))


def _lost(curves: Sequence[Curve]) -> str:
    points = [(mark, curve) for curve in curves if not curve.model for mark in curve.marks]
    most, of = max(points, key=lambda point: point[0].y)
    return (
        f"Ideal over measured performance (N P₁ / P). Largest: {number(most.y)} on "
        f"{most.x:g} processes, {of.label}."
    )


def _ratio_curves(
    scaling: JacobiScaling, among: Sequence[JacobiCase], alone: JacobiCase, context: Context
) -> Iterator[Curve]:
    def ratio(one: JacobiCase, rate: float) -> float:
        return one.sweep.ranks * alone.rate.value / rate

    def shown(one: JacobiCase) -> Mark:
        band = None if one is alone else band_of(alone.case, one.case)
        return Mark(one.sweep.ranks, ratio(one, one.rate.value), band=band)

    for style, (name, own) in enumerate(_families(among), 2):  # beside those in the panel of rates
        marks = tuple(map(shown, own))
        yield Curve(name, marks, joined=False, style=style)
        yield from _modelled(scaling, own, f"{name}, ", style, ratio)
        rows = [(one, row) for one in own if (row := _published(one, context))]
        ratios = [(one.sweep.ranks, float(row["ratio"] or 0)) for one, row in rows]
        yield from _beside(f"{name}, published", style, ratios)


def _families(among: Sequence[JacobiCase]) -> list[tuple[str, list[JacobiCase]]]:
    """Return ranks along one axis, and other grids; one rank belongs to both."""
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
    marks = tuple(Mark(ranks, y) for ranks, y in points)
    if marks:
        yield Curve(label, marks, joined=False, style=style, published=True)


def roofline_figures(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Figure]:
    """Roofline of jacobi3d: limits set by memory and cores, and the rate of each variant."""
    swept = [case for case in cases if case.kernel == "jacobi3d" and case.launches]
    memory = memory_triads(context.all_cases, context.machine)
    best = _best(
        case for case in swept if not in_cache(case, context.machine) and case.cores in memory
    )
    if not best:
        return
    cores = sorted({case.cores for case in best})
    guides = {_variant(case): _intensity(case) for case in best}
    ends = min(guides.values()) / 2, max(guides.values()) * 2
    operations = operations_of_update(swept)
    bounds = _bounds(swept, cores, ends, operations, context)
    curves = [*_reached(best, cores, operations), *bounds]
    y = Axis("Gflop/s", "log2", powers_of_two([m.y for curve in curves for m in curve.marks]))
    yield Figure(
        kind="roofline",
        title=context.title("Roofline of jacobi3d's variants"),
        panels=(
            Lines(
                "roofline",
                "",
                Axis("operations per byte of memory traffic", "log2", _TICKS),
                y,
                tuple(curves),
                tuple((x, name) for name, x in guides.items()),
            ),
        ),
        fewest=1,
        alt=". ".join(
            f"{_variant(one)}, {count(one.cores, 'core')}: {number(_mlups(one).value)} MLUP/s"
            for one in best
        ),
        notes=(
            "Dashed: triad bandwidth, including write-allocate traffic, times operations per byte.",
            *([_ABOVE] if _above(curves) else []),
            f"An update consists of {operations} operations.",
            "Bytes: those that the variant's algorithm moves; caches cannot reduce them.",
            "With several settings of a variant on the same number of cores: the fastest.",
        ),
    )


_ABOVE = "A point above its line: caches served part of the traffic, or the triad was disturbed."


def _above(curves: Sequence[Curve]) -> bool:
    slopes: dict[int | None, float] = {
        curve.style: curve.marks[0].y / curve.marks[0].x for curve in curves if curve.bound
    }
    reached = [curve for curve in curves if not curve.bound]
    return any(mark.y > slopes[curve.style] * mark.x for curve in reached for mark in curve.marks)


def why_no_roofline_figure(cases: Sequence[MeasuredCase], context: Context) -> str | None:
    """Return what a roofline lacks although meshes were swept: a bound, or a mesh limited by it."""
    swept = [case for case in cases if case.kernel == "jacobi3d" and case.launches]
    if not swept:
        return None
    large = [case for case in swept if not in_cache(case, context.machine)]
    if not large:
        return "all meshes fit in caches, so memory bandwidth is not a bound"
    cores = listed([str(n) for n in sorted({case.cores for case in large})])
    on = f"on {cores} {'core' if cores == '1' else 'cores'}"
    if any(case.kernel == "stream" and case.launches for case in context.all_cases):
        return f"no STREAM triad {on} used arrays larger than the caches"
    return f"memory bandwidth was not measured {on} (stream)"


_TICKS = tuple((2.0**k, f"1/{2**-k}" if k < 0 else f"{2**k}") for k in range(-4, 7))


def _best(cases: Iterable[MeasuredCase]) -> list[MeasuredCase]:
    best: dict[tuple[str, int], MeasuredCase] = {}
    for case in cases:
        key = (_variant(case), case.cores)
        if key not in best or _mlups(case).value > _mlups(best[key]).value:
            best[key] = case
    return [best[key] for key in sorted(best)]


def _bounds(
    swept: Sequence[MeasuredCase],
    cores: Sequence[int],
    ends: tuple[float, float],
    operations: int,
    context: Context,
) -> Iterator[Curve]:
    """Yield the limits by operations per byte: that of memory, and that of the cache."""
    memory = memory_triads(context.all_cases, context.machine)
    for style, number_ in enumerate(cores):
        marks = tuple(Mark(x, x * memory[number_].moved.value / 1e9) for x in ends)
        yield Curve(f"memory, {count(number_, 'core')}", marks, bound=True, style=style)
    alone = [case for case in swept if case.cores == 1 and in_cache(case, context.machine)]
    if alone:
        highest = max(alone, key=lambda case: _mlups(case).value)
        marks = tuple(Mark(x, _roofline_rate(highest, operations).value / 1e9) for x in ends)
        yield Curve("in cache, 1 core", marks, bound=True)


def _reached(
    best: Sequence[MeasuredCase], cores: Sequence[int], operations: int
) -> Iterator[Curve]:
    for style, number_ in enumerate(cores):
        own = [case for case in best if case.cores == number_]
        marks = tuple(
            mark(_intensity(case), _roofline_rate(case, operations).times(1e-9)) for case in own
        )
        yield Curve(f"achieved, {count(number_, 'core')}", marks, joined=False, style=style)


def _variant(case: MeasuredCase) -> str:
    return str(case.settings["variant"])


def _mlups(case: MeasuredCase) -> Estimate:
    mlups = case.estimate(case.sample(lambda record: record.result["mlups"]))
    assert mlups is not None
    return mlups


def _roofline_rate(case: MeasuredCase, operations: int) -> Estimate:
    return _mlups(case).times(1e6 * operations)


def _intensity(case: MeasuredCase) -> float:
    phase = swept_phase(case)
    return float(phase["flops"] / phase["bytes"])
