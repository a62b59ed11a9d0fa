# SPDX-License-Identifier: BSD-3-Clause
"""Published values of a table in separate rows or columns, for people.

In the data they belong to the cell that they are compared with, as in CSV files. For people a cell
has one value and one spread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf

from haloscope.topics.common.table import Cell, Column, Table, label

PRINTED = 128
"""Characters per line of a printed page's small type, as measured with tables of known width."""
NAME = 36


def width(table: Table, index: int, most: float = inf) -> float:
    """Return the approximate width of a column in characters, including the gap."""
    column = table.columns[index]
    cells = [row[index] for row in table.rows]
    text = max((len(cell.text) + len(cell.marks) / 2 for cell in cells), default=0)
    if column.align == "left":
        text = min(text, most)
    spread = max((0.7 * len(cell.spread) for cell in cells), default=0)
    return max(len(column.title), text, spread) + 2


def print_zoom(table: Table) -> float:
    """Return the factor by which a table must shrink to fit a printed page."""
    whole = sum(width(table, index, most=NAME) for index in range(len(table.columns)))
    return min(1.0, PRINTED / whole)


PUBLISHED, OVER = "published", "ratio"


def apart(table: Table) -> Table:
    """Return a table whose cells have only a value and a spread, without columns for CSV files."""
    table = _for_people(table)
    columns = [
        index
        for index in range(len(table.columns))
        if any(row[index].published or row[index].ratio for row in table.rows)
    ]
    published = [row for row in table.rows if any(row[index].published for index in columns)]
    if len(columns) == 1 and 2 * len(published) > len(table.rows):
        return _beside(table, columns[0])
    return _below(table) if columns else table


def _for_people(table: Table) -> Table:
    kept = [index for index, column in enumerate(table.columns) if not column.only_csv]
    if len(kept) == len(table.columns):
        return table
    rows = tuple(tuple(row[index] for index in kept) for row in table.rows)
    columns = tuple(table.columns[index] for index in kept)
    return replace(table, columns=columns, rows=rows, every=())


def _beside(table: Table, at: int) -> Table:
    own = table.columns[at]
    own_cells = [row[at] for row in table.rows]
    kinds = [PUBLISHED, *([OVER] if any(cell.ratio for cell in own_cells) else [])]
    added = [Column(f"{own.key}_{kind}", kind, own.group, own.align) for kind in kinds]

    def cells(cell: Cell) -> list[Cell]:
        parts = {PUBLISHED: Cell(None, cell.published), OVER: Cell(None, cell.ratio)}
        return [_alone(cell), *(parts[kind] for kind in kinds)]

    return replace(
        table,
        columns=(*table.columns[: at + 1], *added, *table.columns[at + 1 :]),
        rows=tuple((*row[:at], *cells(row[at]), *row[at + 1 :]) for row in table.rows),
        every=(),
    )


def _below(table: Table) -> Table:
    """Add a row below each row with published values."""
    stub = table.stub
    brief = any(not cell.text for row in table.rows for cell in row[: stub - 1])
    return replace(table, rows=tuple(one for row in table.rows for one in _rows(row, stub, brief)))


def _rows(row: Sequence[Cell], stub: int, brief: bool) -> Iterator[tuple[Cell, ...]]:
    yield tuple(map(_alone, row))
    data = row[stub:]
    for name, texts in (
        (PUBLISHED, [cell.published for cell in data]),
        (OVER, [cell.ratio for cell in data]),
    ):
        if any(texts):
            own = row[0].text if stub == 1 else ""
            above = (label(""),) * (stub - 1) if brief else tuple(row[: stub - 1])
            names = (*above, label(f"{own}, {name}" if own else name))
            yield (*names[:stub], *(Cell(None, text) for text in texts))


def _alone(cell: Cell) -> Cell:
    return replace(cell, published="", published_value=None, ratio="")
