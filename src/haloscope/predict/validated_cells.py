# SPDX-License-Identifier: BSD-3-Clause
"""Store the predictions of a paper's cells, from which reports take the error of simulations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from haloscope.analysis.validation.predictions import JACOBI, PredictedCell
from haloscope.clusters import file as cluster_file
from haloscope.clusters.schema import state
from haloscope.host import checkout
from haloscope.papers.tables import PaperTable, Scalar
from haloscope.papers.validated import FILE, ValidatedCell, text_of
from haloscope.paths import share, write_whole
from haloscope.predict.paper_validation import simulated_place
from haloscope.study.settings import Settings
from haloscope.toolchains.simgrid import smpi


def write(paper: str, cells: Sequence[ValidatedCell]) -> Path:
    """Write the cells of a paper beside its tables, with the command and the commit."""
    git = checkout.state(share("papers").parent, f"papers/*/{FILE}", "docs") or {}
    changed = " with changes" if git.get("dirty") else ""
    commit = f"commit {git['commit'][:12]}{changed}" if git else "no checkout"
    when = datetime.now(UTC).strftime("%Y-%m-%d")
    origin = f"haloscope validate {paper} --write-bands; {commit}, {when}, {smpi().version}"
    path = share("papers") / paper / FILE
    write_whole(path, text_of(cells, origin))
    return path


def kept(table: PaperTable, cells: Sequence[PredictedCell]) -> Iterator[ValidatedCell]:
    """Yield the cells of a table that have an error, on a built-in cluster file, each in one
    reading.

    For Jacobi sweeps the first reading, which is the paper's text. What a paper assumes in addition
    to the machine's file validates nothing.
    """
    cluster = simulated_place(table).cluster
    platform = state(cluster)
    ours = share("clusters") / f"{cluster.name}.toml"
    if not ours.exists() or state(cluster_file.load(ours)) != platform:
        return
    first = next((cell.reading for cell in cells), "")
    for cell in cells:
        if cell.error is None or cell.predicted is None:
            continue
        if cell.kind == JACOBI and cell.reading != first:
            continue
        yield ValidatedCell(
            cluster.name,
            platform,
            cell.kernel,
            table.paper,
            table.id,
            _said(cell.settings),
            _said(cell.over),
            cell.published,
            cell.predicted,
            cell.fitted,
        )


def _said(settings: Settings) -> dict[str, Scalar]:
    """Keep only numbers and strings."""
    return {key: value for key, value in settings.items() if isinstance(value, int | float | str)}
