# SPDX-License-Identifier: BSD-3-Clause
"""Models of Jacobi's sweeps: the published tables, and what the detailed model adds."""

from __future__ import annotations

from math import prod

import pytest

from haloscope.models import jacobi
from haloscope.models.jacobi import Detailed, Exchanged, JacobiSweep, Textbook, exchanged
from haloscope.papers import tables as papers
from haloscope.papers.tables import Scalar

CUBE = (1200, 1200, 1200)
ROWS = [
    (table, row)
    for table in papers.load("orfeo-mpi-report").tables.values()
    if table.kind == "jacobi"
    for row in table.rows
]


def grid(row: dict[str, Scalar]) -> jacobi.Extents:
    return int(str(row["px"])), int(str(row["py"])), int(str(row["pz"]))


@pytest.mark.parametrize(("table", "row"), ROWS)
def test_every_published_k_and_c_is_reproduced(table: object, row: dict[str, Scalar]) -> None:
    found = exchanged(CUBE, grid(row))
    assert found.faces == row["neighbours"]
    assert found.bytes / 1e6 == pytest.approx(float(str(row["volume_mb"])))


@pytest.mark.parametrize(("table", "row"), ROWS)
def test_published_predictions_match(table: papers.PaperTable, row: dict[str, Scalar]) -> None:
    """Table VI's printed bandwidth is not the one that its predictions follow from: 5900 MB/s."""
    facts = table.facts
    bandwidth = float(facts.get("bandwidth_bytes_per_s", 5900e6))
    latency = float(facts.get("latency_s", 0))
    model = Textbook(
        float(facts["serial_time_s"]) / prod(CUBE), (latency, latency), (bandwidth, bandwidth)
    )
    sweep = JacobiSweep(CUBE, grid(row))
    found = sweep.points * sweep.ranks / model.seconds(sweep) / 1e6
    printed = 0.01 if row["ranks"] == 1 else 0.001  # its last digit
    assert found == pytest.approx(float(str(row["model_mlups"])), abs=printed)


def test_a_non_cubic_box_has_different_faces() -> None:
    assert exchanged((10, 20, 30), (2, 1, 1)) == Exchanged(2, 2 * 2 * 8 * 600)
    assert exchanged((10, 20, 30), (1, 2, 2), 4) == Exchanged(4, 2 * 2 * 4 * (300 + 200))
    assert exchanged((10, 20, 30), (1, 1, 1)) == Exchanged(0, 0)


def detailed(**changes: object) -> Detailed:
    given = {
        "update_s": 1e-9,
        "bytes_per_update": 24.0,
        "memory": lambda ranks: 1e18,
        "message": (lambda size: 1e-6 + size / 1e9, lambda size: 1e-5 + size / 1e10),
        "cores": 4,
    }
    return Detailed(**{**given, **changes})  # type: ignore[arg-type]


def test_ranks_that_saturate_the_memory_wait_for_it() -> None:
    alone, both = JacobiSweep((10, 10, 10), (1, 1, 1)), JacobiSweep((10, 10, 10), (2, 1, 1))
    model = detailed(memory=lambda ranks: 24e9, message=(lambda size: 0.0, lambda size: 0.0))
    assert model.seconds(alone) == pytest.approx(1000e-9)
    copies = 8 * 800 / 12e9
    assert model.seconds(both) == pytest.approx(2000e-9 + copies)


def test_ranks_that_share_a_core_slow_down_by_count_over_gain() -> None:
    silent = (lambda size: 0.0, lambda size: 0.0)
    full, one_more = JacobiSweep((10, 10, 10), (4, 1, 1)), JacobiSweep((10, 10, 10), (5, 1, 1))
    assert detailed(message=silent).seconds(full) == pytest.approx(1000e-9)
    assert detailed(message=silent).seconds(one_more) == pytest.approx(2000e-9)
    gain = detailed(message=silent, smt_gain=1.6)
    assert gain.seconds(full) == pytest.approx(1000e-9)
    assert gain.seconds(one_more) == pytest.approx(1250e-9)


def test_each_axis_has_messages_for_its_size_and_placement() -> None:
    within = detailed().seconds(JacobiSweep((10, 20, 30), (2, 1, 1)))
    assert within == pytest.approx(6e-6 + 4 * (1e-6 + 4800 / 1e9), rel=1e-6)
    between = detailed().seconds(JacobiSweep((10, 20, 30), (2, 1, 1), nodes=2))
    assert between == pytest.approx(6e-6 + 2 * (1e-5 + 4800 / 1e10), rel=1e-6)
    both = detailed().seconds(JacobiSweep((10, 20, 30), (2, 1, 2), nodes=2))
    assert both == pytest.approx(between + 4 * (1e-6 + 1600 / 1e9), rel=1e-6)


def test_axes_that_cross_nodes_are_identified() -> None:
    sweep = JacobiSweep((1, 1, 1), (2, 2, 2), nodes=2)
    assert [sweep.between_nodes(axis) for axis in range(3)] == [True, False, False]
    sweep = JacobiSweep((1, 1, 1), (1, 3, 2), nodes=2)
    assert [sweep.between_nodes(axis) for axis in range(3)] == [False, True, True]
    assert not JacobiSweep((1, 1, 1), (4, 1, 1)).between_nodes(0)


def test_overlap_hides_messages_behind_interior_points() -> None:
    shown = detailed().seconds(JacobiSweep((10, 20, 30), (2, 1, 1)))
    hidden = detailed().seconds(JacobiSweep((10, 20, 30), (2, 1, 1), overlap=True))
    assert shown - hidden == pytest.approx(8 * 20 * 30 * 1e-9)
    long = detailed(update_s=1e-6).seconds(JacobiSweep((10, 20, 30), (2, 1, 1), overlap=True))
    assert long == pytest.approx(6e-3, rel=1e-6)


def test_halo_layers_of_several_sweeps_are_sent_together() -> None:
    one = detailed().seconds(JacobiSweep((10, 20, 30), (2, 1, 1)))
    four = detailed().seconds(JacobiSweep((10, 20, 30), (2, 1, 1), depth=4))
    assert one - four == pytest.approx(4 * 1e-6 * 3 / 4, rel=1e-6)  # latencies are saved
