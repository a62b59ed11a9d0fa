# SPDX-License-Identifier: BSD-3-Clause
"""Published times of two exchanges, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.published import Library, cluster_file, comparable, source
from haloscope.papers.exact import exact_times
from haloscope.papers.tables import PaperTable, PublishedValue
from haloscope.study.settings import Setting

_KINDS = ("walltime_grid",)


@dataclass(frozen=True)
class PrintedRatios:
    """Of a table of each exchange: the time of the reference over the other's, with the cell."""

    source: str
    ratios: Sequence[tuple[float, Mapping[str, Setting]]]


def both(
    library: Library, case: MeasuredCase, other: str, reference: str
) -> Iterator[PrintedRatios]:
    """Each pair of published tables of these exchanges that may stand beside a case."""
    tables = [
        table
        for table in library.tables(_KINDS)
        if table.facts.get("kernel") == case.kernel
        and comparable(table, case)
        and case.cluster in (None, cluster_file(table))
    ]
    for one in (table for table in tables if table.facts.get("exchange") == reference):
        for two in (table for table in tables if table.facts.get("exchange") == other):
            if ratios := [*_ratios(one, two)] if one.keys == two.keys else []:
                yield PrintedRatios(f"{source(two)}, {source(one)}", ratios)


def _ratios(
    reference: PaperTable, other: PaperTable
) -> Iterator[tuple[float, Mapping[str, Setting]]]:
    first, second = _times(reference), _times(other)
    for key in (key for key in first if key in second):
        where: dict[str, Setting] = dict(zip(reference.keys, key, strict=True))
        if (where.get("nodes"), where.get("ppn")) != (1, 1):
            yield first[key] / second[key], where


def _times(table: PaperTable) -> dict[tuple[PublishedValue, ...], float]:
    found = {
        tuple(row[key] for key in table.keys): float(time)
        for row in table.rows
        if isinstance(time := row["time_s"], int | float) and time > 0
    }
    return found | {key: one.time_s for key, one in exact_times(table).items()}
