# SPDX-License-Identifier: BSD-3-Clause
"""A table as data, which reports, terminals, and CSV files draw without computing anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from haloscope.quantities import number

CellValue = str | int | float | None
Tone = Literal["", "warning", "good", "bad"]


@dataclass(frozen=True)
class Cell:
    """One cell.

    value: exact value, in the unit of its column; None without one. text: displayed value, with its
    unit if the column has none. low, high: ends of the interval or range, in the unit of value.
    spread: the same as displayed; the table's notes explain its kind. published: displayed
    published counterpart; published_value: the same as a number; published_ends: range implied by
    its printed digits. unlike: whether the published
    value is for another solver or memory. ratio: ours over the published one, as displayed. marks:
    signs explained in the table's notes, such as "†". tone: "warning" if something is missing or
    wrong, "good" or "bad" for verdicts. case: id of its case; several ids are separated by blanks.
    """

    value: CellValue
    text: str
    low: float | None = None
    high: float | None = None
    spread: str = ""
    published: str = ""
    published_value: float | None = None
    published_ends: tuple[float, float] | None = None
    unlike: bool = False
    ratio: str = ""
    marks: str = ""
    tone: Tone = ""
    case: str = ""


@dataclass(frozen=True)
class Column:
    """One column: its key in CSV files (with the unit), its title, and a common title of several.

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

    id is unique within a report and usable as a file name; kind is one that a study can request;
    notes explain the spread, exclusions with reasons, and sources of published values. folded:
    details that a page opens on demand, and that are complete only in the CSV file. points:
    underlying data for other programs, one object per line, written to ID.jsonl (ID-1.jsonl and so
    on if there are several). every: rows of the CSV file if it has more, such as one per size of a
    sweep.
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
        """Check that every row has a cell for every column."""
        for row in (*self.rows, *self.every):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"table {self.id}: {len(row)} cells for {len(self.columns)} columns"
                )


NODE_TIME = Column("node_s", "nodes × step")
"""NODE_TIME is the column of the cost of a step, in node-seconds."""


def label(text: str, value: CellValue = None, case: str = "") -> Cell:
    """Return a cell that names its row. case: as in a cell."""
    return Cell(text if value is None else value, text, case=case)


def plain(value: CellValue, text: str | None = None) -> Cell:
    """Return a cell without spread."""
    return Cell(value, str(value) if text is None else text)


def missing(text: str = "–", warn: bool = False) -> Cell:
    """Return an empty cell with a word that gives the reason."""
    return Cell(None, text, tone="warning" if warn else "")


def shown(value: float | None, show: Callable[[float], str]) -> Cell:
    """Return a number without spread in the words of `show`; an empty cell for None."""
    return missing() if value is None else Cell(value, show(value))


def times(ratio: float | None) -> Cell:
    """Return a ratio: "1.20 ×"; an empty cell for None."""
    return shown(ratio, lambda value: f"{number(value)} ×")


def joined(tables: Sequence[Table]) -> Table:
    """Return one table of the rows of several, for programs; columns with equal keys are merged."""
    columns = {column.key: column for table in tables for column in table.columns}
    rows = []
    for table in tables:
        for row in table.rows:
            cells = {column.key: cell for column, cell in zip(table.columns, row, strict=True)}
            rows.append(tuple(cells.get(key, missing()) for key in columns))
    first = tables[0]
    return Table(first.id, first.kind, first.title, tuple(columns.values()), tuple(rows))


def lettered(tables: Sequence[Table]) -> list[Table]:
    """Number sub-tables like the papers, (a), (b) ...; a single one has no letter."""
    if len(tables) < 2:
        return list(tables)
    return [
        replace(table, title=f"({chr(ord('a') + index)}) {table.title}") if index < 26 else table
        for index, table in enumerate(tables)
    ]
