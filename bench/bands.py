# SPDX-License-Identifier: BSD-3-Clause
"""The error of simulated times, by kernel, cluster, and kind of case, and how much of it holds.

usage: .venv/bin/python bench/bands.py      (after `haloscope validate PAPER --write-bands`)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import exp

from turns import write_page

from haloscope.analysis.validation.bands import COVERAGE, TIMES, Basis, ErrorKind, known
from haloscope.analysis.validation.bands import quantile as quantile_of
from haloscope.predict.validated_cells import Coverage, left_out
from haloscope.quantities import within

HOW = (
    "A band is the factor, up and down, that holds 95 % of published values over simulated ones. "
    "Cells that set numbers of a cluster file are not counted, in a pair one of them may be. "
    "In brackets: how many cells, or pairs of them."
)


def groups() -> Iterator[str]:
    """A row for each cluster, kernel, and variant."""
    yield f"| simulated | {' | '.join(kind.value for kind in ErrorKind)} |"
    yield f"|---|{'---|' * len(ErrorKind)}"
    for group in sorted(known().groups, key=lambda one: one.name):
        cells = [of(group.errors[kind]) for kind in ErrorKind]
        yield f"| {group.name} | {' | '.join(cells)} |"


def of(errors: tuple[float, ...]) -> str:
    """The band of some errors, and their number."""
    return f"{within(exp(quantile_of(errors)))} ({len(errors):,})" if errors else ""


def held(every: Iterable[Coverage]) -> Iterator[str]:
    """How many values of each table are in the bands of all other tables."""
    yield "| table | kind | band from | values | inside |"
    yield "|---|---|---|---|---|"
    for one in every:
        share = f"{one.inside:,} ({100 * one.inside / one.values:.0f} %)"
        where = f"{one.paper}, table {one.table}"
        yield f"| {where} | {one.kind.value} | {one.basis.value} | {one.values:,} | {share} |"


def all_together(every: list[Coverage]) -> Iterator[str]:
    """The same over all tables, of times and of ratios, and by where the band is from."""
    yield "| values | band from | number | inside |"
    yield "|---|---|---|---|"
    for name, kinds in (("times", TIMES), ("ratios", tuple({*ErrorKind} - {*TIMES}))):
        own = [one for one in every if one.kind in kinds]
        for basis in (None, *Basis):
            some = [one for one in own if basis in (None, one.basis)]
            if number := sum(one.values for one in some):
                share = sum(one.inside for one in some) / number
                yield f"| {name} | {basis.value if basis else 'all'} | {number:,} | {share:.1%} |"


def main() -> None:
    """Write docs/bench/bands.md."""
    every = list(left_out())
    write_page(
        "bands",
        "Error of simulated times",
        [
            *("## Bands", "", *groups(), ""),
            *("## One table left out", ""),
            f"Values of a table in the bands that all other tables give; {COVERAGE:.0%} are meant.",
            *("", *all_together(every), ""),
            *held(every),
        ],
        HOW,
    )


if __name__ == "__main__":
    main()
