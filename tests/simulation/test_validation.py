"""Errors of predictions."""

from __future__ import annotations

import pytest

from haloscope.errors import UserError
from haloscope.validation import Cell, Errors, tables_of


def cell(published: float, predicted: float | None, nodes: int = 2) -> Cell:
    keys = {"n": 1024, "nodes": nodes, "ppn": 1, "threads": 1}
    return Cell("4.1", keys, published, predicted)


def test_short_times_have_no_error() -> None:
    assert cell(4, 8).error is None
    assert cell(5, 4).error == pytest.approx(-0.2)
    assert cell(5, None).error is None


def test_the_median_and_the_worst_of_those_that_have_one() -> None:
    errors = Errors.of([cell(10, 12), cell(10, 9), cell(10, 10.5), cell(1, 5)])
    assert errors.cells == 3
    assert errors.median == pytest.approx(0.1)
    assert errors.worst == pytest.approx(0.2)
    assert Errors.of([]) == Errors(0, None, None)


def test_cells_of_one_node_may_have_set_parameters() -> None:
    assert cell(10, 10, nodes=1).fitted
    assert not cell(10, 10, nodes=2).fitted


def test_tables_that_name_a_cluster_file() -> None:
    assert [table.id for table in tables_of("hpcf-2010-6", [])] == ["4.1", "5.1"]
    assert [table.id for table in tables_of("hpcf-2018-10", ["7.1"])] == ["7.1"]
    with pytest.raises(UserError, match=r"no cluster file describes the machine of 3\.1"):
        tables_of("hpcf-2018-10", ["3.1"])
