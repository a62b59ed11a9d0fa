# SPDX-License-Identifier: BSD-3-Clause
"""A section of a report: tables and figures of one topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from haloscope.grouped import grouped
from haloscope.quantities import listed
from haloscope.topics.common.figure import Figure
from haloscope.topics.common.table import Table


@dataclass(frozen=True)
class Section:
    """One topic: its figures and tables, numbered from first_figure and first_table.

    unfolded: whether the page shows it without a click.
    """

    id: str
    title: str
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]
    first_figure: int = 1
    first_table: int = 1
    unfolded: bool = False

    @property
    def items(self) -> tuple[Figure | Table, ...]:
        """Its figures, then its tables."""
        return (*self.figures, *self.tables)

    def number(self, item: Table | Figure) -> int:
        """Return the number of one of its tables or figures in the whole report."""
        if isinstance(item, Table):
            return self.first_table + self.tables.index(item)
        return self.first_figure + self.figures.index(item)

    def called(self, item: Table | Figure) -> str:
        """Return "Table 3" or "Figure 1"."""
        return f"{'Table' if isinstance(item, Table) else 'Figure'} {self.number(item)}"


def numbers(names: Sequence[str]) -> str:
    """Return "Tables 1, 2 and 4", "Figures 1 and 2, Tables 3 to 7"."""
    pairs = [name.split() for name in names]
    return ", ".join(
        f"{kind}{'s' if len(own) > 1 else ''} {listed(_runs([int(number) for _, number in own]))}"
        for kind, own in grouped(pairs, lambda pair: pair[0]).items()
    )


def _runs(numbers: Sequence[int]) -> list[str]:
    """Abbreviate ascending numbers: at least three consecutive ones as a range: ["1", "3 to 7"]."""
    runs = [[n for _, n in own] for _, own in groupby(enumerate(numbers), lambda p: p[1] - p[0])]
    return [
        text
        for run in runs
        for text in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run))
    ]
