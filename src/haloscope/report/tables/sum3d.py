# SPDX-License-Identifier: BSD-3-Clause
"""Sums of 3-D arrays by topology and distribution (tables I to III of the ORFEO report)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.context import Context
from haloscope.analysis.sums import published_sum
from haloscope.host.cpulist import cpu_list
from haloscope.quantities import SECONDS
from haloscope.report.tables.model import Cell, Column, Table, label, lettered, missing, plain
from haloscope.report.tables.notebook import Notebook


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table for each size of the arrays, the longest first; a row for each other setting."""
    own = [case for case in cases if case.kernel == "sum3d"]
    parts = facets(own, ("topology", "distribution"))
    longest_first = sorted(parts, key=lambda part: [-extent for extent in _extents(part)])
    return lettered([_table(part, context) for part in longest_first])


def _extents(part: Facet) -> list[int]:
    return [int(extent) for extent in str(part.settings["size"]).split("x")]


def _table(part: Facet, context: Context) -> Table:
    notebook = Notebook(part.cases, context.all_cases)
    size = part.settings["size"]
    rows = tuple(_row(case, notebook, context) for case in part.cases)
    return Table(
        id="sum3d",
        kind="sum3d",
        title=context.title("Sum of two arrays", part.label or f"size = {size}"),
        columns=(
            Column("topology", "topology", align="left"),
            Column("distribution", "distribution", align="left"),
            Column("elements", "elements of each process", align="left"),
            Column("time_s", "time"),
        ),
        rows=rows,
        notes=notebook.notes(),
        stub=2,
    )


def _row(case: MeasuredCase, notebook: Notebook, context: Context) -> tuple[Cell, ...]:
    counts = case.result("elements_per_rank")
    elements = plain(shared_out(counts)) if counts else missing()
    cell = notebook.estimate(case.time, case, SECONDS)
    if published := published_sum(case, context.library):
        cell = replace(cell, published=published.text)
    return (
        label(str(case.settings["topology"])),
        label(str(case.settings["distribution"])),
        elements,
        cell,
    )


def shared_out(counts: Sequence[int]) -> str:
    """How many elements every rank has: "16 × 1,005,000; 8 × 990,000 (2, 5 … 23)".

    Counts are those of most ranks first, whose ranks are all that are not named.
    """
    ranks: dict[int, list[int]] = {}
    for rank, one in enumerate(counts):
        ranks.setdefault(one, []).append(rank)
    first, *others = sorted(ranks, key=lambda one: -len(ranks[one]))
    named = [f"{len(ranks[one])} × {one:,} ({_listed(ranks[one])})" for one in others]
    return "; ".join([f"{len(ranks[first])} × {first:,}", *named])


def _listed(ranks: Sequence[int]) -> str:
    """Ranks in equal steps by their first two and last; others as runs."""
    steps = {later - earlier for earlier, later in pairwise(ranks)}
    if len(ranks) > 3 and len(steps) == 1 and steps != {1}:
        return f"{ranks[0]}, {ranks[1]} … {ranks[-1]}"
    return cpu_list(ranks).replace(",", ", ")
