# SPDX-License-Identifier: BSD-3-Clause
"""Models of message time: every parameter with its interval, range, and source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

from haloscope.analysis.cases import Facet, MeasuredCase, facets_of_kernels
from haloscope.analysis.context import Context
from haloscope.analysis.fits import bandwidth_curve, message_models, unfitted
from haloscope.models.curve import BandwidthCurve
from haloscope.models.model import FittedParameter, Model
from haloscope.quantities import (
    BYTES,
    BYTES_PER_SECOND,
    PARAMETERS,
    PER_BYTE,
    PLAIN,
    SECONDS,
    Scale,
    percent,
    seconds,
    size,
)
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook
from haloscope.report.words import clock

_SCALES: tuple[tuple[str, Scale], ...] = (
    ("_s_per_byte", PER_BYTE),
    ("_bytes_per_s", BYTES_PER_SECOND),
    ("_bytes", BYTES),
    ("_s", SECONDS),
)


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """For a ping-pong with sizes enough, or a run of loggp: parameters, and predictions by size."""
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
    return Table(
        id="fits",
        kind="fits",
        title=context.title("Models of a message's time", name),
        columns=(
            Column("model", "model", align="left"),
            Column("valid_bytes", "sizes", align="left"),
            Column("parameter", "parameter", align="left"),
            Column("value", "value"),
            Column("misfit", "misfit"),
        ),
        rows=(*_rows(case, notebook), *_not_fitted(case, notebook)),
        notes=notebook.notes(),
        stub=2,
    )


def _rows(case: MeasuredCase, notebook: Notebook) -> Iterator[tuple[Cell, ...]]:
    for name, model in message_models(case):
        misfit = plain(model.residuals.relative_rms, percent(model.residuals.relative_rms))
        for index, parameter in enumerate(model.parameters):
            yield (
                label(name if index == 0 else "", name),
                _sizes(parameter, model.valid),
                *_valued(parameter, case, notebook),
                misfit if index == 0 else missing(""),
            )
        _sourced(notebook, name, model)
    if found := bandwidth_curve(case):
        for index, parameter in enumerate(found.parameters):
            name = found.name if index == 0 else ""
            cells = _valued(parameter, case, notebook)
            yield (label(name, found.name), _sizes(parameter, found.valid), *cells, missing(""))
        _sourced(notebook, found.name, found)
    notebook.note("misfit: root mean square of the relative residuals.")


def _sizes(parameter: FittedParameter, valid: tuple[float, float]) -> Cell:
    """The sizes that a parameter rests on, in words and as numbers."""
    first, last = parameter.over or valid
    words = parameter.piece or f"{size(first)} to {size(last)}"
    return Cell(words, words, low=first, high=last)


def _sourced(notebook: Notebook, name: str, model: Model | BandwidthCurve) -> None:
    notebook.note(f"{name}: {model.source}.")
    for warning in model.warnings:
        notebook.note(f"{name}: {warning}")


def _not_fitted(case: MeasuredCase, notebook: Notebook) -> Iterator[tuple[Cell, ...]]:
    """A row for every model that the data do not suit; its reason is among the notes."""
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
    """By size: measured, and of every model what it says and what is left over."""
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
            told, left = model.residuals.predicted_s[index], model.residuals.relative[index]
            row += [plain(float(told), seconds(told)), plain(float(left), percent(left))]
        rows.append(tuple(row))
    return Table(
        id="predictions",
        kind="fits",
        title=context.title("Models of a message's time, size by size", name),
        columns=tuple(columns),
        rows=tuple(rows),
        notes=(f"residual: {known} less predicted, as a share of {known}.",),
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
