"""Sums of three-dimensional arrays by topology and distribution: tables I to III of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.host.cpulist import cpu_list
from haloscope.quantities import SECONDS, number
from haloscope.report.context import Context
from haloscope.report.tables.model import Cell, Column, Table, label, lettered, missing, plain
from haloscope.report.tables.notebook import Notebook

_SPLITS = {"balanced": "even", "topology": "topology"}
"""Our distributions by the report's: a = 0 and a != 0."""


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
    if published := _published(case, context):
        cell = replace(cell, published=published)
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


def _published(case: MeasuredCase, context: Context) -> str:
    """The report's interval for the same size, ranks, topology and split; "" where it has none."""
    size = str(case.settings["size"]).split("x")
    shape = str(case.settings["topology"]).split("x")
    for table in context.library.tables(("matrix_sum",)):
        facts = [str(table.facts.get(key)) for key in ("nx", "ny", "nz", "ranks")]
        for row in table.rows if facts == [*size, str(case.ranks)] else ():
            same = [str(row[key]) for key in ("px", "py", "pz")] == shape
            if same and row["split"] == _SPLITS.get(str(case.settings["distribution"])):
                low, high = (float(str(row[key])) for key in ("time_low_s", "time_high_s"))
                return f"[{number(low)}, {number(high)}] s"
    return ""
