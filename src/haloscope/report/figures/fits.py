# SPDX-License-Identifier: BSD-3-Clause
"""A ping-pong with the fitted models and their residuals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from haloscope.analysis.cases import Facet, MeasuredCase, facets_of_kernels, label_of
from haloscope.analysis.context import Context
from haloscope.analysis.fits import HOCKNEY, exchanges, message_models, unfitted
from haloscope.models.hockney import Ends, Hockney
from haloscope.models.model import Model
from haloscope.models.piecewise_hockney import PiecewiseHockney
from haloscope.quantities import percent, size
from haloscope.report.figures.model import Axis, Curve, Figure, Lines, Mark, bars
from haloscope.report.figures.pingpong import curve, sizes_of
from haloscope.report.words import clock

_PER_OCTAVE = 4


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """A figure a case: its times with every model's curve; relative residuals by size."""
    own = [case for case in cases if case.kernel != "loggp" and message_models(case)]
    return [_figure(part, context) for part in facets_of_kernels(own, ())]


def _figure(part: Facet, context: Context) -> Figure:
    (case,) = part.cases
    models = message_models(case)
    x = sizes_of([case])
    what = "half round trip" if exchanges(case) else "time"
    panels = (
        Lines(
            "time",
            f"{what.capitalize()} and models",
            x,
            Axis(f"{what} (µs)", "log"),
            (
                _measured(part, context),
                *(drawn for name, model in models for drawn in _drawn(name, model)),
            ),
        ),
        Lines(
            "residuals",
            f"Residuals: {clock([case])} less model",
            x,
            Axis(f"of the {clock([case])} time (%)", "symlog"),
            tuple(_residuals(name, model) for name, model in models),
        ),
    )
    return Figure(
        id="fits",
        kind="fits",
        title=context.title("Models of a message's time", part.label),
        panels=panels,
        alt=_in_words(case, models),
        notes=(
            *bars([case], panels[:1]),
            "Where a model says that a message takes less than no time, it has no line.",
            *(f"{one.name}: not fitted: {one.reason}." for one in unfitted(case)),
        ),
    )


def _in_words(case: MeasuredCase, models: Sequence[tuple[str, Model]]) -> str:
    """How many models there are, and which is nearest, by how far it is off."""
    off = {name: model.residuals.relative_rms for name, model in models}
    nearest = min(off, key=lambda name: off[name])
    what = "half round trips" if exchanges(case) else "times"
    return (
        f"{clock([case]).capitalize()} {what} with {len(models)} models, and their "
        f"residuals. Nearest: {nearest}, off by {percent(off[nearest])} (root mean square)."
    )


def _measured(part: Facet, context: Context) -> Curve:
    """The times that models are fitted to, in the colour that they have among all ping-pongs."""
    (case,) = part.cases
    if not exchanges(case):
        return curve(part, lambda point: point.time, 1e6, clock(part.cases))
    every = [other for other in context.all_cases if exchanges(other) and other.launches]
    name = label_of(case, every)
    drawn = curve(part, lambda point: point.one_way, 1e6, clock(part.cases))
    return drawn if name == case.kernel else replace(drawn, like=name)


def _style(name: str) -> int:
    """A model looks the same in every panel and figure, whatever others there are."""
    return 1 + HOCKNEY.index(name)


def _label(name: str, model: Model) -> str:
    """Its name; with the sizes that its bandwidth is from, where those are not the report's."""
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
    """A model's line over the sizes it rests on, where it is above zero.

    A model in pieces has a line for each: it says nothing of what lies between them.
    """
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
