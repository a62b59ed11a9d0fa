# SPDX-License-Identifier: BSD-3-Clause
"""Every table as a CSV file: exact values, the ends of their spread, published values."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from haloscope.errors import Problem, UserError, printable
from haloscope.paths import write_whole
from haloscope.report.document import Document
from haloscope.report.draw.figures import Drawing
from haloscope.report.tables import Cell, Table


def write(document: Document, _: Mapping[str, Sequence[Drawing]], directory: Path) -> Path:
    """Write tables/ID.csv for every table, ID.jsonl for those with points; the path of tables/."""
    folder = directory / "tables"
    folder.mkdir(exist_ok=True)
    for old in (*folder.glob("*.csv"), *folder.glob("*.jsonl")):
        old.unlink()
    for table in document.tables:
        write_whole(folder / f"{table.id}.csv", _written(table))
        for number, points in enumerate(table.points, start=1):
            name = f"{table.id}-{number}" if len(table.points) > 1 else table.id
            lines_of_points = (json.dumps(point) + "\n" for point in points)
            write_whole(folder / f"{name}.jsonl", "".join(lines_of_points))
    return folder


def write_table(table: Table, path: Path) -> None:
    """Write one table, to what a user names. UserError where the file can't be written."""
    try:
        path.write_text(_written(table), encoding="utf-8", newline="")
    except OSError as error:
        mend = "name a file in a folder that is there and can be written to"
        raise UserError(Problem(str(path), error.strerror or str(error), mend)) from error


def _written(table: Table) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(lines(table))
    return text.getvalue()


def lines(table: Table) -> Iterator[list[str]]:
    """A header, then a line a row. Missing values are empty, with a word in the column _note."""
    extras = [_extras([row[k] for row in table.rows]) for k in range(len(table.columns))]
    yield [
        _inert(name)
        for column, extra in zip(table.columns, extras, strict=True)
        for name in (column.key, *(f"{column.key}_{part}" for part in extra))
    ]
    for row in table.rows:
        yield [
            _text(value)
            for cell, extra in zip(row, extras, strict=True)
            for value in (cell.value, *(_part(cell, part) for part in extra))
        ]


def _extras(cells: Sequence[Cell]) -> list[str]:
    """Which further columns a column needs."""
    wanted = ("low", "high", "published", "note")
    return [part for part in wanted if any(_part(cell, part) not in (None, "") for cell in cells)]


def _part(cell: Cell, part: str) -> str | float | None:
    if part == "published":
        return cell.published_value
    if part == "note":
        why = cell.text if cell.value is None and cell.text != "–" else ""
        return f"{why}{cell.marks}"
    return cell.low if part == "low" else cell.high


def _text(value: str | float | None) -> str:
    """Numbers with all their digits."""
    if isinstance(value, str):
        return _inert(value)
    return "" if value is None else repr(value)


def _inert(text: str) -> str:
    """Text that no spreadsheet takes for a formula, and no terminal obeys: it may be anyone's."""
    return printable(f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text)
