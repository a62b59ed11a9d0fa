# SPDX-License-Identifier: BSD-3-Clause
"""Every table as a CSV file: exact values, the ends of their spread, published values, settings.

After its columns a row has the id of its case and that case's settings, so that it can be used
independently. A row of several cases has their ids and their common settings.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TextIO

from haloscope.errors import printable
from haloscope.paths import write_asked, write_whole
from haloscope.report.document import Document
from haloscope.report.draw.figures import Drawing
from haloscope.study.settings import Setting, Settings
from haloscope.topics.common.table import Cell, Table


def write(document: Document, _: Mapping[str, Sequence[Drawing]], directory: Path) -> Path:
    """Write tables/ID.csv for every table, ID.jsonl for those with points; return the path of
    tables/.
    """
    folder = directory / "tables"
    folder.mkdir(exist_ok=True)
    for old in (*folder.glob("*.csv"), *folder.glob("*.jsonl")):
        old.unlink()
    for table in document.tables:
        write_whole(folder / f"{table.id}.csv", _written(table, document.settings))
        for number, points in enumerate(table.points, start=1):
            name = f"{table.id}-{number}" if len(table.points) > 1 else table.id
            lines_of_points = (json.dumps(point) + "\n" for point in points)
            write_whole(folder / f"{name}.jsonl", "".join(lines_of_points))
    return folder


def print_rows(rows: Iterable[Sequence[Setting]], out: TextIO) -> None:
    """Write rows one by one, as they arrive."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([_text(value) for value in row] for row in rows)


def write_table(table: Table, path: Path, settings: Mapping[str, Settings] | None = None) -> None:
    """Write one table to a user's file. Raise UserError if it is not writable."""
    write_asked(path, _written(table, settings))


def _written(table: Table, settings: Mapping[str, Settings] | None = None) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(lines(table, settings or {}))
    return text.getvalue()


def lines(
    table: Table, settings: Mapping[str, Settings] = MappingProxyType({})
) -> Iterator[list[str]]:
    """Yield a header and one line per row. Missing values are empty, with a word in the column
    _note.
    """
    rows = table.every or table.rows
    cases = [
        list(dict.fromkeys(case for cell in row for case in cell.case.split())) for row in rows
    ]
    several = any(len({*(cell.case for cell in row if cell.case)}) > 1 for row in rows)
    extras = [_extras([row[k] for row in rows], several) for k in range(len(table.columns))]
    there = {column.key for column in table.columns}
    ids = dict.fromkeys(case for own in cases for case in own if case in settings)
    names = list(dict.fromkeys(name for case in ids for name in settings[case]))
    names = [name for name in names if name not in there]
    yield [
        *(
            _inert(name)
            for column, extra in zip(table.columns, extras, strict=True)
            for name in (column.key, *(f"{column.key}_{part}" for part in extra))
        ),
        *(["case_id", *map(_inert, names)] if ids else []),
    ]
    for row, own in zip(rows, cases, strict=True):
        yield [
            *(
                _text(value)
                for cell, extra in zip(row, extras, strict=True)
                for value in (cell.value, *(_part(cell, part) for part in extra))
            ),
            *(
                [" ".join(own), *(_text(_shared(own, name, settings)) for name in names)]
                * bool(ids)
            ),
        ]


def _shared(cases: Sequence[str], name: str, settings: Mapping[str, Settings]) -> Setting:
    """Return a setting that all of some cases share; None if they differ or lack it."""
    values = [settings[case].get(name) for case in cases if case in settings]
    return values[0] if values and all(value == values[0] for value in values) else None


def _extras(cells: Sequence[Cell], several: bool) -> list[str]:
    """Return the additional columns of a column. several: whether some row has several cases."""
    candidates = ("low", "high", "published", "note", *(("case_id",) if several else ()))
    return [
        part for part in candidates if any(_part(cell, part) not in (None, "") for cell in cells)
    ]


def _part(cell: Cell, part: str) -> str | float | None:
    if part == "case_id":
        return cell.case
    if part == "published":
        return cell.published_value
    if part == "note":
        why = cell.text if cell.value is None and cell.text != "–" else ""
        return f"{why}{cell.marks}"
    return cell.low if part == "low" else cell.high


def _text(value: Setting) -> str:
    """Format numbers with all their digits."""
    if isinstance(value, str):
        return _inert(value)
    return "" if value is None else repr(value)


def _inert(text: str) -> str:
    """Return text that no spreadsheet takes for a formula, and without control characters."""
    return printable(f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text)
