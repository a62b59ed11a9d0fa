# SPDX-License-Identifier: BSD-3-Clause
"""Tables of predicted times and times measured on this machine."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path

from haloscope.analysis.validation.predictions import Errors, KeptError, PredictedTime
from haloscope.errors import Problem, UserError
from haloscope.grouped import grouped
from haloscope.paths import in_a_shell
from haloscope.quantities import SECONDS, seconds
from haloscope.report.predictions.predicted import exact
from haloscope.report.predictions.prediction_errors import ERROR_COLUMNS, error_cells, share_cell
from haloscope.topics.common.notebook import estimated, spread_notes
from haloscope.topics.common.table import Cell, Column, Table, label, shown

KEPT = "predictions.csv"
"""KEPT is the file of a result folder with the predicted times of its cases."""


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


def kept_errors(folder: Path) -> tuple[KeptError, ...]:
    """Return the errors of the predictions in a result folder; () without any.

    Raise UserError for a file that validate local did not write.
    """
    path = folder / KEPT
    if not path.is_file():
        return ()
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            return tuple(map(_kept, csv.DictReader(lines)))
    except (KeyError, TypeError, ValueError, csv.Error) as error:
        remedy = f"write it again: haloscope validate local --from {in_a_shell(folder)}"
        raise UserError(Problem(str(path), "not a table of predicted times", remedy)) from error


def _kept(row: Mapping[str, str]) -> KeptError:
    kept = KeptError(row["kernel"], row["what"], float(row["error"]))
    if not (isfinite(kept.error) and f"{kept.kernel}{kept.what}".isprintable()):
        raise ValueError
    return kept
