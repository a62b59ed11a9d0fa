# SPDX-License-Identifier: BSD-3-Clause
"""Figures of star forests: one-way latency by message size, and of grid halos by n."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.facets import labelled
from haloscope.analysis.sweeps import Swept
from haloscope.quantities import seconds
from haloscope.topics.common.figure import (
    Axis,
    Curve,
    Figure,
    Lines,
    bars,
    counts,
    mark,
    size_ticks,
)
from haloscope.topics.common.words import clock
from haloscope.topics.star_forests import by_layout, by_n, named, there_and_back, where


def sf_latency_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """One-way latency by message size: a curve per kernel and synchronisation."""
    found = []
    for own in by_layout(cases):
        points = {name: there_and_back(case) for name, case in named(own).items()}
        sizes = [float(at) for each in points.values() for at in each if at]
        title = context.title("One-way latency of star forests by message size", *where(own[0]))
        x = Axis("message", "log2", size_ticks(sizes))
        found.append(_figure("sf_latency", title, x, points, own))
    return found


def sf_grid_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """One-way latency of grid halos by points per rank along each axis."""
    own = labelled([case for case in cases if case.kernel == "sf_grid" and case.launches])
    points = {name or clock([case]): by_n(case) for case, name in own.items()}
    if not points:
        return []
    x = Axis("n", "log2", counts([n for by in points.values() for n in by]))
    title = context.title("One-way latency of grid halo exchanges by n")
    return [_figure("sf_grid", title, x, points, [*own])]


def _figure(
    kind: str,
    title: str,
    x: Axis,
    points: Mapping[str, Mapping[int, Swept]],
    cases: Sequence[MeasuredCase],
) -> Figure:
    curves = tuple(
        Curve(name, tuple(mark(at, one.one_way.times(1e6)) for at, one in own.items() if at))
        for name, own in points.items()
    )
    panel = Lines("time", "", x, Axis("one way (µs)", "log"), curves)
    ends = [
        f"{name} {seconds(own[min(own)].one_way.value)} to {seconds(own[max(own)].one_way.value)}"
        for name, own in points.items()
        if own
    ]
    return Figure(
        kind=kind,
        title=title,
        panels=(panel,),
        alt=f"One-way latency, smallest to largest: {'; '.join(ends)}.",
        notes=bars(cases, [panel]),
        cases=tuple(case.id for case in cases),
    )
