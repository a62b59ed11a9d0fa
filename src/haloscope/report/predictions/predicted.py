# SPDX-License-Identifier: BSD-3-Clause
"""Predictions with published or measured values and errors, also of this machine's own times."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter

from haloscope.analysis.validation.predictions import (
    JACOBI,
    LATENCY,
    RELATIVE,
    STEP,
    Errors,
    KeptPredictions,
    PredictedCell,
    PredictedTime,
)
from haloscope.errors import Problem, UserError
from haloscope.grouped import grouped
from haloscope.paths import in_a_shell, write_whole
from haloscope.quantities import MISSING, SECONDS, count, number, seconds
from haloscope.records import strict_json
from haloscope.records.folder import ResultFolder
from haloscope.report.predictions.prediction_errors import (
    ERROR_COLUMNS,
    NOT_SIMULATED,
    beside_guesses,
    error_cells,
    errors,
    null_model,
    share_cell,
    structure,
)
from haloscope.topics.common.notebook import REPLICATES, estimated, spread_notes, spread_text
from haloscope.topics.common.table import (
    Cell,
    CellValue,
    Column,
    Table,
    label,
    missing,
    plain,
    shown,
)


def published_tables(cells: Sequence[PredictedCell], notes: Sequence[str] = ()) -> list[Table]:
    """Return the cells of one published table in its own form with their errors, and notes."""
    match cells[0].kind:
        case kind if kind == JACOBI:
            tables = [_rates(cells)]
        case kind if kind == LATENCY:
            tables = list(_latencies(cells))
        case kind if kind == RELATIVE:
            tables = list(_ratios(cells))
        case kind if kind == STEP:
            tables = [_steps(cells)]
        case _:
            tables = list(_times(cells))
    table = cells[0].table
    found = [*errors(cells, table, notes), *beside_guesses(cells, table)]
    return [*tables, *found, *structure(cells, table), *null_model(cells, table)]


def _times(cells: Sequence[PredictedCell]) -> Iterator[Table]:
    for n in sorted({int(cell.keys["n"]) for cell in cells}):
        mesh = {
            (int(cell.keys["ppn"]), int(cell.keys["threads"]), int(cell.keys["nodes"])): cell
            for cell in cells
            if cell.keys["n"] == n
        }
        nodes = sorted({int(cell.keys["nodes"]) for cell in cells})
        yield Table(
            id=f"predicted-{cells[0].table}-{n}",
            kind="predicted",
            title=f"n = {n}, seconds",
            columns=(
                Column("ppn", "ppn"),
                Column("threads", "threads"),
                *(Column(f"nodes_{on}_s", count(on, "node")) for on in nodes),
            ),
            rows=tuple(
                (
                    label(str(ppn), ppn),
                    label(str(threads), threads),
                    *(_time(mesh.get((ppn, threads, on))) for on in nodes),
                )
                for ppn, threads in dict.fromkeys(key[:2] for key in mesh)
            ),
            notes=_failures(list(mesh.values())),
            stub=2,
        )


_DOWN = ("n", "size_bytes")


def _latencies(cells: Sequence[PredictedCell]) -> Iterator[Table]:
    """Yield latencies per placement, by size or n (rows) and all other settings (columns)."""
    down = [*(key for key in _DOWN if key in cells[0].keys), *cells[0].keys][:1]
    what = "latency" if down[0] in _DOWN else "time"
    parts = grouped(cells, lambda cell: cell.keys.get("placement"))
    for position, (placement, own) in enumerate(parts.items(), start=1):
        across = [key for key in own[0].keys if key not in (*_DOWN, *down, "placement")]
        columns = dict.fromkeys(tuple(cell.keys[key] for key in across) for cell in own)
        found = {
            (cell.keys[down[0]], tuple(cell.keys[key] for key in across)): cell for cell in own
        }
        yield Table(
            id=f"predicted-{cells[0].table}-{position}",
            kind="predicted",
            title=f"{str(placement).replace('_', '-')}, µs" if placement else "µs",
            columns=(
                Column(down[0], "bytes" if down[0] == "size_bytes" else down[0]),
                *(_across(what, across, values) for values in columns),
            ),
            rows=tuple(
                (
                    label(at if isinstance(at, str) else f"{at:,}", at),
                    *(_in_tenths(found.get((at, values)), 1e6) for values in columns),
                )
                for at in dict.fromkeys(cell.keys[down[0]] for cell in own)
            ),
            notes=_failures(own),
            stub=1,
        )


def _ratios(cells: Sequence[PredictedCell]) -> Iterator[Table]:
    """Yield times by number of nodes for each number of tasks, relative to the shortest."""
    for reading, own in grouped(cells, lambda cell: cell.reading).items():
        keys = own[0].keys
        over = count(int(keys["over"]), "node")
        yield Table(
            id=f"predicted-{own[0].table}-{keys['ranks']}",
            kind="predicted",
            title=f"{reading}: time over that on {over}",
            columns=(Column("nodes", "nodes"), Column("time_ratio", f"over {over}")),
            rows=tuple(
                (
                    label(str(cell.keys["nodes"]), cell.keys["nodes"]),
                    _beside(cell, f"{cell.published:.2f}", f"{cell.predicted or 0:.2f}", ".2f"),
                )
                for cell in own
            ),
            notes=_failures(own),
            stub=1,
        )


def _steps(cells: Sequence[PredictedCell]) -> Table:
    """Return a row for each cell, with its settings and its time."""
    return Table(
        id=f"predicted-{cells[0].table}",
        kind="predicted",
        title="time",
        columns=(*(Column(key, key, align="left") for key in cells[0].keys), Column("s", "time")),
        rows=tuple(
            (
                *(label(str(value), value) for value in cell.keys.values()),
                _beside(cell, seconds(cell.published), seconds(cell.predicted or 0.0), ".3f"),
            )
            for cell in cells
        ),
        notes=_failures(cells),
        stub=len(cells[0].keys),
    )


def _across(what: str, keys: Sequence[str], values: Sequence[object]) -> Column:
    """Return a column of latencies or times, named by what distinguishes it from others."""
    words = [
        count(int(str(value)), "node") if key == "nodes" else str(value)
        for key, value in zip(keys, values, strict=True)
    ]
    name = "_".join(str(value) for value in values)
    return Column(f"{what}_{name}_s" if name else f"{what}_s", ", ".join(words) or what)


def _in_tenths(cell: PredictedCell | None, factor: float = 1.0) -> Cell:
    if cell is None:
        return missing("")
    published, predicted = factor * cell.published, factor * (cell.predicted or 0)
    return _beside(cell, f"{published:.1f}", f"{predicted:.1f}", ".3f")


def _time(cell: PredictedCell | None) -> Cell:
    if cell is None:
        return missing("")
    published = f"{cell.published:,g}" if cell.step >= 1 else number(cell.published)
    return _beside(cell, published, number(cell.predicted or 0.0), ".2f")


def _beside(cell: PredictedCell, published: str, predicted: str, digits: str) -> Cell:
    """Return a predicted value, with the published one below and, if meaningful, their ratio."""
    if cell.predicted is None:
        return missing(NOT_SIMULATED, warn=True)
    ratio = "" if cell.error is None else f"{cell.predicted / cell.published:{digits}}"
    drawn = cell.drawn
    return Cell(
        cell.predicted,
        predicted,
        low=drawn.low if drawn else None,
        high=drawn.high if drawn else None,
        spread=spread_text(drawn) if drawn else "",
        published=published,
        published_value=cell.published,
        ratio=ratio,
    )


def _failures(cells: Sequence[PredictedCell]) -> tuple[str, ...]:
    reasons = [cell.problem or "no reason recorded" for cell in cells if cell.predicted is None]
    numbers = [cell.drawn.n for cell in cells if cell.drawn]
    drawn = [f"predicted: medians of {max(numbers)}: {REPLICATES}"] if numbers else []
    return (*drawn, *(f"{NOT_SIMULATED}: {reason}" for reason in dict.fromkeys(reasons)))


def _rates(cells: Sequence[PredictedCell]) -> Table:
    """Return a row for each grid of ranks: published MLUP/s, and predicted ones in each reading."""
    readings = dict.fromkeys(cell.reading for cell in cells)
    rows: dict[tuple[object, ...], dict[str, PredictedCell]] = {}
    for cell in cells:
        rows.setdefault((cell.keys["ranks"], cell.keys["grid"]), {})[cell.reading] = cell
    return Table(
        id=f"predicted-{cells[0].table}",
        kind="predicted",
        title="MLUP/s by ranks",
        columns=(
            Column("ranks", "ranks"),
            Column("grid", "grid", align="left"),
            *(Column(f"mlups_{reading}", reading) for reading in readings),
        ),
        rows=tuple(
            (label(str(ranks)), label(str(grid)), *(_in_tenths(row.get(each)) for each in readings))
            for (ranks, grid), row in rows.items()
        ),
        notes=_failures(cells),
        stub=2,
    )


def every_cell(cells: Sequence[PredictedCell]) -> Table:
    """Return a row for each cell; settings that a table does not use are empty."""
    keys = list(dict.fromkeys(key for cell in cells for key in cell.keys))
    ends = ("low", "high") if any(cell.drawn for cell in cells) else ()  # of replicates
    names = ("table", *keys, "reading", "unit", "published", "predicted")
    names += (*ends, "error", "naive", "null_model", "sets")
    return Table(
        id="cells",
        kind="predicted",
        title="All predicted cells",
        columns=tuple(Column(name, name) for name in names),
        rows=tuple(
            (
                label(cell.table),
                *(exact(cell.keys.get(key)) for key in keys),
                label(cell.reading),
                label(cell.unit),
                plain(cell.published),
                exact(cell.predicted, cell.problem),
                *(exact(getattr(cell.drawn, end, None)) for end in ends),
                exact(cell.error),
                exact(cell.naive),
                exact(cell.null),
                label(" ".join(cell.sets)),
            )
            for cell in cells
        ),
    )


def exact(value: CellValue, why: str | None = None) -> Cell:
    """Return a value with all its digits, or the reason for its absence."""
    return missing(why or MISSING) if value is None else plain(value)


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
