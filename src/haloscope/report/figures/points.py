# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps of external programs: time by size, one panel per operation, and one bandwidth panel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.context import Context
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.quantities import seconds, size
from haloscope.report.figures.model import Axis, Curve, Figure, Lines, bars, mark, size_ticks
from haloscope.report.words import clock
from haloscope.stats.estimates import Estimate


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """A figure a program, a curve a case; sizes of 0 bytes are in the table alone."""
    own = [case for case in cases if case.external and _points(case)]
    kernels = dict.fromkeys(case.kernel for case in own)
    return [_figure([case for case in own if case.kernel == one], context) for one in kernels]


def _points(case: MeasuredCase) -> list[Swept]:
    return [point for point in sweep(case) if point.size_bytes]


def _figure(cases: Sequence[MeasuredCase], context: Context) -> Figure:
    parts = facets(cases, ())
    operations = list(dict.fromkeys(p.operation for case in cases for p in _points(case)))
    panels = [
        _panel("time", operation, parts, Axis("time (µs)", "log"), lambda p: p.time.times(1e6))
        for operation in operations
    ]
    if len(operations) == 1:
        speed = Axis("bandwidth (GB/s)", "log")
        panels.append(
            _panel("bandwidth", operations[0], parts, speed, lambda p: p.rate.times(1e-9))
        )
    return Figure(
        id="points",
        kind="points",
        title=context.title(f"{cases[0].kernel} by size"),
        panels=tuple(panels),
        alt=" ".join(panel.alt for panel in panels[: len(operations)]),
        notes=bars(cases, panels),
    )


def _panel(
    what: str,
    operation: str | None,
    parts: Sequence[Facet],
    y: Axis,
    of: Callable[[Swept], Estimate],
) -> Lines:
    own = {
        part.label: [p for p in _points(part.cases[0]) if p.operation == operation]
        for part in parts
    }
    sizes = [float(point.size_bytes) for points in own.values() for point in points]
    cases = [part.cases[0] for part in parts]
    return Lines(
        f"{what}-{operation}" if operation else what,
        operation or what.capitalize(),
        Axis("size", "log2", size_ticks(sizes)),
        y,
        tuple(
            Curve(name or clock(cases), tuple(mark(p.size_bytes, of(p)) for p in points))
            for name, points in own.items()
            if points
        ),
        alt=_longest(own, operation),
    )


def _longest(own: dict[str, list[Swept]], operation: str | None) -> str:
    """The longest time, with its size and its case."""
    name, most = max(
        ((name, point) for name, points in own.items() for point in points),
        key=lambda one: one[1].time.value,
    )
    of = "".join(f", {word}" for word in (operation, name) if word)
    return f"Longest: {size(most.size_bytes)} take {seconds(most.time.value)}{of}."
