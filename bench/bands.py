# SPDX-License-Identifier: BSD-3-Clause
"""The error of simulated times, by kernel, cluster, and kind of case, and how much of it holds.

usage: .venv/bin/python bench/bands.py      (after `haloscope validate PAPER --write-bands`)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import exp, log

from turns import write_page

from haloscope.analysis.validation.bands import (
    COVERAGE,
    Bands,
    Basis,
    Subject,
    known,
)
from haloscope.analysis.validation.bands import quantile as quantile_of
from haloscope.analysis.validation.cell_groups import TIMES, ErrorKind
from haloscope.papers.validated import validated_cells
from haloscope.quantities import within

HOW = (
    "A band is a factor: 95 % of the published values are within this factor of the simulated "
    "values, in either direction. Bands of times exclude table cells from which a number in a "
    "cluster file was derived. Bands of ratios include a pair of cells if no number was derived "
    "from at least one of them. The figure in brackets is the number of cells or of pairs of "
    "cells."
)


@dataclass(frozen=True)
class Coverage:
    """The number of published values of a table within the band from all other tables."""

    paper: str
    table: str
    kind: ErrorKind
    basis: Basis
    values: int
    inside: int


def left_out() -> Iterator[Coverage]:
    """Yield the coverage of each table, with bands from all other tables."""
    every = validated_cells()
    for paper, table in dict.fromkeys((one.paper, one.table) for one in every):
        own = [one for one in every if (one.paper, one.table) == (paper, table)]
        others = Bands(one for one in every if (one.paper, one.table) != (paper, table))
        for group in Bands(own).groups:
            subject = Subject(group.cluster, group.platform, group.kernel, group.cells[0].settings)
            for kind, errors in group.errors.items():
                if errors:
                    band = others.band(subject, kind)
                    inside = sum(error <= log(band.factor) for error in errors)
                    yield Coverage(paper, table, kind, band.basis, len(errors), inside)


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
            *("## Bands without the tested table", ""),
            "For each table, the bands are computed from all other tables. The column 'inside' "
            "lists "
            f"how many values of the table are within these bands; the target is {COVERAGE:.0%}.",
            *("", *all_together(every), ""),
            *held(every),
        ],
        HOW,
    )


if __name__ == "__main__":
    main()
