# SPDX-License-Identifier: BSD-3-Clause
"""Guesses of published cells without a simulation, as a baseline for any model.

Solves: the time on one node, divided by the number of nodes. Sweeps: the rate of one rank, times
the ranks. A job on other nodes: as long as on the nodes where it is fastest. GPU messages: the
paper's own model, latency of 8 bytes + size / bandwidth at 4 MiB. For these there is also a better
guess: the latency that the paper measured with MPI alone, and constants from its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from haloscope.analysis.validation.predictions import (
    JACOBI,
    RELATIVE,
    STEP,
    WALL_TIME,
    PredictedCell,
)
from haloscope.papers import tables as papers
from haloscope.papers.tables import PaperTable, Scalar

_ALONE = "1"
"""_ALONE is the table of messages between GPUs with MPI alone."""
_LAUNCH_S, _SYNC_S = 12e-6, 4e-6
"""_LAUNCH_S and _SYNC_S are the times of a launch and a synchronisation in sections 5.1 and 5.2."""
_ADDED_S: Mapping[object, float] = {
    "A": 7.5e-6,
    "B": 6e-6,
    "C": 2e-6,
    "D": 1e-6,
    "sf_newpingpong": 6e-6,
    "sf_unpack": 6e-6 + _LAUNCH_S,
    "sf_scatter": 6e-6 + _LAUNCH_S,
}
"""_ADDED_S is the time that a star forest adds to MPI according to the text, by option and test."""


def with_guesses(table: PaperTable, cells: Sequence[PredictedCell]) -> list[PredictedCell]:
    """Return the cells of a table with their guesses; cells without a guess are unchanged."""
    kind = cells[0].kind if cells else ""
    if kind == WALL_TIME:
        return _solves(cells)
    if kind == JACOBI:
        alone = _one_rank(table)
        return [replace(one, naive=alone and alone * float(one.keys["ranks"])) for one in cells]
    if kind == STEP:
        return [*cells]
    if kind == RELATIVE:
        return [replace(one, naive=1.0) for one in cells]
    return [_message(table, one) for one in cells]


def _solves(cells: Sequence[PredictedCell]) -> list[PredictedCell]:
    """Compare each cell with the same mesh, processes, and threads on one node, which
    has no guess.
    """

    def alike(cell: PredictedCell) -> tuple[Scalar, ...]:
        return tuple(value for key, value in cell.keys.items() if key != "nodes")

    one_node = {alike(one): one for one in cells if one.keys["nodes"] == 1 and one.telling}
    found = []
    for cell in cells:
        alone, nodes = one_node.get(alike(cell)), float(cell.keys["nodes"])
        guess = alone.published / nodes if alone is not None and nodes > 1 else None
        found.append(replace(cell, naive=guess))
    return found


def _one_rank(table: PaperTable) -> float | None:
    """Return the published rate of one rank on a node of the same kind."""
    for other in papers.load(table.paper).tables.values():
        if (other.kind, other.facts.get("node")) == (JACOBI, table.facts["node"]):
            for row in other.rows:
                if row["ranks"] == 1 and isinstance(rate := row["mlups"], int | float):
                    return float(rate)
    return None


def _message(table: PaperTable, cell: PredictedCell) -> PredictedCell:
    """Return messages of two ranks with both guesses; neighbourhoods with the text's
    formula only.
    """
    said = {**table.facts, **cell.keys}
    if "placement" in said and table.id != _ALONE:
        placement, size = str(said["placement"]), int(said["size_bytes"])
        first, last = _alone(table, placement, 8), _alone(table, placement, 2**22)
        if first is None or last is None:
            return cell
        naive = first + size * (last - first) / (2**22 - 8)
        measured = _alone(table, placement, size)
        added = _ADDED_S.get(said.get("option") if table.id == "2" else said.get("kernel"))
        null = measured + added if measured is not None and added is not None else None
        return replace(cell, naive=naive, null=null)
    if said.get("kernel") == "sf_dmda":
        placement = "inter_node" if said["nodes"] == 9 else "intra_socket"
        measured = _alone(table, placement, max(8, 8 * int(said["n"])))
        if measured is not None:
            waits = _LAUNCH_S + _SYNC_S + max(measured, _LAUNCH_S) + _LAUNCH_S
            return replace(cell, null=waits)
    return cell


def _alone(table: PaperTable, placement: str, size: int) -> float | None:
    """Return the time of a message in table 1 of the same paper."""
    alone = papers.load(table.paper).table(_ALONE)
    found = alone.cell("latency_s", placement=placement, size_bytes=size)
    return float(found.value) if found is not None else None
