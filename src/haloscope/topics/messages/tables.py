# SPDX-License-Identifier: BSD-3-Clause
"""Tables of messages between two processes: times, fitted models, libraries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Race, contrasts, one_way
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet, facets, facets_of_kernels, labelled
from haloscope.analysis.fits import bandwidth_curve, exchanges, message_models, unfitted
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.layout import PROCESSES
from haloscope.models.curve import BandwidthCurve
from haloscope.models.model import FittedParameter, Model
from haloscope.quantities import (
    BYTES,
    BYTES_PER_SECOND,
    PARAMETERS,
    PER_BYTE,
    PER_SECOND,
    PLAIN,
    SECONDS,
    Scale,
    count,
    percent,
    seconds,
    size,
)
from haloscope.study.settings import describe, varying
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import Cell, Column, Table, label, missing, plain, shown
from haloscope.topics.common.words import clock
from haloscope.topics.contrast.views import COLUMNS, cells, explain
from haloscope.topics.messages import message_races, messages_per_s, seldom_of


def pingpong_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Messages by size: half round-trip time, bandwidth, and message rate of message streams."""
    own = [case for case in cases if case.kernel == "pingpong" and case.launches]
    return [_pingpong_table(case, name, context) for case, name in labelled(own).items()]


def _pingpong_table(case: MeasuredCase, name: str, context: Context) -> Table:
    notebook = Notebook([case], context.all_cases)
    timed = exchanges(case)
    rows = []
    for point in sweep(case):
        head = label(size(point.size_bytes), point.size_bytes, case.id)
        speed = rate = missing()  # of empty messages
        if point.size_bytes:  # over both directions if messages go both ways at once
            speed = notebook.estimate(point.rate, case, BYTES_PER_SECOND)
        if timed:
            rows.append((head, notebook.estimate(point.one_way, case, SECONDS), speed))
            continue
        if point.size_bytes:
            rate = notebook.estimate(messages_per_s(point), case, PER_SECOND)
        rows.append((head, speed, rate))
    speed_column = Column("bandwidth_bytes_per_s", "bandwidth")
    columns = (
        (Column("half_round_trip_s", "half round trip"), speed_column)
        if timed
        else (speed_column, Column("messages_per_s", "messages"))
    )
    return notebook.table(
        "pingpong",
        context.title("Messages between two processes", name),
        (Column("size_bytes", "message", align="left"), *columns),
        rows,
    )


_SCALES: tuple[tuple[str, Scale], ...] = (
    ("_s_per_byte", PER_BYTE),
    ("_bytes_per_s", BYTES_PER_SECOND),
    ("_bytes", BYTES),
    ("_s", SECONDS),
)


def fits_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Models of message time: every parameter with its interval, range, and source."""
    own = [case for case in cases if message_models(case) or unfitted(case)]
    return [table for part in facets_of_kernels(own, ()) for table in _tables(part, context)]


def _tables(part: Facet, context: Context) -> list[Table]:
    (case,) = part.cases
    tables = [_parameters(case, context, part.label)]
    if message_models(case):
        tables.append(_predictions(case, context, part.label))
    return tables


def _parameters(case: MeasuredCase, context: Context, name: str) -> Table:
    notebook = Notebook([case], context.all_cases)
    return notebook.table(
        "fits",
        context.title("Models of a message's time", name),
        (
            Column("model", "model", align="left"),
            Column("valid_bytes", "sizes", align="left"),
            Column("parameter", "parameter", align="left"),
            Column("value", "value"),
            Column("misfit", "misfit"),
        ),
        (*_rows(case, notebook), *_not_fitted(case, notebook)),
        stub=2,
    )


def _rows(case: MeasuredCase, notebook: Notebook) -> Iterator[tuple[Cell, ...]]:
    for name, model in message_models(case):
        misfit = shown(model.residuals.relative_rms, percent)
        for index, parameter in enumerate(model.parameters):
            yield (
                label(name if index == 0 else "", name),
                _fit_sizes(parameter, model.valid),
                *_valued(parameter, case, notebook),
                misfit if index == 0 else missing(""),
            )
        _sourced(notebook, name, model)
    if found := bandwidth_curve(case):
        for index, parameter in enumerate(found.parameters):
            name = found.name if index == 0 else ""
            cells = _valued(parameter, case, notebook)
            yield (label(name, found.name), _fit_sizes(parameter, found.valid), *cells, missing(""))
        _sourced(notebook, found.name, found)
    notebook.note("misfit: root mean square of the relative residuals.")


def _fit_sizes(parameter: FittedParameter, valid: tuple[float, float]) -> Cell:
    first, last = parameter.over or valid
    words = parameter.piece or f"{size(first)} to {size(last)}"
    return Cell(words, words, low=first, high=last)


def _sourced(notebook: Notebook, name: str, model: Model | BandwidthCurve) -> None:
    notebook.note(f"{name}: {model.source}.")
    for warning in model.warnings:
        notebook.note(f"{name}: {warning}")


def _not_fitted(case: MeasuredCase, notebook: Notebook) -> Iterator[tuple[Cell, ...]]:
    for one in unfitted(case):
        yield (
            label(one.name, case=case.id),
            label("–"),
            label("–"),
            missing("not fitted", warn=True),
            missing(""),
        )
        notebook.note(f"{one.name}: not fitted: {one.reason}.")


def _predictions(case: MeasuredCase, context: Context, name: str) -> Table:
    models = message_models(case)
    first = models[0][1].residuals
    known = clock([case])
    columns = [Column("size_bytes", "message", align="left"), Column("measured_s", known)]
    for title, _ in models:
        key = title.lower().replace(",", "").replace(" ", "_")
        columns += [
            Column(f"{key}_s", "predicted", title),
            Column(f"{key}_residual", "residual", title),
        ]
    rows = []
    for index, (x, measured) in enumerate(zip(first.x, first.measured_s, strict=True)):
        row = [label(size(x), int(x), case.id), plain(float(measured), seconds(measured))]
        for _, model in models:
            predicted, left = model.residuals.predicted_s[index], model.residuals.relative[index]
            row += [plain(float(predicted), seconds(predicted)), plain(float(left), percent(left))]
        rows.append(tuple(row))
    return Table(
        id="predictions",
        kind="fits",
        title=context.title("Models of a message's time, size by size", name),
        columns=tuple(columns),
        rows=tuple(rows),
        notes=(f"residual: ({known} - predicted) / {known}.",),
        folded=True,
    )


def _valued(
    parameter: FittedParameter, case: MeasuredCase, notebook: Notebook
) -> tuple[Cell, Cell]:
    scale = next((s for ending, s in _SCALES if parameter.name.endswith(ending)), PLAIN)
    name = label(PARAMETERS.get(parameter.name, parameter.name), parameter.name)
    if not isfinite(parameter.estimate.value):
        return name, missing("unbounded")
    return name, notebook.estimate(parameter.estimate, case, scale)


PLACES = ("placement", *PROCESSES, "places")
SIZES = (8, 1 << 10, 1 << 16, 1 << 20)
"""SIZES are the displayed sizes, one for each way in which messages are sent."""


def libraries_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """MPI libraries, transports, and placements: significance tests by message size."""
    raced = message_races(cases, context.seed)
    found = [_of_races(part, races, context) for part, races in raced]
    own = [case for case in cases if exchanges(case) and case.launches]
    placed = [part for part in facets(own, PLACES) if len(part.cases) > 1]
    return [table for table in (*found, *(_of_places(part, context) for part in placed)) if table]


def _of_races(part: Facet, races: Mapping[int, Race[str]], context: Context) -> Table | None:
    """Return the races at a few sizes, with the tests of all sizes."""
    notebook = Notebook(part.cases, context.all_cases)
    few = {at: races[at] for at in SIZES if at in races}
    rows = tuple(row for at, race in few.items() for row in _raced(at, race, notebook))
    explain([contrast for race in few.values() for contrast in race.against.values()], notebook)
    if len(few) < len(races):
        notebook.note(f"Shown: {len(few)} of {count(len(races), 'size')}, tested together.")
    if seldom := seldom_of(part):
        notebook.note(f"Not included (too few launches for a test): {'; '.join(seldom)}.")
    columns = (
        Column("size", "message", align="left"),
        Column("fastest", "lowest median", align="left"),
        Column("fastest_s", "its time"),
        Column("setting", "against", align="left"),
        Column("time_s", "its time"),
        *COLUMNS,
    )
    title = context.title("Half round trip: fastest, compared with each other", part.label)
    return _library_table(title, columns, rows, notebook)


def _raced(at: int, race: Race[str], notebook: Notebook) -> Iterator[tuple[Cell, ...]]:
    for other, contrast in race.against.items():
        yield (
            label(size(at), at),
            label(race.best),
            notebook.estimate(contrast.second.time, contrast.second.case, SECONDS),
            label(other),
            notebook.estimate(contrast.first.time, contrast.first.case, SECONDS),
            *cells(contrast, notebook),
        )


def _of_places(part: Facet, context: Context) -> Table | None:
    first, *others = part.cases
    shared = [(other, both) for other in others for both in _shared(first, other)]
    pairs = [(one_way(first, own), one_way(other, there)) for other, (own, there) in shared]
    found = contrasts(pairs, context.seed)
    notebook = Notebook(part.cases, context.all_cases)
    apart = varying([case.settings for case in part.cases])
    rows = tuple(
        (
            label(describe(other.settings, apart)),
            label(size(point.size_bytes), point.size_bytes),
            notebook.estimate(contrast.first.time, first, SECONDS),
            notebook.estimate(contrast.second.time, other, SECONDS),
            *cells(contrast, notebook),
        )
        for (other, (point, _)), contrast in zip(shared, found, strict=True)
    )
    explain(found, notebook)
    reference = describe(first.settings, apart)
    columns = (
        Column("setting", "setting", align="left"),
        Column("size", "message", align="left"),
        Column("reference_s", reference),
        Column("time_s", "this one"),
        *COLUMNS,
    )
    title = context.title(f"Half round trip against {reference}", part.label)
    return _library_table(title, columns, rows, notebook)


def _shared(first: MeasuredCase, other: MeasuredCase) -> list[tuple[Swept, Swept]]:
    at = {point.size_bytes: point for point in sweep(other)}
    return [
        (p, at[p.size_bytes]) for p in sweep(first) if p.size_bytes in SIZES and p.size_bytes in at
    ]


def _library_table(
    title: str, columns: tuple[Column, ...], rows: tuple[tuple[Cell, ...], ...], notebook: Notebook
) -> Table | None:
    if not rows:
        return None
    return notebook.table("libraries", title, columns, rows, stub=2)
