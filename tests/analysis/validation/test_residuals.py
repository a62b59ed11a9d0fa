# SPDX-License-Identifier: BSD-3-Clause
"""Where predictions are off, by how much time, and what stands out."""

from __future__ import annotations

import pytest

from haloscope.analysis.validation.predictions import (
    LATENCY,
    WALL_TIME,
    PredictedCell,
    PredictedTime,
)
from haloscope.analysis.validation.residuals import (
    MESSAGE,
    NODES,
    POINTS,
    PROCESSES,
    Residual,
    grouped,
    of_cells,
    of_times,
    outstanding,
    varied,
)
from haloscope.report.predictions.residuals import residual_tables
from haloscope.stats.estimates import Estimate


def solve(nodes: int, ppn: int, published: float, predicted: float) -> PredictedCell:
    keys = {"n": 1024, "nodes": nodes, "ppn": ppn, "threads": 1}
    return PredictedCell("4.1", WALL_TIME, keys, published, predicted=predicted, iterations=1000)


def full() -> list[Residual]:
    """One process on a node is 40 % too fast from two nodes on; all else is right."""
    return of_cells(
        [
            solve(nodes, ppn, 10.0, 6.0 if ppn == 1 and nodes > 1 else 10.2)
            for nodes in (1, 2, 4, 8)
            for ppn in (1, 2, 4, 8)
        ]
    )


def test_missing_time_is_per_iteration() -> None:
    (one,) = of_cells([solve(4, 2, 10.0, 8.0)])
    assert one.error == pytest.approx(-0.2)
    assert one.missing_s == pytest.approx(2e-3)
    assert {group: name for group, (_, name) in one.where.items()} == {
        NODES: "4 nodes",
        PROCESSES: "2 processes",
        "threads": "1 thread",
        POINTS: "0.262 million points",
        MESSAGE: "8 KiB",
    }


def test_calibration_cells_and_cells_without_an_error_are_excluded() -> None:
    fitted = PredictedCell("4.1", WALL_TIME, {"n": 1}, 1.0, ("node.memory",), predicted=2.0)
    blind = PredictedCell("4.1", WALL_TIME, {"n": 1}, 1.0, telling=False, predicted=2.0)
    assert of_cells([fitted, blind]) == []


def test_groups_have_a_median_a_range_and_the_share_on_one_side() -> None:
    by_ppn = grouped(full(), PROCESSES)
    assert [one.names for one in by_ppn][:2] == [
        ((PROCESSES, "1 process"),),
        ((PROCESSES, "2 processes"),),
    ]
    assert [one.number for one in by_ppn] == [4, 4, 4, 4]
    first = by_ppn[0]
    assert (first.median, first.low, first.high) == pytest.approx((-0.4, -0.4, 0.02))
    assert first.missing_s == pytest.approx(4e-3)
    assert first.alike == 0.75
    assert len(grouped(full(), NODES, PROCESSES)) == 16


def test_an_outlying_group_is_named_by_the_fewest_settings() -> None:
    found = outstanding(full())
    assert [one.names for one in found] == [((PROCESSES, "1 process"),)]


def test_noise_produces_no_outliers() -> None:
    cells = [
        solve(n, ppn, 10.0, 9.0 if (n + ppn) % 2 else 11.0) for n in range(4) for ppn in (1, 2)
    ]
    assert outstanding(of_cells([one for one in cells if one.keys["nodes"]])) == []
    assert outstanding([]) == []


def test_settings_shared_by_all_cells_have_no_table() -> None:
    assert varied(full()) == [NODES, PROCESSES, POINTS]
    ids = [table.id for table in residual_tables(full(), "x")]
    assert ids == [
        "residuals-x",
        "residuals-x-nodes",
        "residuals-x-processes-per-node",
        "residuals-x-points-per-node",
        "residuals-x-grid",
    ]
    assert residual_tables([], "x") == []


def test_missing_time_is_computed_per_message() -> None:
    keys: dict[str, int | str] = {"size_bytes": 8, "placement": "inter_node"}
    (one,) = of_cells([PredictedCell("2", LATENCY, keys, 2e-5, predicted=1.5e-5)])
    assert one.missing_s == pytest.approx(5e-6)
    assert one.where["placement"][1] == "inter-node"


def test_measured_times_have_residuals_too() -> None:
    measured = Estimate(10.0, None, None, 3, "none")
    keys = {"nodes": 1, "ppn": 2, "n": 512}
    (one,) = of_times([PredictedTime("poisson_cg", "n=512", measured, 8.0, keys, 100)])
    assert one.error == pytest.approx(-0.2)
    assert one.missing_s == pytest.approx(0.02)
    (message,) = of_times([PredictedTime("pingpong", "8 B", measured, 8.0, {"size_bytes": 8})])
    assert message.missing_s == pytest.approx(2.0)
