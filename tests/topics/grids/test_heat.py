# SPDX-License-Identifier: BSD-3-Clause
"""Reports of heat conduction: what a solve consists of, and operators set against each other."""

from __future__ import annotations

from typing import Any

import pytest
from recorded import MACHINE, Raw, bad, cases, heat

from haloscope.analysis.context import Context
from haloscope.topics import tables
from haloscope.topics.common.table import Table

CONTEXT = Context(machine=MACHINE)


def build(kind: str, raws: list[Raw]) -> Table:
    (table,) = tables.build(kind, cases(raws), CONTEXT)
    return table


def launches(**settings: Any) -> list[Raw]:
    return [heat(launch=launch, **settings) for launch in range(7)]


def test_a_solve_consists_of_a_matrix_and_iterations() -> None:
    (row,) = build("heat", launches()).rows

    time, matrix, iterations, iteration, memory, uneven, error = (cell.value for cell in row[1:])
    assert isinstance(time, float) and isinstance(iteration, float)
    assert matrix == pytest.approx(time / 60, rel=1e-2)
    assert iterations == 120
    assert iteration == pytest.approx(0.983 * time / 120, rel=1e-2)
    assert memory == pytest.approx(417.8 * 250_047 / iteration)
    assert (uneven, error) == (1.0, 1.13e-4)


def test_a_case_with_missing_launches_marks_all_its_numbers() -> None:
    (row,) = build("heat", [*launches(), bad(heat(launch=7), "failed", "killed")]).rows

    assert [cell.marks for cell in row[1:]] == ["*"] * 7


def test_unexecuted_cases_have_no_error_and_failed_ones_no_parts() -> None:
    raw = heat()
    unknown = {**raw, "result": {**raw["result"], "error_max": None, "error_max_bound": None}}

    assert build("heat", [unknown]).rows[0][-1].text == "–"
    failed = {**bad(heat(ranks=2), "failed", "killed"), "times_s": [], "result": {}, "phases": []}
    assert [cell.text for cell in build("heat", [raw, failed]).rows[1][2:]] == ["–"] * 6


def test_operators_are_compared_on_one_process_too() -> None:
    raws = [*launches(), *launches(operator="matrix_free", time_s=1.0)]

    table = build("operator", raws)

    assert [row[1].text for row in table.rows] == ["csr", "matrix_free"]


def test_other_kernels_have_no_heat_table() -> None:
    assert tables.build("heat", cases([{**heat(), "kernel": "stream"}]), CONTEXT) == []
