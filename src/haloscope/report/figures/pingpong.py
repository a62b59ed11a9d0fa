# SPDX-License-Identifier: BSD-3-Clause
"""Messages by size: half round trip and bandwidth; streams have a bandwidth only."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.context import Context
from haloscope.analysis.fits import exchanges
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.quantities import rate, seconds, size
from haloscope.report.figures.model import Axis, Curve, Figure, Lines, bars, mark, size_ticks
from haloscope.report.words import clock
from haloscope.stats.estimates import Estimate


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Half round trip and bandwidth by message size, a curve a case; streams apart."""
    own = [case for case in cases if case.kernel == "pingpong" and len(sweep(case)) > 1]
    timed = [case for case in own if exchanges(case)]
    streams = [case for case in own if not exchanges(case)]
    return [
        _figure(group, title, context, timed=group is timed)
        for group, title in ((timed, "Ping-pong by message size"), (streams, "Streams of messages"))
        if group
    ]


def sizes_of(cases: Sequence[MeasuredCase]) -> Axis:
    """The axis of message sizes that all these cases fit on."""
    sizes = [float(p.size_bytes) for case in cases for p in sweep(case) if p.size_bytes]
    return Axis("message", "log2", size_ticks(sizes))


def curve(part: Facet, of: Callable[[Swept], Estimate], factor: float, name: str = "") -> Curve:
    """One case's curve over message size, without messages of no bytes."""
    marks = tuple(
        mark(point.size_bytes, of(point).times(factor))
        for point in sweep(part.cases[0])
        if point.size_bytes
    )
    return Curve(name or part.label or clock(part.cases), marks)


def bandwidth_panel(parts: Sequence[Facet], panel: str, title: str, names: Sequence[str]) -> Lines:
    """Bandwidth by message size, a curve a case."""
    return Lines(
        panel,
        title,
        sizes_of([part.cases[0] for part in parts]),
        Axis("bandwidth (GB/s)", "log"),
        tuple(
            curve(part, lambda point: point.rate, 1e-9, name)
            for part, name in zip(parts, names, strict=True)
        ),
    )


def _figure(cases: Sequence[MeasuredCase], title: str, context: Context, *, timed: bool) -> Figure:
    parts = facets(cases, ())
    time = Lines(
        "time",
        "Half round trip",
        sizes_of(cases),
        Axis("half round trip (µs)", "log"),
        tuple(curve(part, lambda point: point.one_way, 1e6) for part in parts),
    )
    bandwidth = bandwidth_panel(parts, "bandwidth", "Bandwidth", ["" for _ in parts])
    panels = (time, bandwidth) if timed else (bandwidth,)
    return Figure(
        id="pingpong" if timed else "streams",
        kind="pingpong",
        title=context.title(title),
        panels=panels,
        alt=_alt(parts, title, timed=timed),
        notes=bars(cases, panels),
    )


def _alt(parts: Sequence[Facet], title: str, *, timed: bool) -> str:
    """The smallest message's time and the highest bandwidth, of all curves."""
    points = [(part.label, p) for part in parts for p in sweep(part.cases[0]) if p.size_bytes]
    label, best = max(points, key=lambda point: point[1].rate.value)
    highest = f"highest bandwidth {rate(best.rate.value)} at {size(best.size_bytes)}{_of(label)}"
    if not timed:
        return f"{title}: {highest}."
    label, least = min(points, key=lambda point: (point[1].size_bytes, point[1].time.value))
    time = seconds(least.one_way.value)
    return f"{title}. {size(least.size_bytes)}: half a round trip of {time}{_of(label)}; {highest}."


def _of(label: str) -> str:
    """Which curve it is, where there are several."""
    return f" ({label})" if label else ""
