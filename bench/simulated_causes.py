# SPDX-License-Identifier: BSD-3-Clause
"""Five causes of errors, before they were modelled and now, each by the structure that shows it.

Errors are simulated over published time, less one; missing time is published less simulated, per
iteration. Cells that set a number are left out of the first three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from rich.console import Console
from turns import taken

from haloscope.analysis.validation.predictions import PredictedCell
from haloscope.predict.paper_validation import tables_of, validate
from haloscope.run.progress import Teller

OLDER, NEWER = "hpcf-2010-6", "hpcf-2018-10"
TABLES = {OLDER: ("4.1", "5.1"), NEWER: ("4.1", "6.1", "6.2", "6.3", "7.1", "7.2")}
MANY = (8, 16, 32, 64)
"""Nodes from which on the structures of tara do not change."""
FULL = 8
"""Cores of tara's nodes, and the ranks of one that is full."""
Before = dict[str, tuple[str, ...]]
"""What commit 3fe0aa3d simulated: by row, a figure per column."""
FREE_CORES: Before = {
    "1": ("-8 to -13", "-24 to -28", "-28 to -38"),
    "2": ("0", "-1 to -8", "-7 to -12"),
    "4": ("-5", "-8 to -14", "-10 to -39"),
    "8": ("0", "-1", "-0.7 to -4"),
}
STEP: Before = {
    "16.8": ("-1.4", "-3.8", "-4", "-3"),
    "8.4": ("-1.3", "-7.2", "-11", "-5"),
    "4.2": ("-2.9", "-7.4", "-1", "+31"),
    "2.1": ("-12", "-18", "-20", "-26"),
    "1.0": ("-8", "-22", "", ""),
}
SLOWEST: Before = {
    "8192": ("517", "306", "467", "469"),
    "16384": ("1354", "1022", "740", "616"),
}
SUMS: Before = {"1024": ("-18", "-31", "-27", "-30"), "2048": ("-10", "-20", "-26", "-66")}
HOPS: Before = {
    "2048": ("18", "18", "18", "18.4"),
    "4096": ("28", "30", "31", "31"),
    "8192": ("48", "53", "55", "58"),
    "16384": ("89", "98", "104", "111"),
}


def causes() -> list[str]:
    """The section of all five."""
    cells = {
        (paper, table): list(found(paper, table)) for paper in TABLES for table in TABLES[paper]
    }
    free, blocking = cells[OLDER, "4.1"], cells[OLDER, "5.1"]
    newer = [one for (paper, _), own in cells.items() if paper == NEWER for one in own]
    own = [one for one in free if judged(one) and key(one, "n") >= 8192]
    sizes = [one for one in newer if judged(one) and key(one, "nodes") > 1]
    one_table = [one for one in cells[NEWER, "4.1"] if judged(one) and key(one, "ppn") == FULL]
    full = [one for one in free if key(one, "ppn") == FULL]
    return [
        "## Five causes, before and after, by structure",
        "",
        f"{taken()} The earlier figures are from commit 3fe0aa3d. Tables 1 to 3 omit cells from "
        "which a number in a cluster file was derived.",
        "",
        "1. Processes on nodes with free cores. The table lists errors in per cent by "
        "processes per "
        "node, for n = 8192 and 16384 in table 4.1 of hpcf-2010-6 (tara).",
        "",
        *rows(
            FREE_CORES,
            ("2 nodes", "4 nodes", "8 to 64 nodes"),
            lambda row, column: span(
                error(one)
                for one in own
                if (str(key(one, "ppn")), on(key(one, "nodes"))) == (row, column)
            ),
        ),
        "2. The transition from memory to cache. The table lists median errors in per cent by "
        "million "
        "points per node, for cells on several nodes of hpcf-2018-10.",
        "",
        *rows(
            STEP,
            ("fewer than 16 cores", "16 cores and more", "table 7.1", "table 7.2"),
            lambda row, column: middle(
                error(one) for one in sizes if (points(one), where(one)) == (row, column)
            ),
        ),
        "3. The slowest of several nodes. The table lists the time per iteration that is "
        "missing in "
        "the simulation, in us by n, for 8 processes per node in table 4.1 of hpcf-2018-10. Cells "
        "without a second figure were used to derive a number.",
        "",
        *rows(
            SLOWEST,
            tuple(f"{nodes} nodes" for nodes in (2, 4, 8, 16)),
            lambda row, column: middle(
                1e6 * (one.published - predicted(one)) / one.iterations
                for one in one_table
                if (str(key(one, "n")), f"{key(one, 'nodes')} nodes") == (row, column)
            ),
        ),
        "4. Two sums and a halo on full nodes. The table lists errors in per cent by n, for table "
        "4.1 of hpcf-2010-6 (tara). A number was derived from the cell with n = 1024 on 16 nodes.",
        "",
        *rows(
            SUMS,
            tuple(f"{nodes} nodes" for nodes in MANY),
            lambda row, column: middle(
                error(one)
                for one in full
                if (str(key(one, "n")), f"{key(one, 'nodes')} nodes") == (row, column)
            ),
        ),
        "5. A hop of the blocking chain. The table lists the difference of the times in tables 5.1 "
        "and 4.1, divided by iterations x ranks, in us. Its rows and columns are n and processes "
        "per node, for 16 to 64 nodes of tara. The published values are in brackets.",
        "",
        *rows(
            HOPS,
            ("1", "2", "4", "8"),
            lambda row, column: hop(free, blocking, int(row), int(column)),
        ),
    ]


def found(paper: str, table: str) -> Iterator[PredictedCell]:
    """The cells of a table that were simulated."""
    for part in tables_of(paper, [table]):
        for cell in validate(part, Teller(Console(stderr=True))):
            if cell.predicted is not None:
                yield cell


def judged(cell: PredictedCell) -> bool:
    """Whether a cell has an error and set no number."""
    return cell.error is not None and not cell.fitted


def key(cell: PredictedCell, name: str) -> int:
    """One of the settings that tell it apart."""
    return int(cell.keys[name])


def predicted(cell: PredictedCell) -> float:
    """Its simulated seconds."""
    assert cell.predicted is not None
    return cell.predicted


def error(cell: PredictedCell) -> float:
    """In per cent, also where few digits are printed."""
    return 100 * (predicted(cell) / cell.published - 1)


def on(nodes: int) -> str:
    """A column of the first cause."""
    return "8 to 64 nodes" if nodes in MANY else f"{nodes} nodes"


def points(cell: PredictedCell) -> str:
    """Million points per node."""
    return f"{key(cell, 'n') ** 2 / key(cell, 'nodes') / 1e6:.1f}"


def where(cell: PredictedCell) -> str:
    """A column of the second cause."""
    if cell.table >= "7":
        return f"table {cell.table}"
    many = key(cell, "ppn") * key(cell, "threads") >= 16
    return "16 cores and more" if many else "fewer than 16 cores"


def span(values: Iterator[float]) -> str:
    """The least and the most of them."""
    known = [*values]
    ends = dict.fromkeys(f"{each(known):+.0f}" for each in (max, min)) if known else {}
    return " to ".join(ends)


def middle(values: Iterator[float]) -> str:
    """Their median."""
    known = [*values]
    return f"{median(known):+.0f}" if known else ""


def hop(free: Sequence[PredictedCell], blocking: Sequence[PredictedCell], n: int, ppn: int) -> str:
    """Of simulated and of published times: medians over numbers of nodes."""
    pairs = []
    for nodes in (16, 32, 64):
        keys = (n, nodes, ppn)
        own = [
            one
            for cells in (free, blocking)
            for one in cells
            if (key(one, "n"), key(one, "nodes"), key(one, "ppn")) == keys
        ]
        if len(own) == 2:
            each = 1e6 / (own[0].iterations * nodes * ppn)
            pairs.append(
                (
                    each * (predicted(own[1]) - predicted(own[0])),
                    each * (own[1].published - own[0].published),
                )
            )
    now, published = (median(one) for one in zip(*pairs, strict=True))
    return f"{now:.0f} ({published:.0f})"


def rows(before: Before, columns: Sequence[str], now: Callable[[str, str], str]) -> list[str]:
    """A table of figures before and now."""
    lines = [f"| | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for row, earlier in before.items():
        pairs = [
            ", now ".join(filter(None, (then, now(row, column))))
            for then, column in zip(earlier, columns, strict=True)
        ]
        lines.append(f"| {row} | {' | '.join(pairs)} |")
    return [*lines, ""]
