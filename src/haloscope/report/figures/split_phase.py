# SPDX-License-Identifier: BSD-3-Clause
"""A star forest operation by bytes sent per rank: total, parts, and model."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets_by_kernel
from haloscope.analysis.context import Context
from haloscope.analysis.split_phase import split_phase_model, switch_text
from haloscope.analysis.sweeps import sweep
from haloscope.models.round_trip import ONE_WAY
from haloscope.models.split_phase import MESSAGES, MOVES, SplitPhase, both
from haloscope.models.sweep import Array
from haloscope.quantities import size
from haloscope.report.figures.model import Axis, Curve, Figure, Lines, Mark, mark, size_ticks
from haloscope.report.words import clock

_ONE_WAY_US = 1e6 * ONE_WAY
"""Microseconds one way, for a second there and back."""
_MODEL, _SUM, _MAXIMUM = "model, with max()", "sum of parts", "parts with max()"
"""What parts are added up to, by the same names, and so by the same colours, in both panels."""


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """A figure a case that has parts: times, and how far the model is off."""
    own = [case for case in cases if split_phase_model(case)]
    return [_figure(part, context) for part in facets_by_kernel(own)]


def _figure(part: Facet, context: Context) -> Figure:
    (case,) = part.cases
    model = split_phase_model(case)
    if model is None:
        raise ValueError("a case without parts")
    x = Axis("sent by a rank", "log2", size_ticks(list(model.data.remote_bytes)))
    return Figure(
        id="split_phase",
        kind="split_phase",
        title=context.title(f"Parts of an operation, {case.kernel}", part.label),
        panels=(
            Lines(
                "parts",
                "Whole, parts and model, one way",
                x,
                Axis("time (µs)", "log"),
                (_whole(case, model), *_parts(model), *_models(model)),
                guides=_switch(model),
            ),
            Lines(
                "residuals",
                "Parts added up, less the whole",
                x,
                Axis(f"of the {clock([case])} time (%)"),
                tuple(
                    Curve(name, _marks(model, 100 * (added / model.whole_s - 1), zero=True))
                    for name, added in (
                        (_MODEL, model.residuals.predicted_s),
                        (_SUM, model.composed_s(overlap=False)),
                        (_MAXIMUM, model.composed_s(overlap=True)),
                    )
                ),
            ),
        ),
        alt=switch_text(model),
        notes=(f"{model.source}. {switch_text(model)}",),
    )


def _whole(case: MeasuredCase, model: SplitPhase) -> Curve:
    points = sorted(sweep(case), key=lambda point: point.size_bytes)
    marks = tuple(
        mark(float(at), point.one_way.times(1e6))
        for at, point in zip(model.data.remote_bytes, points, strict=True)
    )
    return Curve("whole", marks)


def _parts(model: SplitPhase) -> list[Curve]:
    times_us = {name: _ONE_WAY_US * both(model.parts_s, name) for name in (MESSAGES, *MOVES)}
    curves = [Curve(name, _marks(model, values)) for name, values in times_us.items()]
    return [curve for curve in curves if curve.marks]


def _models(model: SplitPhase) -> tuple[Curve, Curve]:
    fitted = _marks(model, _ONE_WAY_US * model.residuals.predicted_s)
    added = _marks(model, _ONE_WAY_US * model.composed_s(overlap=False))
    return Curve(_MODEL, fitted, model=True), Curve(_SUM, added, model=True)


def _marks(model: SplitPhase, values: Array, *, zero: bool = False) -> tuple[Mark, ...]:
    """A mark a size; on a logarithmic axis without those that take no time."""
    return tuple(
        Mark(float(at), float(value))
        for at, value in zip(model.data.remote_bytes, values, strict=True)
        if zero or value > 0
    )


def _switch(model: SplitPhase) -> tuple[tuple[float, str], ...]:
    return tuple((at, size(at)) for at in model.crossings_bytes)
