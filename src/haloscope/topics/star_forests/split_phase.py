# SPDX-License-Identifier: BSD-3-Clause
"""Split phases as a table and a figure: parts, their sum or maximum, the fitted model.

Proposed in section 6 of the report on Summit (Zhang, Mills, Smith 2020); one way, as in its tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isinf

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.facets import labelled_by_kernel
from haloscope.analysis.sweeps import sweep
from haloscope.models.split_phase import (
    BEGIN,
    FARTHEST,
    MESSAGES,
    MOVES,
    SplitPhase,
    both,
    done,
    launching,
    waiting,
)
from haloscope.models.sweep import ONE_WAY, Array
from haloscope.quantities import SECONDS, percent, rate, seconds, signed, size
from haloscope.stats.estimates import Estimate
from haloscope.topics.common.figure import Axis, Curve, Figure, Lines, Mark, mark, size_ticks
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import Cell, Column, Table, label, missing, plain
from haloscope.topics.common.words import clock
from haloscope.topics.star_forests.parts import neighbours_model, split_phase_model, switch_text


def split_phase_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Time of a star forest operation and its parts by size, with the split-phase model."""
    own = [case for case in cases if split_phase_model(case)]
    return [_table(case, name, context) for case, name in labelled_by_kernel(own).items()]


def _model(case: MeasuredCase) -> SplitPhase:
    """Return the model of a case that has one."""
    model = split_phase_model(case)
    if model is None:
        raise ValueError("a case without parts")
    return model


def _table(case: MeasuredCase, name: str, context: Context) -> Table:
    model = _model(case)
    notebook = Notebook([case], context.all_cases)
    rows = tuple(_rows(case, model, notebook))
    for text in _notes(case, model, context):
        notebook.note(text)
    return notebook.table(
        "split_phase",
        context.title("Parts of an operation", case.kernel, name),
        (
            Column("remote_bytes", "sent", align="left"),
            Column("whole_s", "whole"),
            *(Column(f"{name}_s", title, _EACH) for name, (title, _) in _parts_of(model).items()),
            *(
                column
                for key, name in (("max", "with max()"), ("sum", "as a sum"), ("model", "fitted"))
                for column in (Column(f"{key}_s", "time", name), Column(f"{key}_off", "off", name))
            ),
            Column("longest", "longest part", align="left"),
        ),
        rows,
    )


_EACH = "parts, each measured separately"


def _parts_of(model: SplitPhase) -> dict[str, tuple[str, Array]]:
    parts = model.parts_s
    found = {name: (name, both(parts, name)) for name in ("pack", MESSAGES, *MOVES[1:])}
    if not model.on_device:
        return found
    launches = sum((launching(parts, move) for move in MOVES), 0 * parts[MESSAGES])
    return {
        "begin": ("begin", parts[BEGIN]),
        "launches": ("launches", launches),
        "synchronise": ("T(sync)", waiting(parts)),
        **{
            name: (title if name == MESSAGES else f"{title} on the device", done(parts, name))
            for name, (title, _) in found.items()
        },
    }


def _rows(case: MeasuredCase, model: SplitPhase, notebook: Notebook) -> Iterator[tuple[Cell, ...]]:
    points = sorted(sweep(case), key=lambda point: point.size_bytes)
    overlapped, summed = model.composed_s(overlap=True), model.composed_s(overlap=False)
    for i, point in enumerate(points):
        measured = model.whole_s[i]
        yield (
            label(size(model.data.remote_bytes[i]), int(model.data.remote_bytes[i])),
            notebook.estimate(point.one_way, case, SECONDS),
            *(_half(times[i]) for _, times in _parts_of(model).values()),
            *_predicted(overlapped[i], measured),
            *_predicted(summed[i], measured),
            *_predicted(model.residuals.predicted_s[i], measured),
            label(model.longest(i)),
        )


def _half(step_s: float) -> Cell:
    if step_s == 0:
        return missing()
    time_s = ONE_WAY * float(step_s)
    return plain(time_s, seconds(time_s))


def _predicted(predicted_s: float, measured_s: float) -> tuple[Cell, Cell]:
    off = float(predicted_s / measured_s - 1)
    time_s = ONE_WAY * float(predicted_s)
    share = round(100 * off) + 0  # -0.2 is 0, not -0
    return plain(time_s, seconds(time_s)), plain(off, signed(f"{share:+,} %") if share else "0 %")


def _notes(case: MeasuredCase, model: SplitPhase, context: Context) -> Iterator[str]:
    yield "One way: half of a step (a broadcast and a reduction)."
    if model.on_device:
        yield (
            "The device works while the host launches the next move and begins the next operation."
        )
        yield f"{model.source}."
        yield "The time of a move consists of its launch and the device's work."
        yield "T(sync): the wait for its stream, measured separately, once per wait."
        yield "begin: the library's work before packing."
    else:
        yield (
            f"{model.source}; T(sync) is 0, because moves in this memory are complete when "
            "the call returns."
        )
    if model.data.one_sided:
        yield "Ranks move data concurrently: one unpacks while the other scatters."
    yield (
        "off: error against the measured whole, of the parts with overlapped messages "
        "(max()), of the parts without overlap (sum), and of the fitted model."
    )
    point, off = model.farthest
    if off > FARTHEST:
        at = size(model.data.remote_bytes[point])
        yield (
            f"The parts do not explain the whole everywhere: largest error {percent(off)} at {at}."
        )
    if case.simulated:
        yield (
            "Simulated: ranks leave each barrier up to one latency apart, which the sum of small "
            "parts includes several times."
        )
    if model.scatters:
        yield _overlap(model)
    misfit = percent(model.residuals.relative_rms)
    yield f"Fitted model: root mean square of the relative residuals {misfit}."
    yield switch_text(model)
    yield from (_parameters(part, model) for part in model.lines if model.lines[part])
    alike = [other for other in context.all_cases if _network(other) == _network(case)]
    if found := neighbours_model(alike):
        per_byte = found.gap_s_per_byte
        bandwidth = rate(1 / per_byte.value) if per_byte.value > 0 else "not determined"
        yield (
            f"Messages to k neighbours, over all grids on this network: alpha = "
            f"{seconds(found.alpha_s.value)}, g = {seconds(found.gap_s.value)}, 1/G = {bandwidth}, "
            f"misfit {percent(found.relative_rms)} ({found.source})."
        )


def _overlap(model: SplitPhase) -> str:
    nearer = "the maximum" if model.nearer == "max" else "the sum"
    text = f"The whole is closer to {nearer} of messages and scatter"
    if (off := model.off_at_the_median) > FARTHEST:
        return f"{text}, with a median error of {percent(off)}: overlap cannot be determined."
    do = "do" if model.nearer == "max" else "do not"
    return f"{text}: messages {do} progress while the rank copies."


def _network(case: MeasuredCase) -> tuple[object, ...]:
    """Return what cases share whose messages use the same route: within a node, or
    between nodes.
    """
    keys = ("kernel", "toolchain", "transport", "clock")
    return (*(case.settings.get(key) for key in keys), case.layout.nodes > 1)


def _parameters(part: str, model: SplitPhase) -> str:
    """Describe a part's fitted line, for one operation: messages are timed in both."""
    line = model.lines[part]
    share = ONE_WAY if part == MESSAGES else 1.0
    terms = [
        f"{_latency(piece.alpha_s.times(share))}"
        f"{_per_byte(piece.bandwidth_bytes_per_s.times(1 / share))} ({piece.label})"
        for piece in (line.pieces if line else ())
    ]
    return f"{part}, fitted, s bytes: {'; '.join(terms)}."


def _latency(alpha_s: Estimate) -> str:
    """Format a latency, with its interval if the fit is negative, which is physically
    impossible.
    """
    value = round(alpha_s.value, 12) + 0.0  # simulated times have a rounding error
    if value >= 0 or alpha_s.low is None or alpha_s.high is None:
        return seconds(value)
    return f"{seconds(value)} [{seconds(alpha_s.low)}, {seconds(alpha_s.high)}]"


def _per_byte(bandwidth: Estimate) -> str:
    if isinf(bandwidth.value):
        return ", no bandwidth: the time does not grow with the size"
    if bandwidth.low is None or bandwidth.high is None:
        return f" + s / {rate(bandwidth.value)}"
    if isinf(bandwidth.high):
        return f" + s / (at least {rate(bandwidth.low)})"
    return f" + s / {rate(bandwidth.value)} [{rate(bandwidth.low)}, {rate(bandwidth.high)}]"


_ONE_WAY_US = 1e6 * ONE_WAY
_MODEL, _SUM, _MAXIMUM = "model, with max()", "sum of parts", "parts with max()"
"""Compositions of parts, with the same names and colours in both panels."""


def split_phase_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """A star forest operation by bytes sent per rank: total, parts, and model."""
    own = [case for case in cases if split_phase_model(case)]
    return [_figure(case, name, context) for case, name in labelled_by_kernel(own).items()]


def _figure(case: MeasuredCase, name: str, context: Context) -> Figure:
    model = _model(case)
    x = Axis("sent by a rank", "log2", size_ticks(list(model.data.remote_bytes)))
    return Figure(
        kind="split_phase",
        title=context.title("Parts of an operation", case.kernel, name),
        panels=(
            Lines(
                "parts",
                "Measured, parts, and model, one way",
                x,
                Axis("time (µs)", "log"),
                (_whole(case, model), *_parts(model), *_models(model)),
                guides=tuple((at, size(at)) for at in model.crossings_bytes),
            ),
            Lines(
                "residuals",
                "Sum of parts - measured",
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
        notes=(switch_text(model), f"{model.source}."),
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
    """Return one mark per size; on a logarithmic axis without those that take no time."""
    return tuple(
        Mark(float(at), float(value))
        for at, value in zip(model.data.remote_bytes, values, strict=True)
        if zero or value > 0
    )
