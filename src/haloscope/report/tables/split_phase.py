# SPDX-License-Identifier: BSD-3-Clause
"""A star forest operation and its parts by size, compared with the split-phase model.

What section 6 of the report on Summit (Zhang, Mills, Smith 2020) proposes; one way, as its tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isinf

from haloscope.analysis.cases import Facet, MeasuredCase, facets_by_kernel
from haloscope.analysis.context import Context
from haloscope.analysis.split_phase import neighbours_model, split_phase_model, switch_text
from haloscope.analysis.sweeps import sweep
from haloscope.models.round_trip import ONE_WAY
from haloscope.models.split_phase import (
    BEGIN,
    MESSAGES,
    MOVES,
    SYNCHRONISE,
    SplitPhase,
    both,
    done,
    launching,
)
from haloscope.models.sweep import Array
from haloscope.quantities import SECONDS, percent, rate, seconds, signed, size
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook
from haloscope.stats.estimates import Estimate

FARTHEST = 0.25
"""FARTHEST is how far parts added up may be off the whole, at the median, and still explain it:
what messages and a scatter overlap is seldom more than that of a step."""


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table a case that has parts."""
    own = [case for case in cases if split_phase_model(case)]
    return [_table(part, context) for part in facets_by_kernel(own)]


def _table(part: Facet, context: Context) -> Table:
    (case,) = part.cases
    model = split_phase_model(case)
    if model is None:
        raise ValueError("a case without parts")
    notebook = Notebook(part.cases, context.all_cases)
    rows = tuple(_rows(case, model, notebook))
    for text in _notes(case, model, context):
        notebook.note(text)
    return Table(
        id="split_phase",
        kind="split_phase",
        title=context.title(f"Parts of an operation, {case.kernel}", part.label),
        columns=(
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
        rows=rows,
        notes=notebook.notes(),
    )


_EACH = "parts, each by itself"


def _parts_of(model: SplitPhase) -> dict[str, tuple[str, Array]]:
    """The parts of a step in their order, by name: as a column calls them, and seconds of each."""
    parts = model.parts_s
    found = {name: (name, both(parts, name)) for name in ("pack", MESSAGES, *MOVES[1:])}
    if not model.on_device:
        return found
    launches = sum((launching(parts, move) for move in MOVES), 0 * parts[MESSAGES])
    return {
        "begin": ("begin", parts[BEGIN]),
        "launches": ("launches", launches),
        "synchronise": ("T(sync)", parts[SYNCHRONISE]),
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
            label(size(model.data.remote_bytes[i]), model.data.remote_bytes[i]),
            notebook.estimate(point.one_way, case, SECONDS),
            *(_half(times[i]) for _, times in _parts_of(model).values()),
            *_predicted(overlapped[i], measured),
            *_predicted(summed[i], measured),
            *_predicted(model.residuals.predicted_s[i], measured),
            label(model.longest(i)),
        )


def _half(step_s: float) -> Cell:
    """One of the two operations of a step; nothing where there is nothing to do."""
    if step_s == 0:
        return missing()
    time_s = ONE_WAY * float(step_s)
    return plain(time_s, seconds(time_s))


def _predicted(predicted_s: float, measured_s: float) -> tuple[Cell, Cell]:
    """A prediction of the step, one way, and how far it is off."""
    off = float(predicted_s / measured_s - 1)
    time_s = ONE_WAY * float(predicted_s)
    share = round(100 * off) + 0  # -0.2 is 0, not -0
    return plain(time_s, seconds(time_s)), plain(off, signed(f"{share:+,} %") if share else "0 %")


def _notes(case: MeasuredCase, model: SplitPhase, context: Context) -> Iterator[str]:
    yield "One way: half of a step, which is a broadcast and a reduction."
    if model.on_device:
        yield (
            f"{model.source}. The time of a move is that of its launch and of what the device "
            "then does; T(sync) is the wait for its stream, timed by itself, as often as an "
            "operation waits; begin is what the library does before it packs."
        )
    else:
        yield f"{model.source}; T(sync) is 0: in this memory, a move is done when it returns."
    yield "off: parts added up, with max() or as a sum, and the fitted model, less the whole."
    if case.simulated:
        yield (
            "Simulated: the step and each of its parts begin as ranks leave a barrier, up to a "
            "latency apart, which the sum of small parts therefore has several times."
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
        bandwidth = rate(1 / per_byte.value) if per_byte.value > 0 else "unbounded"
        yield (
            f"Messages to k neighbours, over all grids on this network: alpha = "
            f"{seconds(found.alpha_s.value)}, g = {seconds(found.gap_s.value)}, 1/G = {bandwidth}, "
            f"misfit {percent(found.relative_rms)} ({found.source})."
        )


def _overlap(model: SplitPhase) -> str:
    """Whether messages travel while a rank copies, if what parts add up to tells."""
    nearer = "the maximum" if model.nearer == "max" else "the sum"
    told = f"The whole is nearer to {nearer} of messages and scatter"
    if (off := model.off_at_the_median) > FARTHEST:
        return f"{told}, but off it by {percent(off)} at the median: it tells nothing of overlap."
    do = "do" if model.nearer == "max" else "do not"
    return f"{told}: messages {do} travel while the rank copies."


def _network(case: MeasuredCase) -> tuple[object, ...]:
    """What cases share whose messages go the same way: within a node, or between nodes."""
    keys = ("kernel", "toolchain", "transport", "clock")
    return (*(case.settings.get(key) for key in keys), case.number("nodes") > 1)


def _parameters(part: str, model: SplitPhase) -> str:
    """A part's fitted line, of one operation as all of the table: messages are timed in both."""
    line = model.lines[part]
    share = ONE_WAY if part == MESSAGES else 1.0
    told = [
        f"{_latency(piece.alpha_s.times(share))} + "
        f"s / {_rate(piece.bandwidth_bytes_per_s.times(1 / share))} ({piece.label})"
        for piece in (line.pieces if line else ())
    ]
    return f"{part}, fitted, s bytes: {'; '.join(told)}."


def _latency(alpha_s: Estimate) -> str:
    """A latency; with its interval where the fit has it below 0, as no latency is."""
    value = _rounded(alpha_s.value)
    if value >= 0 or alpha_s.low is None or alpha_s.high is None:
        return seconds(value)
    return f"{seconds(value)} [{seconds(alpha_s.low)}, {seconds(alpha_s.high)}]"


def _rounded(time_s: float) -> float:
    """To a picosecond: simulated times leave a rounding error where there is no latency."""
    return round(time_s, 12) + 0.0


def _rate(bandwidth: Estimate) -> str:
    """A bandwidth with its interval; ∞ is what a time has that is the same for all sizes."""

    def told(value: float) -> str:
        return "∞" if isinf(value) else rate(value)

    if bandwidth.low is None or bandwidth.high is None or isinf(bandwidth.low):
        return told(bandwidth.value)
    return f"{told(bandwidth.value)} [{told(bandwidth.low)}, {told(bandwidth.high)}]"
