# SPDX-License-Identifier: BSD-3-Clause
"""Cells that statements are tested on: settings, and what each value may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from haloscope.papers.statements import Statement
from haloscope.papers.tables import PaperTable, PublishedColumn, PublishedValue, exact_times, load

MEASURES = (
    "time_s",
    "latency_s",
    "mlups",
    "time_low_s",
    "variability_percent",
    "difference_percent",
)
"""MEASURES are the columns that expectations are about where they name none, the first there is."""


@dataclass(frozen=True)
class KnownCell:
    """A cell's settings, with its table, and what it may be: a number, or what prints so.

    telling: the settings that tell it from others of its table.
    fitted: whether it set a number of a cluster file that predicts it.
    """

    keys: Mapping[str, object]
    telling: tuple[str, ...]
    low: float
    high: float
    fitted: bool = False

    @property
    def identity(self) -> tuple[object, ...]:
        """What tells it from all other cells of a paper."""
        return (self.keys["table"], *(self.keys[key] for key in self.telling))


def published_cells(paper: str, one: Statement) -> list[KnownCell]:
    """The cells of a statement's tables, with what their printed digits leave open."""
    return [cell for name in one.tables for cell in _cells(load(paper).table(name), one.column)]


def measure(table: PaperTable, column: str) -> str | None:
    """The column of a table that a statement is about; None for a table without one."""
    if column:
        return column if column in table.columns else None
    return next((name for name in MEASURES if name in table.columns), None)


def _cells(table: PaperTable, column: str) -> Iterator[KnownCell]:
    name = measure(table, column)
    exact = exact_times(table) if name == "time_s" else {}
    rows: list[tuple[Mapping[str, PublishedValue], tuple[float, float]]] = []
    for row in table.rows:
        key = tuple(row[one] for one in table.keys)
        if more := exact.pop(key, None):
            rows.append((more.row, (more.time_s - more.step_s / 2, more.time_s + more.step_s / 2)))
        elif name is not None:
            where = {one: value for one in table.keys if (value := row[one]) is not None}
            cell = table.cell(name, **where)
            if cell is not None and cell.low is not None and cell.high is not None:
                rows.append((row, (cell.low, cell.high)))
    for more in exact.values():
        rows.append((more.row, (more.time_s - more.step_s / 2, more.time_s + more.step_s / 2)))
    for row, (low, high) in rows:
        yield KnownCell(keys_of(table, row), table.keys, low, high)


def keys_of(table: PaperTable, row: Mapping[str, PublishedValue]) -> dict[str, object]:
    """What statements tell cells apart by: keys, other settings, facts, and the table."""
    columns = table.columns
    settings = {
        key: value
        for key, value in row.items()
        if key in table.keys or key not in columns or _setting(columns[key])
    }
    return {**table.facts, **settings, "table": table.id}


def _setting(column: PublishedColumn) -> bool:
    """Whether a column is a setting, not a figure that was measured."""
    return column.type in ("integer", "text") and not column.unit
