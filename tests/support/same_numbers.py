# SPDX-License-Identifier: BSD-3-Clause
"""Whether two sets of reports have the same numbers: every table's CSV, points and figures.

    python tests/support/same_numbers.py BEFORE AFTER [--values]

BEFORE and AFTER hold result folders of the same names, reported by two versions of haloscope.
Prints every file that differs or is missing; exit code 1 where there is one, 2 where BEFORE has
no table at all. With --values, prints a line per report instead: how many tables of both versions
have the same numbers, whatever their words and the order of their columns.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

COMPARED = ("*/tables/*.csv", "*/tables/*.jsonl", "*/figures/*.svg")
_DRAWN = re.compile(r"<dc:date>[^<]*</dc:date>")
"""When a figure was drawn is no number of it."""


def numbers(folder: Path) -> dict[str, str]:
    """The text of every table and figure of the reports in a folder, by its path there."""
    return {
        str(path.relative_to(folder)): _DRAWN.sub("", path.read_text(encoding="utf-8"))
        for pattern in COMPARED
        for path in sorted(folder.glob(pattern))
    }


def differences(before: Path, after: Path) -> Iterator[str]:
    """A line for every file that one side lacks, or that differs."""
    old, new = numbers(before), numbers(after)
    for name in sorted({*old, *new}):
        if name not in new:
            yield f"missing after: {name}"
        elif name not in old:
            yield f"missing before: {name}"
        elif old[name] != new[name]:
            yield f"differs: {name}"


_NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?")


def values(table: Path) -> Counter[str]:
    """The numbers in the cells of a table to nine digits, without its head."""
    rows = list(csv.reader(table.read_text(encoding="utf-8").splitlines()))[1:]
    cells = (cell.replace("−", "-") for row in rows for cell in row)
    return Counter(
        f"{float(one.replace(chr(44), '')):.9g}" for cell in cells for one in _NUMBER.findall(cell)
    )


def by_values(before: Path, after: Path) -> None:
    """Print a line per report: tables of both with the same numbers, with more, and others."""
    for report in sorted(path for path in before.iterdir() if (path / "tables").is_dir()):
        pairs = [
            (values(table), values(other)) if other.exists() else None
            for table in sorted((report / "tables").glob("*.csv"))
            for other in [after / report.name / "tables" / table.name]
        ]
        both = [pair for pair in pairs if pair]
        same = sum(old == new for old, new in both)
        more = sum(old < new for old, new in both)
        print(f"{report.name}: {same} same, {more} with more, {len(both) - same - more} differ,"
              f" {len(pairs) - len(both)} before only")  # fmt: skip


def main(before: Path, after: Path) -> int:
    """Print what differs, and how much was compared."""
    every = numbers(before)
    found = list(differences(before, after))
    studies = len({name.split("/")[0] for name in every})
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(every)} files of {studies} reports compared, {len(found)} differ")
    return 2 if not every else bool(found)


if __name__ == "__main__":
    if "--values" in sys.argv:
        by_values(Path(sys.argv[1]), Path(sys.argv[2]))
        sys.exit()
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
