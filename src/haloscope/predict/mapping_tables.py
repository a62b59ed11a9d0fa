# SPDX-License-Identifier: BSD-3-Clause
"""Cells of published tables of one job on few nodes and on many, as simulated cases.

Absolute times were published of a number of transforms that is not known, so what is predicted is
how much longer a job takes than on the nodes where it was fastest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from haloscope.analysis.predictions import RELATIVE, PredictedCell
from haloscope.analysis.published import called
from haloscope.clusters.schema import Cluster, Quantity, SetBy
from haloscope.clusters.set_by import set_by
from haloscope.papers import tables as papers
from haloscope.papers.tables import PaperTable
from haloscope.predict.unpredicted import Unpredicted
from haloscope.quantities import count, listed
from haloscope.study.case import Layout, Value

_STEP: Mapping[str, Value] = {
    "transpose": "pairwise",
    "layout": "strided",
    "planning": "estimate",
    "warmup": 0,
    "steps": 1,
}
"""A transform and the way back, as the ready study task-mapping has it: whole arrays, packed and
unpacked, as textbooks do."""
_PLAN = "3"
"""_PLAN is the table of the paper that has the sizes and pencils of each number of tasks."""
_SWITCHES, _LEFT = 5, 0.4
_FITTED = SetBy(paper="task-mapping-drop", tables=("6",), where={"ranks": (2048,)})
"""_SWITCHES is how many switches of a group of nodes a job on many of them finds free, of which it
fills one group after the other, and _LEFT what other jobs leave of each link between groups.
Neither was published, so both are assumed, to fit the two ratios of _FITTED."""


def unpredicted(table: PaperTable, cluster: Cluster) -> Iterator[Unpredicted]:
    """Cells of jobs that one switch could hold, a node for each task: nobody shares their links."""
    return _cells(table, cluster, alone=True)


def unexplained(table: PaperTable, cluster: Cluster) -> Iterator[Unpredicted]:
    """Cells of all larger jobs, whose times rest on which nodes they had and who else sent."""
    return _cells(table, cluster, alone=False)


def shared(cluster: Cluster) -> Cluster:
    """The same whose groups of nodes have other jobs in them. ValueError without such groups."""
    network = cluster.network
    if network is None or len(network.levels) < 3:
        raise ValueError(f"{cluster.name} has no groups of switches")
    *lower, groups, top = network.levels
    left = Quantity(
        value=_LEFT, source="assumed: fitted to the published ratios", set_by=(_FITTED,)
    )
    free = groups.model_copy(update={"children": min(_SWITCHES, groups.children)})
    levels = (*lower, free, top.model_copy(update={"left": left}))
    other = network.model_copy(update={"levels": levels})
    return cluster.model_copy(update={"network": other, "nodes": other.places})


def assumption(cluster: Cluster) -> str:
    """What `shared` assumes, in words."""
    assert cluster.network is not None
    switches = cluster.network.levels[-2].children
    return (
        f"explained, not predicted: {_SWITCHES} of {switches} switches of a group are free, a job "
        f"fills one group after the other, and others leave {_LEFT:.0%} of the links between "
        "groups: assumed, to fit these cells"
    )


def unpredictable(table: PaperTable, number_of: int, tasks: Sequence[str]) -> str:
    """Why nothing predicts so many cells, of jobs of so many tasks each."""
    return (
        f"Not predicted: {count(number_of, 'cell')} of {called(table.id)}, jobs of {listed(tasks)} "
        "tasks: their times rest on which nodes they had and on who else sent messages there, of "
        "which nothing was published. --explained fits them by what it assumes."
    )


def _cells(table: PaperTable, cluster: Cluster, *, alone: bool) -> Iterator[Unpredicted]:
    """Those of each number of tasks but the fastest, which they are set over."""
    times: dict[int, dict[int, float]] = {}
    rows = {(row["ranks"], row["nodes"]): row for row in table.rows}
    for row in table.rows:
        of_tasks = times.setdefault(int(str(row["ranks"])), {})
        of_tasks[int(str(row["nodes"]))] = float(str(row["time_s"]))
    levels = cluster.network.levels if cluster.network else ()
    under_one = levels[0].children if levels else cluster.nodes
    for ranks, published in times.items():
        if (ranks <= under_one) != alone:
            continue
        first = min(published, key=lambda nodes: published[nodes])
        reading = count(ranks, "task") + ("" if alone else ", explained")
        for nodes in sorted(published, reverse=alone):
            if nodes != first:
                keys = {"ranks": ranks, "nodes": nodes, "over": first}
                cell = PredictedCell(
                    *(table.id, RELATIVE, keys, published[nodes] / published[first]),
                    sets=_sets(table, cluster, ranks),
                    reading=reading,
                    row=rows[ranks, nodes],
                )
                one = _transform(table, cell, ranks, nodes)
                yield replace(one, over=_transform(table, cell, ranks, first))


def _sets(table: PaperTable, cluster: Cluster, ranks: int) -> tuple[str, ...]:
    """Numbers of the cluster that some time of so many tasks set."""
    rows = (row for row in table.rows if row["ranks"] == ranks)
    return tuple(dict.fromkeys(where for row in rows for where in set_by(cluster, table, row)))


def _transform(table: PaperTable, cell: PredictedCell, ranks: int, nodes: int) -> Unpredicted:
    """The cell's job on so many nodes, its tasks shared out as evenly as they go."""
    plan = papers.load(table.paper).table(_PLAN)
    said = next(row for row in plan.rows if row["ranks"] == ranks)
    size = "x".join(str(said[axis]) for axis in ("nz", "ny", "nx"))  # C's order: x is last
    grid = f"{said['pencil_rows']}x{said['pencil_columns']}"
    layout = Layout(nodes, -(-ranks // nodes), bind="spread", tasks=ranks)
    return Unpredicted(
        *(cell, "fft_pencil", {"size": size, "topology": grid, **_STEP}, layout),
        lambda record: float(record["times_s"][0]),
    )
