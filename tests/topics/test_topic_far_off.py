# SPDX-License-Identifier: BSD-3-Clause
"""Simulated values that are far off the published ones beside them, of any topic."""

from __future__ import annotations

from dataclasses import replace

import pytest
from found import found, ratio
from recorded import record

from haloscope.findings.finding import FindingShape, Verdict
from haloscope.papers import tables as papers
from haloscope.topics import grids
from haloscope.topics.common.table import Cell, Column, Table, label
from haloscope.topics.far_off import beside, far_off

COLUMNS = (Column("n", "n"), Column("time_s", "time"), Column("rate", "rate"))
TABLE = Table("one", "walltime_grid", "Solves", COLUMNS, ())


def rows(*ratios: float, case: str) -> Table:
    """A table of so many times, each with a published one of 2 s."""
    made = [
        (label(str(n)), Cell(2.0 * one, f"{2 * one:g} s", published="2", published_value=2.0,
                             case=case), Cell(None, ""))
        for n, one in enumerate(ratios)
    ]  # fmt: skip
    return replace(TABLE, rows=tuple(made))


def of_case(simulated: bool, *ratios: float) -> list[list[float]]:
    """Of each finding about such a table, the largest ratio and the number of far ones."""
    raw = record("empty", {}, [1.0], clock="simulated" if simulated else "real")
    made = found(
        lambda cases, context: far_off([rows(*ratios, case=cases[0].id)], cases, context), [raw]
    )
    assert all(one.of == len(ratios) and one.topic == "walltime" for one in made)
    return [[ratio(one.parts[1]), float(one.parts[0].count or 0)] for one in made]


def test_values_off_by_more_than_1_5x_are_counted_and_the_largest_difference_is_named() -> None:
    assert of_case(True, 1.0, 1.49, 0.68) == []
    assert of_case(True, 1.0, 1.51, 0.5, 1.6, 0.66) == [[0.5, 4.0]]


def test_measured_values_are_not_compared_with_another_machine() -> None:
    assert of_case(False, 3.0) == []


def test_published_values_in_a_separate_column_are_compared_too() -> None:
    columns = (Column("n", "n"), Column("rate", "rate"), Column("published_rate", "published"))
    row = (label("8"), Cell(3.0, "3", case="a"), Cell(1.5, "1.5"))
    ((where, cell, known, over),) = beside(replace(TABLE, columns=columns, rows=(row,)))
    assert (where, cell.value, known.value, over) == ("n = 8, rate", 3.0, 1.5, 2.0)
    unlike = (label("8"), Cell(3.0, "3", case="a", unlike=True), Cell(1.5, "1.5"))
    assert [*beside(replace(TABLE, columns=columns, rows=(unlike,)))] == []
    continued = (label(""), Cell(3.0, "3", case="a"), Cell(1.5, "1.5"))
    both = [*beside(replace(TABLE, columns=columns, rows=(row, continued)))]
    assert [pair[0] for pair in both] == ["n = 8, rate"] * 2
    lacking = (label("8"), Cell(3.0, "3", case="a"), Cell(None, "–"))
    assert [*beside(replace(TABLE, columns=columns, rows=(lacking,)))] == []


@pytest.mark.parametrize(("time_s", "far"), [(0.05, 2), (0.5, 0)])
def test_a_simulated_sum_far_from_the_published_one_disagrees(time_s: float, far: int) -> None:
    raws = [
        record("sum3d", {"size": "2400x100x100", "topology": "24x1x1", "distribution": name},
               [time_s], ranks=24, clock="simulated")
        for name in ("balanced", "topology", "subblock")
    ]  # fmt: skip

    def of_tables(cases, context):  # type: ignore[no-untyped-def]
        return far_off(grids.sum3d_tables(cases, context), cases, context)

    made = found(of_tables, raws, paper=papers.load("orfeo-mpi-report"))

    assert [one.shape for one in made] == [FindingShape.PUBLISHED] * bool(far)
    found_far = [(part.count, part.verdict) for one in made for part in one.parts]
    assert found_far == ([(far, None), (None, Verdict.DISAGREES)] if far else [])
