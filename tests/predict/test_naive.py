# SPDX-License-Identifier: BSD-3-Clause
"""Guesses without a simulation, which predictions are set beside."""

from __future__ import annotations

import pytest

from haloscope.analysis.validation.predictions import (
    JACOBI,
    LATENCY,
    RELATIVE,
    WALL_TIME,
    PredictedCell,
    Skill,
)
from haloscope.papers.tables import Scalar, load
from haloscope.predict.naive import with_guesses

TARA, SUMMIT = load("hpcf-2010-6"), load("anl-petsc-summit-part2")


def solve(nodes: int, published: float, *, telling: bool = True, ppn: int = 1) -> PredictedCell:
    keys = {"n": 1024, "nodes": nodes, "ppn": ppn, "threads": 1}
    return PredictedCell("4.1", WALL_TIME, keys, published, telling=telling)


def test_a_solve_is_guessed_as_the_one_node_time_over_the_nodes() -> None:
    cells = [solve(1, 12.0), solve(4, 4.0), solve(4, 3.0, ppn=2)]
    assert [one.naive for one in with_guesses(TARA.table("4.1"), cells)] == [None, 3.0, None]


def test_a_time_with_too_few_digits_gives_no_guess() -> None:
    cells = [solve(1, 1.0, telling=False), solve(2, 1.0)]
    assert [one.naive for one in with_guesses(TARA.table("4.1"), cells)] == [None, None]


def test_sweeps_are_guessed_from_one_rank() -> None:
    table = load("orfeo-mpi-report").table("XI")
    (cell,) = with_guesses(table, [PredictedCell("XI", JACOBI, {"ranks": 12}, 900.0)])
    assert cell.naive == pytest.approx(12 * 78.29)


def test_a_job_is_guessed_to_take_the_same_time_on_other_nodes() -> None:
    table = load("task-mapping-drop").table("6")
    (cell,) = with_guesses(table, [PredictedCell("6", RELATIVE, {"ranks": 16}, 2.9)])
    assert cell.naive == 1.0


def message(table: str, **keys: Scalar) -> PredictedCell:
    published = SUMMIT.table(table).cell("latency_s", **keys)
    assert published is not None
    cell = PredictedCell(table, LATENCY, keys, float(published.value))
    return with_guesses(SUMMIT.table(table), [cell])[0]


def test_messages_use_the_published_model_and_a_better_guess() -> None:
    own = message("2", size_bytes=2**22, placement="intra_socket", option="B")
    assert own.naive == pytest.approx(106.6e-6, rel=1e-5)
    assert own.null == pytest.approx(112.6e-6)
    small = message("3", size_bytes=8, placement="inter_node", kernel="sf_unpack")
    assert small.naive == pytest.approx(6.0e-6, rel=1e-3)
    assert small.null == pytest.approx(24.0e-6)


def test_a_neighbourhood_uses_the_published_formula() -> None:
    assert message("4", n=8, nodes=9).null == pytest.approx(40e-6)
    assert message("4", n=8, nodes=3).null == pytest.approx(45.8e-6)
    assert message("1", size_bytes=8, placement="inter_node").naive is None


def test_skill_is_the_error_reduction_relative_to_a_guess() -> None:
    cells = [
        PredictedCell("4.1", WALL_TIME, {}, 10.0, predicted=10.0 + error, naive=guess)
        for error, guess in ((0.1, 12.0), (0.2, 9.0), (0.4, 11.0), (5.0, None))
    ]
    found = Skill.of(cells, "naive")
    assert (found.model.number, found.guess.number) == (3, 3)
    assert found.model.median == pytest.approx(0.02)
    assert found.at_median == pytest.approx(1 - 0.02 / 0.1)
    assert found.at_tenth == pytest.approx(1 - 0.04 / 0.2)
    assert Skill.of(cells, "null").at_median is None
