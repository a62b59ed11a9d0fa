"""A ping-pong with the models fitted to it, and what the models leave over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from haloscope.evidence import Facet, MeasuredCase, facets
from haloscope.fits import exchanges, message_models
from haloscope.models.model import Model
from haloscope.series.model import Axis, Curve, Figure, Lines, Mark
from haloscope.series.pingpong import BARS, curve, sizes_of
from haloscope.tables.context import Context
from haloscope.tables.pingpong import half_round_trip

_PER_OCTAVE = 4


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """A figure a case: measured times with every model's curve; relative residuals by size."""
    own = [case for case in cases if exchanges(case) and message_models(case)]
    return [_figure(part, context) for part in facets(own, ())]


def _figure(part: Facet, context: Context) -> Figure:
    (case,) = part.cases
    models = message_models(case)
    x = sizes_of([case])
    residuals = tuple(
        Curve(
            name,
            tuple(
                Mark(float(size), 100 * float(left))
                for size, left in zip(model.residuals.x, model.residuals.relative, strict=True)
                if size > 0
            ),
        )
        for name, model in models
    )
    return Figure(
        id="fits",
        kind="fits",
        title=context.title("Models of a message's time", part.label),
        panels=(
            Lines(
                "time",
                "Half round trip and models",
                x,
                Axis("half round trip (µs)", "log"),
                (
                    curve(part, half_round_trip, 1e6, "measured"),
                    *(_drawn(name, model) for name, model in models),
                ),
            ),
            Lines(
                "residuals",
                "Residuals: measured less model",
                x,
                Axis("of the measured time (%)", "symlog"),
                residuals,
            ),
        ),
        alt=f"Measured half round trips with {len(models)} models, and their residuals.",
        notes=(BARS, "Where a model says that a message takes less than no time, it has no line."),
    )


def _drawn(name: str, model: Model) -> Curve:
    """A model's line over the sizes it rests on, where it is above zero."""
    first, last = max(1.0, model.valid[0]), model.valid[1]
    steps = 1 + int(_PER_OCTAVE * np.log2(last / first))
    sizes = np.geomspace(first, last, steps)
    marks = tuple(
        Mark(float(size), 1e6 * float(time))
        for size, time in zip(sizes, model.predict(sizes), strict=True)
        if time > 0
    )
    return Curve(name, marks, model=True)
