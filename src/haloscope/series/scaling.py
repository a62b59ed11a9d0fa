"""Observed speedup and efficiency over processes, with the ideal."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.evidence import MeasuredCase, facets, values
from haloscope.quantities import count, number, seconds
from haloscope.series.model import Axis, Curve, Figure, Lines, Mark, counts, mark
from haloscope.tables.context import Context
from haloscope.tables.scaling import Ladder, arrangements, ladder, speedup


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Observed speedup and efficiency over processes, with the ideal; a curve a mesh."""
    sized = [case for case in cases if "n" in case.settings]
    found = []
    for part in facets(sized, ("n", "nodes", "ppn")):
        for ppn in arrangements(part.cases):
            ladders = [ladder(part.cases, n, ppn) for n in values(part.cases, "n")]
            useful = [one for one in ladders if one.base and len(_ratios(one, 1, context)) > 1]
            arrangement = f"{count(ppn, 'process', 'processes')} per node" if ppn else ""
            if useful:
                title = context.title("Speedup and efficiency", part.label, arrangement)
                found.append(_scaling_figure(title, useful, context))
    return found


def _scaling_figure(title: str, ladders: Sequence[Ladder], context: Context) -> Figure:
    ranks = sorted({case.ranks for one in ladders for case in one.steps.values()})
    ticks = counts(ranks)
    bases = {one.base.ranks for one in ladders if one.base}
    ideal = tuple(Mark(p, p / min(bases)) for p in ranks)
    curves = [Curve(f"N = {one.n}", _ratios(one, 0, context), joined=False) for one in ladders]
    efficiencies = [
        Curve(f"N = {one.n}", _ratios(one, 1, context), joined=False) for one in ladders
    ]
    x = Axis("processes p", "log2", ticks)
    best = max((c.marks[-1] for c in curves), key=lambda mark: mark.y)
    return Figure(
        id="scaling",
        kind="scaling",
        title=title,
        panels=(
            Lines(
                "speedup",
                "Observed speedup",
                x,
                Axis("speedup", "log2", ticks),
                (Curve("ideal", ideal, bound=True), *curves),
            ),
            Lines(
                "efficiency",
                "Observed efficiency",
                x,
                Axis("efficiency"),
                (Curve("ideal", tuple(Mark(p, 1.0) for p in ranks), bound=True), *efficiencies),
            ),
        ),
        alt=f"Speedup and efficiency for {count(len(ladders), 'mesh', 'meshes')} over "
        f"{ranks[0]} to {ranks[-1]} processes. Highest speedup at the most processes: "
        f"{number(best.y)} on {best.x:.0f}.",
        notes=_scaling_notes(ladders),
    )


def _ratios(one: Ladder, power: int, context: Context) -> tuple[Mark, ...]:
    """Speedup (power 0) or efficiency (power 1) of one mesh by number of processes."""
    marks = []
    for p, case in one.steps.items():
        ratio = speedup(one.base, case, context.seed) if one.base else None
        if ratio is not None and one.base is not None:
            marks.append(mark(p, ratio.times((one.base.ranks / p) ** power)))
    return tuple(marks)


def _scaling_notes(ladders: Sequence[Ladder]) -> tuple[str, ...]:
    bases = [one for one in ladders if one.base and one.base.time]
    texts = [
        f"N = {one.n}: {seconds(one.base.time.value)} on "
        f"{count(one.base.ranks, 'process', 'processes')}"
        for one in bases
        if one.base and one.base.time
    ]
    return (
        f"Base of each speedup: {'; '.join(texts)}.",
        "Bars: bootstrap interval of the ratio of medians; without bars: fewer than 6 launches.",
    )
