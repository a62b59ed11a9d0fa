# SPDX-License-Identifier: BSD-3-Clause
"""Whether reports of two versions have the same numbers, matched by content.

    python tests/support/same_numbers.py BEFORE AFTER

BEFORE and AFTER hold result folders of the same names, reported by two versions of haloscope.
Tables are not matched by name: each row of a table of BEFORE is searched in all tables of AFTER.
Prints a line per report, and each table whose numbers were not found; exit code 1 if there is one,
2 if BEFORE has no table.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PLACES = ("one table", "rows of several tables", "columns of several tables", "not found")
_NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?")
_CASE = re.compile(r"\b[0-9a-f]{12}\b")
_TYPE = re.compile(r"np\.float64(?=\()")  # printed by earlier versions


@dataclass(frozen=True)
class Row:
    """The numbers of a row to nine digits, and the ids of its cases."""

    numbers: Counter[str]
    cases: frozenset[str]


def rows(table: Path) -> list[Row]:
    """Return the rows of a table that have numbers, without its head."""
    lines = list(csv.reader(table.read_text(encoding="utf-8").splitlines()))[1:]
    read = [_row(" ; ".join(cells).replace("−", "-")) for cells in lines]
    return [row for row in read if row.numbers]


def _row(text: str) -> Row:
    numbers = _NUMBER.findall(_TYPE.sub("", _CASE.sub("", text)))
    return Row(
        Counter(f"{float(one.replace(',', '')):.9g}" for one in numbers),
        frozenset(_CASE.findall(text)),
    )


def place(table: list[Row], after: Iterable[list[Row]]) -> str:
    """Return where the numbers of a table are, one of PLACES."""
    tables = list(after)
    if any(all(_in(row, other) for row in table) for other in tables):
        return PLACES[0]
    every = [row for other in tables for row in other]
    if all(_in(row, every) for row in table):
        return PLACES[1]
    by_cases: defaultdict[frozenset[str], Counter[str]] = defaultdict(Counter)
    for row in every:
        by_cases[row.cases] += row.numbers
    found = all(row.numbers <= by_cases[row.cases] or _in(row, every) for row in table)
    return PLACES[2] if found else PLACES[3]


def _in(row: Row, table: list[Row]) -> bool:
    return any(row.numbers <= other.numbers for other in table)


def compared(before: Path, after: Path) -> dict[str, str]:
    """Return the place of each table of a report, by its file name."""
    new = [rows(path) for path in sorted((after / "tables").glob("*.csv"))]
    return {path.name: place(rows(path), new) for path in sorted((before / "tables").glob("*.csv"))}


def main(before: Path, after: Path) -> int:
    """Print where the tables of each report are."""
    counts: Counter[str] = Counter()
    for report in sorted(path for path in before.iterdir() if (path / "tables").is_dir()):
        places = compared(report, after / report.name)
        found = Counter(places.values())
        counts += found
        print(f"{report.name}: " + ", ".join(f"{found[one]} {one}" for one in PLACES if found[one]))
        for name in (name for name, one in places.items() if one == PLACES[3]):
            print(f"  {name}")
    return 2 if not counts else bool(counts[PLACES[3]])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
