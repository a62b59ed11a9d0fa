# SPDX-License-Identifier: BSD-3-Clause
"""Heat conduction by finite elements: parts of a solve, memory traffic, and error."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.context import Context
from haloscope.analysis.phases import REST, shares
from haloscope.quantities import percent, quantity, rate, seconds
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook

_MATRIX = ("generate", "assemble")
_COLUMNS = (
    Column("case", "case", align="left"),
    Column("time_s", "a solve"),
    Column("matrix_s", "matrix made"),
    Column("iterations", "iterations"),
    Column("iteration_s", "an iteration"),
    Column("bytes_per_s", "memory"),
    Column("imbalance", "most / mean"),
    Column("error_max", "error"),
)


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One row a case of fe_heat."""
    own = [case for case in cases if case.kernel == "fe_heat"]
    if not own:
        return []
    notebook = Notebook(own, context.all_cases)
    rows = tuple(_row(case, own, notebook) for case in own)
    notebook.note(
        "matrix made: in phases generate and assemble; without a matrix, the right-hand side "
        "alone. an iteration: all other phases, mean over processes, over the count. memory: "
        "declared bytes of an iteration over that. most / mean: elements of the process with the "
        "most, over the mean of all. error: largest difference to the series of the cube at nodes "
        "with x up to 1/2."
    )
    return [
        Table(
            id="heat",
            kind="heat",
            title=context.title("Heat conduction by finite elements"),
            columns=_COLUMNS,
            rows=rows,
            notes=notebook.notes(),
        )
    ]


def _row(case: MeasuredCase, among: Sequence[MeasuredCase], notebook: Notebook) -> tuple[Cell, ...]:
    head = (label(label_of(case, among)), notebook.time(case))
    iterations = case.result("iterations")
    phases = {one.name: one.seconds for one in shares(case)}
    if not iterations or not phases:
        return (*head, *(missing() for _ in _COLUMNS[2:]))
    matrix = sum(phases.get(name, 0.0) for name in _MATRIX)
    iterating = sum(time for name, time in phases.items() if name not in (*_MATRIX, REST))
    iteration = iterating / iterations
    bytes_ = case.result("bytes_per_row_iteration") * case.result("rows")
    error, imbalance = case.result("error_max"), case.result("imbalance")
    derived = (
        plain(matrix, seconds(matrix)),
        plain(iterations, f"{iterations:,.0f}"),
        plain(iteration, seconds(iteration)),
        plain(bytes_ / iteration, rate(bytes_ / iteration)) if iteration > 0 else missing(),
        plain(imbalance, percent(imbalance)),
        missing() if error is None else plain(error, quantity(error)),
    )
    return (*head, *(notebook.derived(cell, case) for cell in derived))
