# SPDX-License-Identifier: BSD-3-Clause
"""Cells on which statements are evaluated: settings, and the possible range of each value."""

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
"""MEASURES are the columns compared by expectations that name none; the first existing
one is used.
"""


@dataclass(frozen=True)
class KnownCell:
    """A cell's settings with its table, and its value or the range implied by rounding.

    telling: settings that distinguish it from others of its table. fitted: whether it set a number
    of a cluster file that predicts it.
    """

    keys: Mapping[str, object]
    telling: tuple[str, ...]
    low: float
    high: float
    fitted: bool = False

    @property
    def identity(self) -> tuple[object, ...]:
        """What distinguishes it from all other cells of a paper."""
        return (self.keys["table"], *(self.keys[key] for key in self.telling))


def published_cells(paper: str, one: Statement) -> list[KnownCell]:
    """Return the cells of a statement's tables, with the ranges implied by the printed digits."""
    return [cell for name in one.tables for cell in _cells(load(paper).table(name), one.column)]


def measure(table: PaperTable, column: str) -> str | None:
    """Return the column of a table that a statement is about; None without one."""
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
    """Return the values by which statements select cells: keys, other settings, facts, and the
    table.
    """
    columns = table.columns
    settings = {
        key: value
        for key, value in row.items()
        if key in table.keys or key not in columns or _setting(columns[key])
    }
    return {**table.facts, **settings, "table": table.id}


def _setting(column: PublishedColumn) -> bool:
    """Return whether a column is a setting rather than a measured value."""
    return column.type in ("integer", "text") and not column.unit
