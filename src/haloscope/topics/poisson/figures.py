# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the Poisson solver: rates of its variants, its solution, and published times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import floor, log10
from typing import Any

from haloscope.analysis.cases import MeasuredCase, values
from haloscope.analysis.context import Context
from haloscope.analysis.validation.bands import Subject, known
from haloscope.grouped import grouped
from haloscope.layout import Layout
from haloscope.papers.validated import ValidatedCell, validated_cells
from haloscope.quantities import count, listed, number, seconds
from haloscope.topics.common.figure import (
    OVER_PROCESSES,
    Axis,
    Curve,
    Figure,
    Lines,
    Mark,
    Surface,
    bars,
    counts,
    mark,
)
from haloscope.topics.poisson import Division, Paces, converged, divisions, paces


def iterations_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Iterations per second of the variants of poisson_cg by ranks."""
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
    values = ", ".join(f"{name} {number(pace.value)}" for name, (_, pace) in last.items())
    return Figure(
        kind="iterations",
        title=context.title("Iterations per second by variant", found.part.label),
        panels=(
            Lines(
                "pace",
                "",
                Axis("ranks", "log2", counts(ranks)),
                Axis("iterations per second", "log"),
                curves,
            ),
        ),
        fewest=OVER_PROCESSES,
        alt=(
            f"Iterations per second on {ranks[0]} to {ranks[-1]} ranks. With the most ranks: "
            f"{values}."
        ),
    )


def hybrid_grid_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Wall time by processes per node on the same cores, one curve per number of nodes."""
    return [_hybrid(one, context) for one in divisions(cases)]


def _hybrid(found: Division, context: Context) -> Figure:
    timed = [case for case in found.cases if case.time]
    curves = tuple(
        Curve(
            count(nodes, "node"),
            tuple(
                mark(case.layout.ppn, case.time)
                for case in sorted(timed, key=lambda case: case.layout.ppn)
                if case.time and case.layout.nodes == nodes
            ),
            joined=False,
        )
        for nodes in values(timed, "nodes")
    )
    panel = Lines(
        "time",
        "",
        Axis("processes per node", "log2", counts(values(found.cases, "ppn"))),
        Axis("time (s)", "log"),
        curves,
    )
    fastest = min(timed, key=lambda case: case.time_s, default=None)
    best = "no measured case"
    if fastest is not None:
        ppn = count(fastest.layout.ppn, "process", "processes")
        nodes = count(fastest.layout.nodes, "node")
        best = f"fastest: {seconds(fastest.time_s)} with {ppn} per node on {nodes}"
    return Figure(
        kind="hybrid_grid",
        title=context.title(found.title, found.part.label),
        panels=(panel,),
        alt=f"{count(len(curves), 'curve')}; {best}.",
        notes=bars(timed, [panel]),
        cases=tuple(case.id for case in timed),
    )


def surfaces_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Numerical solution and error over the unit square (figure 3.1 of the HPCF papers)."""
    found: dict[int, Figure] = {}
    for case in cases:
        surface = case.result("surface")
        if isinstance(surface, Mapping) and case.number("n") not in found:
            found[case.number("n")] = _surface_figure(case, surface, context)
    return [*found.values()]


def _surface_figure(case: MeasuredCase, surface: Mapping[str, Any], context: Context) -> Figure:
    points = int(surface["points"])
    at = tuple(k / (points - 1) for k in range(points))
    n, error = case.number("n"), case.result("error_max")

    def panel(key: str, title: str) -> Surface:
        flat = [float(value) for value in surface[key]]
        exponent = floor(log10(max(abs(value) for value in flat)) + 1e-9) if any(flat) else 0
        scaled = [value / 10.0**exponent for value in flat]
        rows = tuple(tuple(scaled[k * points : (k + 1) * points]) for k in range(points))
        return Surface(key, f"{title}, in 1e{exponent}" if exponent else title, at, rows)

    title, mesh = context.title("Numerical solution and its error"), f"n = {n}"
    return Figure(
        kind="surfaces",
        title=title if mesh in title else f"{title}, {mesh}",
        panels=(panel("solution", "(a) solution"), panel("error", "(b) error u − u_h")),
        alt=f"Two surfaces over the unit square for n = {n}: the solution, a smooth hill of "
        f"height 1 in the middle, and its error, at most {number(error or 0)}.",
        notes=(f"Sampled on {points} × {points} points, edges included.",),
    )


KERNEL = "poisson_cg"


def overlay_figures(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Figure]:
    """Time of a program and mesh by number of processes: measured, simulated, and published."""
    own = [
        case
        for case in cases
        if case.kernel == KERNEL and converged(case) and case.time and case.layout.threads == 1
    ]
    programs = grouped(own, lambda case: (case.settings["variant"], case.settings["exchange"]))
    for (variant, exchange), alike in programs.items():
        for n in values(alike, "n"):
            mine = [case for case in alike if case.number("n") == n]
            cells = [*_cells(n, str(variant), str(exchange))]
            yield from _overlay(n, f"{variant}, {exchange}", mine, cells, context)


def _cells(n: int, variant: str, exchange: str) -> Iterator[ValidatedCell]:
    asked = {"n": n, "variant": variant, "threads": 1}
    for cell in validated_cells():
        own = cell.settings
        alike = cell.kernel == KERNEL and all(own.get(key) == asked[key] for key in asked)
        if alike and (own.get("exchange") == exchange or _ranks(cell) == 1):
            yield cell


def _ranks(cell: ValidatedCell) -> int:
    return Layout.recorded(cell.settings).ranks


def _overlay(
    n: int,
    program: str,
    own: Sequence[MeasuredCase],
    cells: Sequence[ValidatedCell],
    context: Context,
) -> Iterator[Figure]:
    by_cluster = grouped(own, lambda case: case.cluster)
    several = {
        cluster: there
        for cluster, there in grouped(cells, lambda cell: cell.cluster).items()
        if len(set(map(_ranks, there))) >= OVER_PROCESSES
    }
    if not several:
        return
    curves = []
    for cluster, here in by_cluster.items():
        name = f"{cluster}, simulated" if cluster else "this machine"
        curves.append(Curve(name, _fastest(here)))
    for cluster, there in several.items():
        name = f"{cluster}, simulated"
        if cluster not in by_cluster:
            curves.append(Curve(name, tuple(_marks(there, predicted=True))))
        published = tuple(_marks(there, predicted=False))
        label = f"{cluster}, published"
        curves.append(Curve(label, published, joined=False, published=True, like=name))
    p = sorted({int(one.x) for curve in curves for one in curve.marks})
    tables = dict.fromkeys(f"{c.paper}, table {c.table}" for c in cells if c.cluster in several)
    yield Figure(
        kind="overlay",
        title=context.title("The same program here, simulated, and published", f"n = {n}"),
        panels=(
            Lines(
                "overlay",
                "",
                Axis("processes", "log2", counts(p)),
                Axis("time of a solve (s)", "log"),
                tuple(curves),
            ),
        ),
        fewest=OVER_PROCESSES,
        alt=f"Time of a solve with n = {n} ({program}) on {p[0]} to {p[-1]} processes: "
        f"{listed([curve.label for curve in curves])}.",
        notes=(
            f"All times are for {program}, with the fastest layout for each number of processes.",
            f"Hollow: published ({'; '.join(tables)}).",
            "Simulated values are those of haloscope validate; shaded: their error.",
        ),
        cases=tuple(case.id for case in own),
    )


def _fastest(cases: Iterable[MeasuredCase]) -> tuple[Mark, ...]:
    by_ranks: dict[int, MeasuredCase] = {}
    for case in sorted(cases, key=lambda case: case.time_s):
        by_ranks.setdefault(case.ranks, case)
    return tuple(mark(p, case.time) for p, case in sorted(by_ranks.items()) if case.time)


def _marks(cells: Sequence[ValidatedCell], *, predicted: bool) -> Iterator[Mark]:
    for p in sorted({_ranks(cell) for cell in cells}):
        there = [cell for cell in cells if _ranks(cell) == p]
        if not predicted:
            yield Mark(p, min(cell.published for cell in there))
            continue
        best = min(there, key=lambda cell: cell.predicted)
        subject = Subject(best.cluster, best.platform, best.kernel, best.settings)
        yield Mark(p, best.predicted, band=known().time(subject).factor)
