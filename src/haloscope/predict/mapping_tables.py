# SPDX-License-Identifier: BSD-3-Clause
"""Cells of published tables of one job on few and on many nodes, as simulated cases.

The published times are for an unknown number of transforms. The prediction is therefore the time
relative to the number of nodes on which the job was fastest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from haloscope.analysis.validation.predictions import RELATIVE, PredictedCell
from haloscope.clusters.schema import Cluster
from haloscope.clusters.set_by import set_by
from haloscope.layout import Layout
from haloscope.papers import tables as papers
from haloscope.papers.tables import PaperTable
from haloscope.predict.unpredicted import Unpredicted
from haloscope.quantities import count
from haloscope.study.case import Value

_STEP: Mapping[str, Value] = {
    "transpose": "pairwise",
    "layout": "strided",
    "planning": "estimate",
    "warmup": 0,
    "steps": 1,
}
"""Parameters of a transform and its inverse, as in the built-in study task-mapping: whole arrays
with packing and unpacking, as in textbooks.
"""
_PLAN = "3"
"""_PLAN is the table of the paper with the sizes and pencils of each number of tasks."""


def unpredicted(table: PaperTable, cluster: Cluster) -> Iterator[Unpredicted]:
    """Yield the cells of each number of tasks except the fastest, to which they are relative."""
    times: dict[int, dict[int, float]] = {}
    rows = {(row["ranks"], row["nodes"]): row for row in table.rows}
    for row in table.rows:
        of_tasks = times.setdefault(int(str(row["ranks"])), {})
        of_tasks[int(str(row["nodes"]))] = float(str(row["time_s"]))
    for ranks, published in times.items():
        first = min(published, key=lambda nodes: published[nodes])
        for nodes in published:
            if nodes != first:
                keys = {"ranks": ranks, "nodes": nodes, "over": first}
                cell = PredictedCell(
                    *(table.id, RELATIVE, keys, published[nodes] / published[first]),
                    sets=_sets(table, cluster, ranks),
                    reading=count(ranks, "task"),
                    row=rows[ranks, nodes],
                )
                one = _transform(table, cell, ranks, nodes)
                yield replace(one, over=_transform(table, cell, ranks, first))


def _sets(table: PaperTable, cluster: Cluster, ranks: int) -> tuple[str, ...]:
    """Return the numbers of the cluster that a time of this number of tasks set."""
    rows = (row for row in table.rows if row["ranks"] == ranks)
    return tuple(dict.fromkeys(where for row in rows for where in set_by(cluster, table, row)))


def _transform(table: PaperTable, cell: PredictedCell, ranks: int, nodes: int) -> Unpredicted:
    """Return the cell's job on so many nodes, with its tasks distributed as evenly as possible."""
    layout = Layout.of(ranks, nodes, bind="spread")
    return Unpredicted(cell, "fft_pencil", transform(table.paper, ranks), layout)


def transform(paper: str, ranks: int) -> dict[str, Value]:
    """Return the parameters of fft_pencil for bigFFT on so many tasks."""
    plan = papers.load(paper).table(_PLAN)
    said = next(row for row in plan.rows if row["ranks"] == ranks)
    size = "x".join(str(said[axis]) for axis in ("nz", "ny", "nx"))  # C order: x is last
    grid = f"{said['pencil_rows']}x{said['pencil_columns']}"
    return {"size": size, "topology": grid, **_STEP}
