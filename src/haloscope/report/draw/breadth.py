# SPDX-License-Identifier: BSD-3-Clause
"""How wide a table is on paper, in characters, before anything lays it out."""

from __future__ import annotations

from math import inf

from haloscope.topics.common.table import Table

PRINTED = 128
"""PRINTED is the number of characters of a printed page's small type that stand side by side,
as tables of known width fill it."""
NAME = 36


def width(table: Table, index: int, most: float = inf) -> float:
    """About how many characters a column takes, with the space beside it."""
    column = table.columns[index]
    cells = [row[index] for row in table.rows]
    text = max((len(cell.text) + len(cell.marks) / 2 for cell in cells), default=0)
    if column.align == "left":
        text = min(text, most)
    spread = max((0.7 * len(cell.spread) for cell in cells), default=0)
    return max(len(column.title), text, spread) + 2


def print_zoom(table: Table) -> float:
    """By how much a printed page makes a table smaller, so that it is not cut off at its right."""
    whole = sum(width(table, index, most=NAME) for index in range(len(table.columns)))
    return min(1.0, PRINTED / whole)
