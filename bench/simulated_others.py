# SPDX-License-Identifier: BSD-3-Clause
"""A network that others use: table 6 of the task-mapping paper, beside other jobs and without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from turns import taken

from haloscope.analysis.dossier import open_folder
from haloscope.clusters.other_jobs import occupied as other_jobs
from haloscope.clusters.schema import Cluster
from haloscope.predict import paper_validation
from haloscope.predict.paper_validation import tables_of
from haloscope.run.progress import Teller
from haloscope.topics.mapping.plan_cells import deviation_percent

REPLICATES = 3
"""Of each cell of table 6 beside others."""


def others(folders: Sequence[Path]) -> list[str]:
    """Table 6 of the task-mapping paper, on eagle with others and without, and untapered."""
    (published,) = tables_of("task-mapping-drop", ["6"])
    there = paper_validation.simulated_place(published)
    places = {
        "with others": there.cluster,
        "empty": there.cluster.model_copy(update={"others": None}),
        "with others, non-blocking": untapered(there.cluster),
    }
    tell = Teller(Console(stderr=True))
    found = {
        name: paper_validation.predicted(
            published, replace(there, cluster=one), tell, 1 if name == "empty" else REPLICATES
        )
        for name, one in places.items()
    }
    title = "A network shared with other jobs: task-mapping-drop, table 6"
    lines = [
        f"## {title}",
        "",
        f"{taken()} The figures with others are medians over {REPLICATES} launches.",
    ]
    lines += [
        *other_jobs.notes(there.cluster),
        "",
        f"| tasks | nodes | over | published | {' | '.join(found)} |",
    ]
    lines.append(f"|---|---|---|---|{'---|' * len(found)}")
    for cells in zip(*found.values(), strict=True):
        keys = cells[0].keys
        figures = [f"{keys['ranks']} | {keys['nodes']} | {keys['over']} | {cells[0].published:.2f}"]
        for cell in cells:
            ends = cell.drawn and cell.drawn.low and cell.drawn.high
            span = (
                f" ({cell.drawn.low:.2f} to {cell.drawn.high:.2f})" if ends and cell.drawn else ""
            )
            figures.append(f"{cell.predicted:.2f}{span}")
        lines.append(f"| {' | '.join(figures)} |")
    return [*lines, "", *apart(folders)]


def untapered(cluster: Cluster) -> Cluster:
    """The same with as many links up from a switch as down to it."""
    assert cluster.network is not None
    levels, down = [], 1
    for level in cluster.network.levels:
        levels.append(level.model_copy(update={"parents": down, "links": 1}))
        down = level.children
    network = cluster.network.model_copy(update={"levels": tuple(levels)})
    return cluster.model_copy(update={"network": network})


def apart(folders: Sequence[Path]) -> list[str]:
    """How far launches lie from their mean, of cases with several."""
    lines = []
    for folder in folders:
        dossier = open_folder(folder)
        for case in dossier.cases:
            if (most := deviation_percent(case)) is not None:
                host, nodes = (dossier.machine or {}).get("host"), case.number("nodes")
                where = f"{case.kernel} | {host} | {case.ranks} | {nodes}"
                lines.append(f"| {where} | {len(case.times_s)} | {most:.1f} % |")
    head = ["| kernel | cluster | tasks | nodes | launches | largest deviation from the mean |"]
    return [*head, "|---|---|---|---|---|---|", *lines, ""] if lines else []
