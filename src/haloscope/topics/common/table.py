# SPDX-License-Identifier: BSD-3-Clause
"""A table as data: what reports, terminals and CSV files draw without computing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

CellValue = str | int | float | None
Tone = Literal["", "warning", "good", "bad"]


@dataclass(frozen=True)
class Cell:
    """One cell.

    value:     the exact value, in the unit of its column; None where there is none.
    text:      the value for people, with its unit where the column has none.
    low, high: the ends of the interval or range, in the unit of value.
    spread:    the same for people; the table's notes say what kind it is.
    published: the published counterpart for people; published_value, the same as a number.
    unlike:    whether what was published is of another solver, or of another memory.
    ratio:     ours over the published one, for people.
    marks:     signs that the table's notes explain, as "†".
    tone:      "warning" where something is missing or wrong, "good" or "bad" for verdicts.
    case:      the id of the case that it is of; of several, their ids with blanks between them.
    """

    value: CellValue
    text: str
    low: float | None = None
    high: float | None = None
    spread: str = ""
    published: str = ""
    published_value: float | None = None
    unlike: bool = False
    ratio: str = ""
    marks: str = ""
    tone: Tone = ""
    case: str = ""


@dataclass(frozen=True)
class Column:
    """One column: its key in CSV files (with the unit), its title, the title above several.

    only_csv: for programs, not for people.
    """

    key: str
    title: str
    group: str = ""
    align: Literal["left", "right"] = "right"
    only_csv: bool = False


@dataclass(frozen=True)
class Table:
    """A table: `stub` leading columns name the rows, the others hold data.

    id is unique within a report and fit for a file's name; kind is one of those a study can ask
    for; notes say what the spread is, what was left out and why, where published values are from.
    folded: details that a page opens on demand and that stand whole in the CSV file alone.
    points: what it was made from, for other programs, an object a line: written to ID.jsonl; of
            several files the first to ID-1.jsonl.
    every:  the rows of its CSV file where these are more, such as one per size of a sweep.
    """

    id: str
    kind: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    stub: int = 1
    folded: bool = False
    points: tuple[tuple[Mapping[str, Any], ...], ...] = ()
    every: tuple[tuple[Cell, ...], ...] = ()

    def __post_init__(self) -> None:
        """Every row has a cell for every column."""
        for row in (*self.rows, *self.every):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"table {self.id}: {len(row)} cells for {len(self.columns)} columns"
                )


NODE_TIME = Column("node_s", "nodes × step")
"""NODE_TIME is the column of what a step costs, in node-seconds."""


def label(text: str, value: CellValue = None, case: str = "") -> Cell:
    """A cell that names its row. case: as of a cell."""
    return Cell(text if value is None else value, text, case=case)


def plain(value: CellValue, text: str | None = None) -> Cell:
    """A cell without spread."""
    return Cell(value, str(value) if text is None else text)


def missing(text: str = "–", warn: bool = False) -> Cell:
    """A cell with nothing in it, and a word that says why."""
    return Cell(None, text, tone="warning" if warn else "")


def joined(tables: Sequence[Table]) -> Table:
    """One table of the rows of several, for programs: columns of one key are one column."""
    columns = {column.key: column for table in tables for column in table.columns}
    rows = []
    for table in tables:
        for row in table.rows:
            cells = {column.key: cell for column, cell in zip(table.columns, row, strict=True)}
            rows.append(tuple(cells.get(key, missing()) for key in columns))
    first = tables[0]
    return Table(first.id, first.kind, first.title, tuple(columns.values()), tuple(rows))


def lettered(tables: Sequence[Table]) -> list[Table]:
    """Sub-tables with the papers' letters before their titles: (a), (b) ...; one alone has none."""
    if len(tables) < 2:
        return list(tables)
    return [
        replace(table, title=f"({chr(ord('a') + index)}) {table.title}") if index < 26 else table
        for index, table in enumerate(tables)
    ]
