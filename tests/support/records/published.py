# SPDX-License-Identifier: BSD-3-Clause
"""One published value, for tests that need no more of its cell."""

from __future__ import annotations

from haloscope.papers.tables import PaperTable, PublishedValue, Scalar


def value(table: PaperTable, column: str = "time_s", **where: Scalar) -> PublishedValue:
    """The value of a cell; None if it is missing."""
    cell = table.cell(column, **where)
    return None if cell is None else cell.value
