# SPDX-License-Identifier: BSD-3-Clause
"""Figures of messages between two processes: times, fitted models, transports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet, facets, facets_of_kernels, labelled
from haloscope.analysis.fits import HOCKNEY, exchanges, message_models, unfitted
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.grouped import grouped
from haloscope.layout import PROCESSES
from haloscope.models.hockney import Ends, Hockney
from haloscope.models.model import Model
from haloscope.models.piecewise_hockney import PiecewiseHockney
from haloscope.quantities import capitalised, percent, rate, seconds, size
from haloscope.stats.estimates import Estimate
from haloscope.topics.common.figure import Axis, Curve, Figure, Lines, Mark, bars, mark, size_ticks
from haloscope.topics.common.words import clock


def pingpong_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Messages by size: half round trip and bandwidth; streams have a bandwidth only."""
    own = [case for case in cases if case.kernel == "pingpong" and len(sweep(case)) > 1]
    timed = [case for case in own if exchanges(case)]
    streams = [case for case in own if not exchanges(case)]
    return [
        _pingpong_figure(group, title, context, timed=group is timed)
        for group, title in ((timed, "Ping-pong by message size"), (streams, "Streams of messages"))
        if group
    ]


def sizes_of(cases: Sequence[MeasuredCase]) -> Axis:
    """Return an axis for the message sizes of all these cases."""
    sizes = [float(p.size_bytes) for case in cases for p in sweep(case) if p.size_bytes]
    return Axis("message", "log2", size_ticks(sizes))


def curve(case: MeasuredCase, name: str, of: Callable[[Swept], Estimate], factor: float) -> Curve:
    """Return one case's curve over message size, without empty messages."""
    points = [point for point in sweep(case) if point.size_bytes]
    marks = tuple(mark(point.size_bytes, of(point).times(factor)) for point in points)
    return Curve(name or clock([case]), marks)


def bandwidth_panel(names: Mapping[MeasuredCase, str], panel: str, title: str) -> Lines:
    """Return bandwidth by message size, one curve per case."""
    return Lines(
        panel,
        title,
        sizes_of([*names]),
        Axis("bandwidth (GB/s)", "log"),
        tuple(curve(*each, lambda point: point.rate, 1e-9) for each in names.items()),
    )


def _pingpong_figure(
    cases: Sequence[MeasuredCase], title: str, context: Context, *, timed: bool
) -> Figure:
    names = labelled(cases)
    time = Lines(
        "time",
        "Half round trip",
        sizes_of(cases),
        Axis("half round trip (µs)", "log"),
        tuple(curve(*each, lambda point: point.one_way, 1e6) for each in names.items()),
    )
    bandwidth = bandwidth_panel(names, "bandwidth", "Bandwidth")
    panels = (time, bandwidth) if timed else (bandwidth,)
    return Figure(
        id="pingpong" if timed else "streams",
        kind="pingpong",
        title=context.title(title),
        panels=panels,
        alt=_alt(names, title, timed=timed),
        notes=bars(cases, panels),
        cases=tuple(case.id for case in cases),
    )


def _alt(names: Mapping[MeasuredCase, str], title: str, *, timed: bool) -> str:
    points = [(name, p) for case, name in names.items() for p in sweep(case) if p.size_bytes]
    label, best = max(points, key=lambda point: point[1].rate.value)
    highest = f"highest bandwidth {rate(best.rate.value)} at {size(best.size_bytes)}{_of(label)}"
    if not timed:
        return f"{title}: {highest}."
    label, least = min(points, key=lambda point: (point[1].size_bytes, point[1].time.value))
    time = seconds(least.one_way.value)
    return f"{title}. {size(least.size_bytes)}: half round trip {time}{_of(label)}; {highest}."


def _of(label: str) -> str:
    return f" ({label})" if label else ""


_PER_OCTAVE = 4


def fits_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """A ping-pong with the fitted models and their residuals."""
    own = [case for case in cases if case.kernel != "loggp" and message_models(case)]
    return [_fit_figure(part, context) for part in facets_of_kernels(own, ())]


def _fit_figure(part: Facet, context: Context) -> Figure:
    (case,) = part.cases
    models = message_models(case)
    x = sizes_of([case])
    what = "half round trip" if exchanges(case) else "time"
    panels = (
        Lines(
            "time",
            f"{capitalised(what)} and models",
            x,
            Axis(f"{what} (µs)", "log"),
            (
                _measured(case, context),
                *(drawn for name, model in models for drawn in _drawn(name, model)),
            ),
        ),
        Lines(
            "residuals",
            f"Residuals: {clock([case])} - model",
            x,
            Axis(f"of the {clock([case])} time (%)", "symlog"),
            tuple(_residuals(name, model) for name, model in models),
        ),
    )
    return Figure(
        kind="fits",
        title=context.title("Models of a message's time", part.label),
        panels=panels,
        alt=_in_words(case, models),
        notes=(
            *bars([case], panels[:1]),
            "The line of a model is omitted where the model gives a negative time.",
            *(f"{one.name}: not fitted: {one.reason}." for one in unfitted(case)),
        ),
    )


def _in_words(case: MeasuredCase, models: Sequence[tuple[str, Model]]) -> str:
    off = {name: model.residuals.relative_rms for name, model in models}
    nearest = min(off, key=lambda name: off[name])
    what = "half round trips" if exchanges(case) else "times"
    return (
        f"{capitalised(clock([case]))} {what}, {len(models)} models, and their residuals. "
        f"Best fit: {nearest}, error {percent(off[nearest])} (root mean square)."
    )


def _measured(case: MeasuredCase, context: Context) -> Curve:
    """Return the times to which models are fitted, in the colour that they have in all figures."""
    if not exchanges(case):
        return curve(case, "", lambda point: point.time, 1e6)
    every = [other for other in context.all_cases if exchanges(other) and other.launches]
    name = label_of(case, every)
    drawn = curve(case, "", lambda point: point.one_way, 1e6)
    return drawn if name == case.kernel else replace(drawn, like=name)


def _style(name: str) -> int:
    """Return a model's style, the same in every panel and figure."""
    return 1 + HOCKNEY.index(name)


def _label(name: str, model: Model) -> str:
    """Return a model's name, with the sizes behind its bandwidth if they differ from
    the report's.
    """
    ends = model.ends if isinstance(model, Hockney) else None
    if ends is None or ends.bandwidth_bytes == Ends().bandwidth_bytes:
        return name
    first, last = ends.bandwidth_bytes
    return f"{name}: B from {size(first)} to {size(last)}"


def _residuals(name: str, model: Model) -> Curve:
    left = zip(model.residuals.x, model.residuals.relative, strict=True)
    marks = tuple(Mark(float(x), 100 * float(share)) for x, share in left if x > 0)
    return Curve(_label(name, model), marks, style=_style(name))


def _drawn(name: str, model: Model) -> Iterator[Curve]:
    """Yield a model's line over the sizes it is based on, where it is positive."""
    pieces = model.pieces if isinstance(model, PiecewiseHockney) else ()
    spans = [(piece.first_bytes, piece.last_bytes) for piece in pieces] or [model.valid]
    for smallest, last in spans:
        first = max(1.0, smallest)
        steps = 1 + int(_PER_OCTAVE * np.log2(max(last, first) / first))
        sizes = np.geomspace(first, max(last, first), steps)
        marks = tuple(
            Mark(float(x), 1e6 * float(time))
            for x, time in zip(sizes, model.predict(sizes), strict=True)
            if time > 0
        )
        if marks:
            yield Curve(_label(name, model), marks, model=True, style=_style(name))


def transports_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Bandwidth by message size, with one panel per library and one curve per transport."""
    own = [case for case in cases if exchanges(case) and len(sweep(case)) > 1]
    over = ("toolchain", "transport", "placement", *PROCESSES, "places")
    return [_transport_figure(part, context) for part in facets(own, over) if len(part.cases) > 1]


def _transport_figure(part: Facet, context: Context) -> Figure:
    panels = []
    for name, own in grouped(part.cases, lambda case: str(case.settings["toolchain"])).items():
        names = {
            case: label or str(case.settings["transport"] or "default")
            for case, label in labelled(own).items()
        }
        panels.append(bandwidth_panel(names, name, name))
    return Figure(
        kind="transports",
        title=context.title("Bandwidth by transport", part.label),
        panels=tuple(panels),
        alt=f"Bandwidth by message size for {len(part.cases)} transports or placements.",
        notes=bars(part.cases, panels),
    )
