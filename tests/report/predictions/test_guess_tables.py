# SPDX-License-Identifier: BSD-3-Clause
"""Predictions beside guesses: skill, by distance and size, and beside a null model."""

from __future__ import annotations

from haloscope.analysis.validation.predictions import LATENCY, WALL_TIME, PredictedCell
from haloscope.report.predictions.prediction_errors import (
    beside_guesses,
    errors,
    null_model,
    structure,
)
from haloscope.topics.common.table import Table


def solve(
    nodes: int, published: float, predicted: float, naive: float | None, sets: tuple[str, ...] = ()
) -> PredictedCell:
    keys = {"n": 1024, "nodes": nodes, "ppn": 1, "threads": 1}
    return PredictedCell(
        *("4.1", WALL_TIME, keys, published, sets),
        predicted=predicted,
        iterations=100,
        naive=naive,
    )


CELLS = [
    solve(1, 40.0, 40.0, None, ("node.memory",)),
    solve(2, 20.0, 22.0, 24.0),
    solve(4, 8.0, 10.0, 9.0),
]


def shown(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def test_skill_uses_only_cells_with_a_guess() -> None:
    (table,) = beside_guesses(CELLS, "4.1")
    assert shown(table) == [["only predicted", "2", "16.2 %", "20.0 %", "-0.08", "-0.25"]]
    assert beside_guesses(CELLS[:1], "4.1") == []


def test_errors_have_a_90th_percentile() -> None:
    (table,) = errors(CELLS, "4.1")
    assert [column.title for column in table.columns][-3:] == ["median", "90th percentile", "worst"]
    assert shown(table)[1] == ["only predicted", "2", "17.5 %", "25.0 %", "25.0 %"]


def test_errors_are_grouped_by_nodes_and_published_time() -> None:
    (table,) = structure(CELLS, "4.1")
    assert [row[:3] for row in shown(table)] == [
        ["nodes", "2 nodes", "1"],
        ["nodes", "4 nodes", "1"],
        ["published time", "1 to 10 s", "1"],
        ["published time", "10 to 100 s", "1"],
    ]
    assert structure(CELLS[:1], "4.1") == []


def test_messages_are_grouped_by_placement_with_the_null_model() -> None:
    cells = [
        PredictedCell(
            "2",
            LATENCY,
            {"size_bytes": 8, "placement": placement},
            2e-5,
            predicted=2e-5 * (1 + error),
            null=2e-5 * 1.1,
        )
        for placement, error in (("intra_socket", 0.01), ("inter_node", 0.05))
    ]
    (table,) = null_model(cells, "2")
    assert shown(table) == [
        ["only predicted", "all", "2", "3.0 %", "10.0 %", "5.0 %", "10.0 %"],
        ["only predicted", "intra-socket", "1", "1.0 %", "10.0 %", "1.0 %", "10.0 %"],
        ["only predicted", "inter-node", "1", "5.0 %", "10.0 %", "5.0 %", "10.0 %"],
    ]
    assert null_model(CELLS, "4.1") == []
