# SPDX-License-Identifier: BSD-3-Clause
"""Tables of predicted times and times measured on this machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter

from haloscope.analysis.validation.predictions import Errors, KeptPredictions, PredictedTime
from haloscope.errors import Problem, UserError
from haloscope.grouped import grouped
from haloscope.paths import in_a_shell, write_whole
from haloscope.quantities import SECONDS, seconds
from haloscope.records import strict_json
from haloscope.records.folder import ResultFolder
from haloscope.report.predictions.predicted import exact
from haloscope.report.predictions.prediction_errors import ERROR_COLUMNS, error_cells, share_cell
from haloscope.topics.common.notebook import estimated, spread_notes
from haloscope.topics.common.table import Cell, Column, Table, label, shown

KEPT = "predictions.json"
"""KEPT is the file of a result folder with the errors of its predicted times."""


def measured_tables(predictions: Sequence[PredictedTime]) -> list[Table]:
    """Return a table for each kernel, with one row per measured time, and the errors of all."""
    kernels = grouped(predictions, lambda each: each.kernel)
    tables = [
        Table(
            id=f"predicted-{kernel}",
            kind="predicted",
            title=f"{kernel}, half round trip" if kernel == "pingpong" else kernel,
            columns=(
                Column("what", "what", align="left"),
                Column("measured_s", "measured"),
                Column("predicted_s", "predicted"),
                Column("error", "error"),
            ),
            rows=tuple(map(_measured, times)),
            notes=tuple(spread_notes([each.measured for each in times])),
        )
        for kernel, times in kernels.items()
    ]
    return [*tables, *([_errors_by_kernel(kernels)] if kernels else [])]


def _measured(time: PredictedTime) -> tuple[Cell, ...]:
    return (
        label(time.what),
        estimated(time.measured, SECONDS),
        shown(time.predicted_s, seconds),
        share_cell(time.error, "+"),
    )


def _errors_by_kernel(kernels: Mapping[str, Sequence[PredictedTime]]) -> Table:
    every = [each for times in kernels.values() for each in times]
    parts = {**kernels, "all": every}
    return Table(
        id="errors",
        kind="predicted",
        title="Errors",
        columns=(Column("times", "times", align="left"), *ERROR_COLUMNS),
        rows=tuple((label(name), *error_cells(Errors.of(times))) for name, times in parts.items()),
    )


def every_time(predictions: Sequence[PredictedTime]) -> Table:
    """Return a row for each measured time, with its spread and the prediction."""
    names = ("kernel", "what", "unit", "measured", "low", "high", "predicted", "error")
    return Table(
        id="times",
        kind="predicted",
        title="All predicted times",
        columns=tuple(Column(name, name) for name in names),
        rows=tuple(
            (
                label(each.kernel),
                label(each.what),
                label("s"),
                *map(exact, (each.measured.value, each.measured.low, each.measured.high)),
                *map(exact, (each.predicted_s, each.error)),
            )
            for each in predictions
        ),
    )


def digest(folder: Path) -> str:
    """Return the digest of the records in a result folder."""
    found = hashlib.sha256()
    with strict_json.opened(ResultFolder(folder).records) as records:
        for line in records:
            found.update(line)
    return found.hexdigest()


def keep(kept: KeptPredictions, folder: Path) -> None:
    """Write the predictions of a result folder into it."""
    write_whole(folder / KEPT, json.dumps(asdict(kept), indent=1) + "\n")


def kept_predictions(folder: Path) -> KeptPredictions | None:
    """Return the predictions kept in a result folder; None without any.

    Raise UserError for a file that validate local did not write.
    """
    path = folder / KEPT
    if not path.is_file():
        return None
    try:
        raw = json.dumps(strict_json.json_object(strict_json.content(path)))
        kept = TypeAdapter(KeptPredictions).validate_json(raw, strict=True)
        texts = [text for one in kept.errors for text in (one.kernel, one.what)]
        if not "".join((*texts, *kept.failures, *kept.disturbed)).isprintable():
            raise ValueError
    except ValueError as error:
        remedy = f"write it again: haloscope validate local --from {in_a_shell(folder)}"
        raise UserError(Problem(str(path), "not predictions of a folder", remedy)) from error
    return kept
