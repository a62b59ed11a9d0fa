# SPDX-License-Identifier: BSD-3-Clause
"""Whether reports of two versions have the same numbers, matched by content.

    python tests/support/same_numbers.py BEFORE AFTER

BEFORE and AFTER hold result folders of the same names, reported by two versions of haloscope.
Tables are not matched by name: all rows of a table of BEFORE are searched in each table of AFTER.
Prints a line per report, and each table whose numbers were not found; exit code 1 if there is one,
2 if BEFORE has no table.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

_NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?")
_CASE = re.compile(r"\b[0-9a-f]{12}\b")
_TYPE = re.compile(r"np\.float64(?=\()")  # printed by earlier versions


Row = Counter[str]
"""Row has the numbers of a row, to nine digits."""


def rows(table: Path) -> list[Row]:
    """Return the rows of a table that have numbers, without its head."""
    lines = list(csv.reader(table.read_text(encoding="utf-8").splitlines()))[1:]
    read = [_row(" ; ".join(cells).replace("−", "-")) for cells in lines]
    return [row for row in read if row]


def _row(text: str) -> Row:
    numbers = _NUMBER.findall(_TYPE.sub("", _CASE.sub("", text)))
    return Counter(f"{float(one.replace(',', '')):.9g}" for one in numbers)


def is_found(table: list[Row], after: Iterable[list[Row]]) -> bool:
    """Return whether one table has the numbers of each row of a table in a row."""
    return any(all(_in(row, other) for row in table) for other in after)


def _in(row: Row, table: list[Row]) -> bool:
    return any(row <= other for other in table)


def compared(before: Path, after: Path) -> dict[str, bool]:
    """Return whether each table of a report is found, by its file name."""
    new = [rows(path) for path in sorted((after / "tables").glob("*.csv"))]
    old = sorted((before / "tables").glob("*.csv"))
    return {path.name: is_found(rows(path), new) for path in old}


def main(before: Path, after: Path) -> int:
    """Print how many tables of each report are found, and the names of the others."""
    results: list[bool] = []
    for report in sorted(path for path in before.iterdir() if (path / "tables").is_dir()):
        found = compared(report, after / report.name)
        results += found.values()
        print(f"{report.name}: {sum(found.values())} of {len(found)} tables found")
        for name in (name for name, one in found.items() if not one):
            print(f"  {name}")
    return 2 if not results else int(not all(results))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
