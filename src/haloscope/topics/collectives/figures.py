# SPDX-License-Identifier: BSD-3-Clause
"""Collective operations: time by message size, one panel per operation, one curve per case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.facets import labelled
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.quantities import seconds, size
from haloscope.topics.common.figure import Axis, Curve, Figure, Lines, bars, mark, size_ticks
from haloscope.topics.common.words import clock


def collectives_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Collective operations: time by message size, one panel per operation, one curve per case."""
    own = [case for case in cases if case.kernel == "collectives" and case.launches]
    names = labelled(own)
    points = {name: [p for p in sweep(case) if p.size_bytes] for case, name in names.items()}
    operations = list(dict.fromkeys(p.operation for each in points.values() for p in each))
    if not operations:
        return []
    sizes = [float(point.size_bytes) for each in points.values() for point in each]
    panels = tuple(
        Lines(
            str(operation),
            str(operation),
            Axis("message", "log2", size_ticks(sizes)),
            Axis("time (µs)", "log"),
            tuple(
                Curve(
                    name or clock(own),
                    tuple(
                        mark(point.size_bytes, point.time.times(1e6))
                        for point in each
                        if point.operation == operation
                    ),
                )
                for name, each in points.items()
            ),
            alt=f"Time by message size. {_longest(points, operation)}",
        )
        for operation in operations
    )
    return [
        Figure(
            kind="collectives",
            title=context.title("Collective operations by message size"),
            panels=panels,
            alt=f"Time by message size for {', '.join(map(str, operations))}.",
            notes=bars(cases, panels),
        )
    ]


def _longest(points: Mapping[str, Sequence[Swept]], operation: str | None) -> str:
    every = [(name, p) for name, own in points.items() for p in own if p.operation == operation]
    name, most = max(every, key=lambda pair: pair[1].time.value)
    of = f", {name}" if name else ""
    return f"Longest: {seconds(most.time.value)} for {size(most.size_bytes)}{of}."
