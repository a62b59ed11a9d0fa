# SPDX-License-Identifier: BSD-3-Clause
"""Which assumed number moves predictions most."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from haloscope.analysis.validation.predictions import WALL_TIME, PredictedCell
from haloscope.clusters.assumed import numbers
from haloscope.papers.tables import PaperTable
from haloscope.predict import sensitivity as tried
from haloscope.predict.paper_validation import simulated_place, tables_of
from haloscope.run.places.simulated import SimulatedCluster
from haloscope.run.progress import Teller

QUIET = Teller(Console(file=io.StringIO()))


def cell(nodes: int, predicted: float | None) -> PredictedCell:
    keys = {"nodes": nodes}
    return PredictedCell("4.1", WALL_TIME, keys, 10.0, predicted=predicted)


@pytest.fixture
def table() -> PaperTable:
    return tables_of("hpcf-2018-10", ["4.1"])[0]


def of_two_numbers(
    table: PaperTable, there: SimulatedCluster, _tell: Teller
) -> list[PredictedCell]:
    """Seconds as if a cell of one node rested on the first assumed number, one on the second."""
    now = {one.place: one.value for one in numbers(there.cluster)}
    usual = numbers(simulated_place(table).cluster)
    first, second = ((now[one.place] or 0.0) / (one.value or 1.0) for one in usual[:2])
    return [cell(1, 5 / first), cell(4, 5 / second**2), cell(9, None)]


def test_the_most_influential_number_is_listed_first(
    monkeypatch: pytest.MonkeyPatch, table: PaperTable
) -> None:
    monkeypatch.setattr(tried, "predicted", of_two_numbers)
    found = tried.sensitivity(table, QUIET)
    known = numbers(simulated_place(table).cluster)
    assert [one.assumption.where for one in found[:2]] == [known[1].where, known[0].where]
    assert found[0].change == pytest.approx(1 / 1.2**2 - 1)
    assert found[0].farthest.keys["nodes"] == 4
    assert found[0].median == pytest.approx((1 - 1 / 1.2**2) / 2)
    assert found[1].change == pytest.approx(1 / 1.2 - 1)
    assert len(found) == len(known)


def test_cells_too_short_for_an_error_are_ignored_if_others_exist(
    monkeypatch: pytest.MonkeyPatch, table: PaperTable
) -> None:
    def short(*asked: Any) -> list[PredictedCell]:
        one, other, none = of_two_numbers(*asked)
        return [one, replace(other, telling=False), none]

    monkeypatch.setattr(tried, "predicted", short)
    found = tried.sensitivity(table, QUIET)
    assert found[0].farthest.keys["nodes"] == 1
    assert {one.most for one in found[1:]} == {0.0}


def test_without_simulated_cells_no_sensitivity_is_reported(
    monkeypatch: pytest.MonkeyPatch, table: PaperTable
) -> None:
    monkeypatch.setattr(tried, "predicted", lambda *_: [replace(cell(1, 1.0), predicted=None)])
    assert tried.sensitivity(table, QUIET) == []
