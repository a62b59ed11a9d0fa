# SPDX-License-Identifier: BSD-3-Clause
"""Times that speedups determine with more digits than are printed."""

from __future__ import annotations

import pytest

from haloscope.papers.tables import exact_times, load

TARA = load("hpcf-2010-6")


@pytest.mark.parametrize(("name", "alone"), [("4.1", 0), ("5.1", 28)])
def test_exact_times_match_the_printed_ones_and_fill_gaps(name: str, alone: int) -> None:
    """N = 1024 of table 5.1 is lost in the text at hand."""
    table = TARA.table(name)
    exact = exact_times(table)
    printed = {tuple(row[key] for key in table.keys): row["time_s"] for row in table.rows}

    assert len(exact) == 140
    assert len(exact.keys() - printed.keys()) == alone
    assert {key[0] for key in exact.keys() - printed.keys()} <= {1024}
    for key, time in printed.items():
        assert abs(exact[key].time_s - float(str(time))) <= 0.5 + exact[key].step_s


def test_a_time_has_the_precision_of_its_speedup_and_serial_time() -> None:
    exact = exact_times(TARA.table("4.1"))[16384, 64, 8]
    assert exact.time_s == pytest.approx(66251.23 / 180.5, rel=0.01)
    assert 0 < exact.step_s < 0.01
    assert exact.row["ranks"] == 512


def test_a_table_without_speedups_has_none() -> None:
    assert exact_times(TARA.table("3.1")) == {}
    assert exact_times(load("hpcf-2018-10").table("4.1")) == {}


def test_every_table_is_predicted_or_explains_why_not() -> None:
    for paper in ("hpcf-2010-6", "hpcf-2018-10", "orfeo-mpi-report", "task-mapping-drop"):
        for table in load(paper).tables.values():
            assert bool(table.by_machine()) != bool(table.not_predicted), table.id
