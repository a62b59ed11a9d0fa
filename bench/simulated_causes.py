# SPDX-License-Identifier: BSD-3-Clause
"""Five causes of errors, before they were modelled and now, each by the structure that shows it.

Errors are simulated over published time, less one; missing time is published less simulated, of an
iteration. Cells that set a number are left out, but for the times and hops that are named so.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from turns import taken

from haloscope.analysis.predictions import PredictedCell
from haloscope.predict.paper_validation import tables_of, validate
from haloscope.quantities import size
from haloscope.run.progress import Teller

OLDER, NEWER = "hpcf-2010-6", "hpcf-2018-10"
TABLES = {OLDER: ("4.1", "5.1"), NEWER: ("4.1", "6.1", "6.2", "6.3", "7.1", "7.2")}
MANY = (8, 16, 32, 64)
"""Nodes from which on the structures of tara do not change."""
FULL = 8
"""Cores of tara's nodes, and the ranks of one that is full."""


@dataclass(frozen=True)
class Both:
    """A cell as it is predicted now, and before."""

    paper: str
    cell: PredictedCell
    before_s: float

    def key(self, name: str) -> int:
        """One of the settings that tell it apart."""
        return int(self.cell.keys[name])

    @property
    def pair(self) -> tuple[float, float]:
        """Simulated seconds, before and now."""
        assert self.cell.predicted is not None
        return self.before_s, self.cell.predicted

    def errors(self) -> tuple[float, ...]:
        """Before and now, in per cent."""
        return tuple(100 * (one / self.cell.published - 1) for one in self.pair)

    def missing_us(self) -> tuple[float, ...]:
        """Of an iteration, before and now."""
        return tuple(1e6 * (self.cell.published - s) / self.cell.iterations for s in self.pair)


def causes(before: Mapping[str, Path]) -> list[str]:
    """The section. before: by paper, what validate --csv wrote of an earlier model."""
    tell = Teller(Console(stderr=True))
    every = [one for paper in TABLES for one in known(paper, before[paper], tell)]
    free = [one for one in every if not one.cell.fitted and one.cell.error is not None]
    older = [one for one in free if one.paper == OLDER and one.cell.table == "4.1"]
    newer = [one for one in free if one.paper == NEWER]
    full = [one for one in every if one.paper == OLDER and one.key("ppn") == FULL]
    return [
        "## Five causes, before and after, by structure",
        "",
        f"{taken()} Before: commit 3fe0aa3d. Pairs are medians before and now; cells that set a "
        "number are left out of 1 to 3. Nodes of several ranks on one core are not among them.",
        "",
        "1. Unbound processes on nodes with free cores, tara, table 4.1 of hpcf-2010-6, n = 8192 "
        "and 16384. Error, per cent:",
        "",
        *by_two(
            [one for one in older if one.key("n") >= 8192],
            "processes per node",
            lambda one: one.key("ppn"),
            lambda one: nodes_of(one.key("nodes")),
            Both.errors,
        ),
        "2. The step from memory to cache, hpcf-2018-10, several nodes. Error, per cent, by "
        "million points per node:",
        "",
        *by_two(
            [one for one in newer if one.key("nodes") > 1],
            "million points",
            lambda one: round(one.key("n") ** 2 / one.key("nodes") / 1e6, 1),
            where,
            Both.errors,
        ),
        "3. The slowest of several nodes, hpcf-2018-10. Missing time of an iteration, us:",
        "",
        *by_two(
            [one for one in newer if one.cell.table < "7"],
            "table",
            lambda one: one.cell.table,
            lambda one: f"{one.key('nodes'):2d} nodes",
            Both.missing_us,
        ),
        "4. Two sums and a halo on full nodes of tara, table 4.1 of hpcf-2010-6. Time of an "
        "iteration, us; published, before, now (set: this cell set a number):",
        "",
        *iterations([one for one in full if one.cell.table == "4.1"]),
        "5. A hop of the blocking chain, tara, 16 to 64 nodes: (table 5.1 - table 4.1) / "
        "(iterations x ranks), us; published, before, now. Cells that set a number are among them:",
        "",
        *hops([one for one in every if one.paper == OLDER]),
    ]


def known(paper: str, before: Path, tell: Teller) -> Iterable[Both]:
    """The cells of a paper that both models predicted."""
    with before.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["predicted"]]
    names = ("n", "nodes", "ppn", "threads")
    earlier = {
        (row["table"], *(int(row[name]) for name in names)): float(row["predicted"])
        for row in rows
        if row["table"] in TABLES[paper]
    }
    for table in tables_of(paper, TABLES[paper]):
        for cell in validate(table, tell):
            key = (cell.table, *(int(cell.keys[name]) for name in names))
            if cell.predicted is not None and key in earlier:
                yield Both(paper, cell, earlier[key])


def nodes_of(number: int) -> str:
    """A column."""
    return "8 to 64 nodes" if number in MANY else f"{number} node{'s' if number > 1 else ''}"


def where(one: Both) -> str:
    """A column of the second cause."""
    if one.cell.table >= "7":
        return f"table {one.cell.table}"
    many = one.key("ppn") * one.key("threads") >= 16
    return f"4.1, 6.1 to 6.3, {'16 cores and more' if many else 'fewer than 16 cores'}"


def by_two(
    cells: Sequence[Both],
    title: str,
    row: Callable[[Both], float | str],
    column: Callable[[Both], str],
    figures: Callable[[Both], tuple[float, ...]],
) -> list[str]:
    """A table of medians, before and now."""
    columns = sorted({column(one) for one in cells})
    lines = [f"| {title} | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for name in sorted({row(one) for one in cells}):
        texts = []
        for each in columns:
            own = [figures(one) for one in cells if (row(one), column(one)) == (name, each)]
            pair = [median(one) for one in zip(*own, strict=True)]
            texts.append(", ".join(f"{one:+.0f}" for one in pair))
        lines.append(f"| {name} | {' | '.join(texts)} |")
    return [*lines, ""]


def iterations(cells: Sequence[Both]) -> list[str]:
    """The fourth cause's times."""
    lines = ["| n | " + " | ".join(f"{one} nodes" for one in MANY) + " |"]
    lines.append(f"|---|{'---|' * len(MANY)}")
    for n in (1024, 2048):
        texts = []
        for nodes in MANY:
            own = next(one for one in cells if (one.key("n"), one.key("nodes")) == (n, nodes))
            each = [1e6 * s / own.cell.iterations for s in (own.cell.published, *own.pair)]
            texts.append(", ".join(f"{us:.0f}" for us in each) + " set" * own.cell.fitted)
        lines.append(f"| {n} | {' | '.join(texts)} |")
    return [*lines, ""]


def hops(cells: Sequence[Both]) -> list[str]:
    """The fifth cause's: medians over numbers of nodes."""
    found = {(one.cell.table, one.key("n"), one.key("nodes"), one.key("ppn")): one for one in cells}
    ppns = sorted({one.key("ppn") for one in cells})
    lines = ["| message | " + " | ".join(f"{one} per node" for one in ppns) + " |"]
    lines.append(f"|---|{'---|' * len(ppns)}")
    for n in sorted({one.key("n") for one in cells}):
        texts = []
        for ppn in ppns:
            own = []
            for nodes in (one for one in MANY if one >= 16):
                free, blocking = (found.get((t, n, nodes, ppn)) for t in TABLES[OLDER])
                if free is None or blocking is None:
                    continue
                pairs = zip(
                    (free.cell.published, *free.pair),
                    (blocking.cell.published, *blocking.pair),
                    strict=True,
                )
                hop = 1e6 / (free.cell.iterations * nodes * ppn)
                own.append([hop * (b - a) for a, b in pairs])
            texts.append(", ".join(f"{median(one):.0f}" for one in zip(*own, strict=True)))
        lines.append(f"| {size(8 * n)} | {' | '.join(texts)} |")
    return [*lines, ""]
