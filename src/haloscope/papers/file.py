# SPDX-License-Identifier: BSD-3-Clause
"""Read and validate papers/<id>/paper.toml and its CSV files, reporting all problems at once."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO, TextIOWrapper
from math import isfinite
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import (
    ConfigDict,
    Field,
    PositiveFloat,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
)
from pydantic_core import ErrorDetails

from haloscope import toml
from haloscope.errors import Problem, UserError, dotted, nearest, reject
from haloscope.paths import opened, require_utf8
from haloscope.quantities import count

Scalar = int | float | str
PublishedValue = int | float | str | None


@dataclass(frozen=True)
class PublishedColumn:
    """The content of a column.

    unit: empty for counts, ratios, and words. signed: whether numbers with a unit may be below 0.
    printed: the column with the text as printed, if it is another one (HH:MM:SS).
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    type: Literal["integer", "real", "text"]
    meaning: str
    unit: str = ""
    printed: str | None = None
    signed: bool = False


@dataclass(frozen=True)
class Form:
    """The printed layout of a table.

    split: column with one sub-table per value, or None. rows, across: columns whose values head the
    rows, and the column that heads the columns. cells: columns shown in the cells, with one grid
    each.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    rows: tuple[str, ...]
    across: str
    cells: tuple[str, ...]
    split: str | None = None


@dataclass(frozen=True)
class Speedups:
    """Tables of speedups over serial times, which give a table's times with more digits."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    serial: str
    tables: tuple[str, ...]


@dataclass(frozen=True)
class TableMachine:
    """One machine of a table with several: its cluster file, and the values of its rows."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    cluster_file: str
    where: dict[str, StrictInt | StrictStr]


class _File(toml.TomlTable, allow_inf_nan=False):
    """A table of a paper's file."""


class TableFile(_File):
    """A [[tables]] entry. The keys have the meaning of the attributes of papers.PaperTable."""

    id: str
    kind: str
    caption: str
    file: str
    columns: tuple[str, ...] = Field(min_length=1)
    keys: tuple[str, ...] = Field(min_length=1)
    form: Form | None = None
    resolution_s: PositiveFloat | None = None
    notes: tuple[str, ...] = ()
    omitted: tuple[str, ...] = ()
    speedups: Speedups | None = None
    not_predicted: str | None = None
    machines: tuple[TableMachine, ...] = ()
    facts: dict[str, StrictInt | StrictFloat | StrictStr]


class PaperFile(_File):
    """The content of a paper.toml."""

    id: str
    title: str
    authors: tuple[str, ...] = Field(min_length=1)
    year: StrictInt
    report: str
    notes: tuple[str, ...] = ()
    columns: dict[str, PublishedColumn]
    tables: tuple[TableFile, ...] = Field(min_length=1)


def read_paper(path: Path) -> PaperFile:
    """Read and validate a paper.toml. Raise UserError with all problems."""
    try:
        paper = PaperFile.model_validate(toml.read(path, "give the file of a paper")[1])
    except ValidationError as error:
        details = toml.worth_reporting(error.errors())
        raise UserError([_problem(path, one) for one in details]) from error
    reject(_inconsistencies(path, paper))
    return paper


def read_rows(
    path: Path, table: TableFile, columns: Mapping[str, PublishedColumn]
) -> tuple[tuple[Mapping[str, str], ...], tuple[Mapping[str, PublishedValue], ...]]:
    """Return the rows of a CSV file as written, and as values of their columns' types.

    Raise UserError, with all problems, if the file is missing, its header differs from the table's
    columns, a number is invalid, or two rows have the same keys.
    """
    if not path.exists():
        remedy = f"add the file, or correct 'file' of table {table.id}"
        raise UserError(Problem(str(path), "file not found", remedy))
    header, *lines = _lines(path)
    if tuple(header) != table.columns:
        what = f"the header {','.join(header)} does not match paper.toml"
        remedy = f"change the header to {','.join(table.columns)}"
        raise UserError(Problem(str(path), what, remedy))
    texts = tuple(dict(zip(header, line, strict=False)) for line in lines)
    reject(_row_problems(path, table, lines, columns))
    rows = tuple({name: _value(text[name], columns[name]) for name in header} for text in texts)
    return texts, rows


def _lines(path: Path) -> list[list[str]]:
    try:
        with opened(path) as binary:
            require_utf8(path, binary.peek(4))
            stream = TextIOWrapper(binary, encoding="utf-8-sig", newline="")
            text = stream.read(toml.LENGTH_LIMIT + 1)
        if len(text) > toml.LENGTH_LIMIT:
            what = f"has more than {toml.LENGTH_LIMIT:,} characters"
            raise UserError(Problem(str(path), what, "give the table as printed"))
        lines = list(csv.reader(StringIO(text, newline=""), strict=True))
    except UnicodeDecodeError as error:
        what = f"the file is not UTF-8: byte 0x{error.object[error.start]:02x} ({error.reason})"
        raise UserError(Problem(str(path), what, "save it as UTF-8")) from error
    except csv.Error as error:
        raise UserError(Problem(str(path), f"invalid CSV: {error}", "correct the file")) from error
    if not lines:
        remedy = "write the column names in the first line"
        raise UserError(Problem(str(path), "the file is empty", remedy))
    return lines


def _value(text: str, column: PublishedColumn) -> PublishedValue:
    """Parse a value; None for an empty text and for a bound such as <0.01."""
    if text == "" or (column.type != "text" and text.startswith("<")):
        return None
    if column.type == "text":
        return text
    return int(text) if column.type == "integer" else float(text)


def _problem(path: Path, detail: ErrorDetails) -> Problem:
    where, remedy = f"{path}: {dotted(detail['loc'])}", "see the keys in docs/schemas/paper.json"
    table, *_ = toml.look_up(PaperFile, detail["loc"])
    return toml.translated(where, detail, toml.keys_of(table), remedy)


def _inconsistencies(path: Path, paper: PaperFile) -> Iterator[Problem]:
    if paper.id != path.parent.name:
        yield Problem(
            f"{path}: id",
            f"'{paper.id}' differs from the folder name, '{path.parent.name}'",
            f'set id = "{path.parent.name}"',
        )
    ids = [table.id for table in paper.tables]
    for twice in sorted({one for one in ids if ids.count(one) > 1}):
        yield Problem(
            f"{path}: tables", f"two tables have the id '{twice}'", "give each table a unique id"
        )
    printed = [column.printed for column in paper.columns.values() if column.printed]
    yield from _unknown(f"{path}: columns", printed, paper.columns)
    for table in paper.tables:
        if table.speedups:
            named = [table.speedups.serial, *table.speedups.tables]
            for name in (name for name in named if name not in ids):
                remedy = nearest(name, ids)
                yield Problem(f"{path}: table {table.id}", f"unknown table '{name}'", remedy)
        where = f"{path}: table {table.id}"
        yield from _unknown(where, table.columns, paper.columns)
        yield from _unknown(where, table.keys, table.columns)
        yield from _unknown(where, _form_names(table.form), table.columns)
        for machine in table.machines:
            yield from _unknown(f"{where}: machines", machine.where, table.columns)
        for name in sorted(table.facts.keys() & set(table.columns)):
            yield Problem(
                where, f"'{name}' is both a column and a key in 'facts'", "remove one of them"
            )


def _form_names(form: Form | None) -> tuple[str, ...]:
    if form is None:
        return ()
    return (*form.rows, form.across, *form.cells, *([form.split] if form.split else []))


def _unknown(where: str, names: Iterable[str], known: Iterable[str]) -> Iterator[Problem]:
    known = list(known)
    for name in names:
        if name not in known:
            yield Problem(where, f"unknown column '{name}'", nearest(name, known))


def _row_problems(
    path: Path, table: TableFile, lines: list[list[str]], columns: Mapping[str, PublishedColumn]
) -> Iterator[Problem]:
    seen: set[tuple[str, ...]] = set()
    remedy: str | None
    for number, line in enumerate(lines, start=2):
        where = f"{path}:{number}"
        if len(line) != len(table.columns):
            what = f"this row has {count(len(line), 'cell')}, but the table has "
            what += count(len(table.columns), "column")
            yield Problem(where, what, "give one cell per column")
            continue
        text = dict(zip(table.columns, line, strict=True))
        key = tuple(text[name] for name in table.keys)
        if key in seen or "" in key:
            same = ", ".join(f"{name} = {text[name]}" for name in table.keys)
            what = f"an earlier row also has {same}" if key in seen else "a key column is empty"
            remedy = "add columns to 'keys' in paper.toml until they identify each row"
            yield Problem(where, what, remedy)
        seen.add(key)
        for name, cell in text.items():
            try:
                value = _value(cell, columns[name])
            except ValueError:
                remedy = f"give a value of the type '{columns[name].type}'"
                yield Problem(where, f"the value '{cell}' of '{name}' is invalid", remedy)
                continue
            if isinstance(value, int | float) and (remedy := _impossible(value, columns[name])):
                yield Problem(where, f"the value '{cell}' of '{name}' is invalid", remedy)


def _impossible(value: float, column: PublishedColumn) -> str | None:
    """Return the remedy for a number that is impossible in a table, or None. A fit's cost may be
    negative, a time not.
    """
    if not isfinite(value):
        return "give a finite number"
    if column.unit and value < 0 and not column.signed:
        return f"give at least 0 {column.unit}, or set signed = true to allow negative values"
    return None
