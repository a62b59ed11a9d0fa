# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the Poisson solver: rates of its variants, surfaces of its solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any

from haloscope.analysis.cases import MeasuredCase, values
from haloscope.analysis.context import Context
from haloscope.quantities import count, number, seconds
from haloscope.topics.common.figure import (
    OVER_PROCESSES,
    Axis,
    Curve,
    Figure,
    Lines,
    Surface,
    bars,
    counts,
    mark,
)
from haloscope.topics.poisson import Division, Paces, divisions, paces


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
