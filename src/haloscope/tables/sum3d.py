"""Sums of three-dimensional arrays by topology and distribution: tables I to III of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from haloscope.evidence import Facet, MeasuredCase, facets
from haloscope.quantities import SECONDS, number
from haloscope.stats import mean_interval
from haloscope.tables.context import Context
from haloscope.tables.model import Cell, Column, Table, label, lettered, missing, plain
from haloscope.tables.notebook import Notebook

_SPLITS = {"balanced": "even", "topology": "topology"}
"""Our distributions by the report's: a = 0 and a != 0."""


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table for each size of the arrays, a row for each topology and distribution."""
    own = [case for case in cases if case.kernel == "sum3d"]
    return lettered([_table(part, context) for part in facets(own, ("topology", "distribution"))])


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
            Column("most", "most", "elements a process"),
            Column("fewest", "fewest", "elements a process"),
            Column("time_s", "time"),
        ),
        rows=rows,
        notes=notebook.notes(),
        stub=2,
    )


def _row(case: MeasuredCase, notebook: Notebook, context: Context) -> tuple[Cell, ...]:
    counts = case.result("elements_per_rank")
    most, fewest = (
        (plain(end(counts), f"{end(counts):,}") if counts else missing()) for end in (max, min)
    )
    time = mean_interval(case.times_s) if case.times_s else None
    cell = notebook.estimate(time, case, SECONDS)
    if published := _published(case, context):
        cell = replace(cell, published=published)
    asked, shape = str(case.settings["topology"]), case.result("topology")
    name = asked if shape in (None, asked) else f"{asked}: {shape}"
    return (label(name), label(str(case.settings["distribution"])), most, fewest, cell)


def _published(case: MeasuredCase, context: Context) -> str:
    """The report's interval for the same size, ranks, topology and split; "" where it has none."""
    size = str(case.settings["size"]).split("x")
    shape = str(case.result("topology") or "").split("x")
    for table in context.library.tables(("matrix_sum",)):
        facts = [str(table.facts.get(key)) for key in ("nx", "ny", "nz", "ranks")]
        for row in table.rows if facts == [*size, str(case.ranks)] else ():
            same = [str(row[key]) for key in ("px", "py", "pz")] == shape
            if same and row["split"] == _SPLITS.get(str(case.settings["distribution"])):
                low, high = (float(str(row[key])) for key in ("time_low_s", "time_high_s"))
                return f"[{number(low)}, {number(high)}] s"
    return ""
