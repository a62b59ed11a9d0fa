# SPDX-License-Identifier: BSD-3-Clause
"""Sparse matrix-vector product: rate per core, memory bandwidth, and values from other ranks."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.context import Context
from haloscope.quantities import BYTES_PER_SECOND, FLOPS, percent
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook

_COLUMNS = (
    Column("case", "case", align="left"),
    Column("time_s", "a product"),
    Column("flops_per_s", "rate"),
    Column("bytes_per_s", "memory"),
    Column("nonzeros", "nonzeros"),
    Column("ghosts_of_a_rank", "ghosts of a rank"),
    Column("uneven", "most / mean"),
)


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One row a case of spmv."""
    own = [case for case in cases if case.kernel == "spmv"]
    if not own:
        return []
    notebook = Notebook(own, context.all_cases)
    rows = tuple(_row(case, own, notebook) for case in own)
    notebook.note(
        "rate: two operations a nonzero. memory: declared bytes (12 a nonzero, and vectors) over "
        "time. ghosts: values of x that the rank with the most gets from others. most / mean: "
        "nonzeros of the rank with the most, over the mean of all ranks."
    )
    if any(_waits_in_a_thread(case) for case in own if case.simulated):
        notebook.note(
            "split_temporary, simulated: messages travel by themselves, so no thread waits for "
            "them; it is split with one addition more."
        )
    return [
        Table(
            id="spmv",
            kind="spmv",
            title=context.title("Sparse matrix times vector"),
            columns=_COLUMNS,
            rows=rows,
            notes=notebook.notes(),
        )
    ]


def _waits_in_a_thread(case: MeasuredCase) -> bool:
    return case.settings["overlap"] == "split_temporary" and case.number("threads") > 1


def _row(case: MeasuredCase, among: Sequence[MeasuredCase], notebook: Notebook) -> tuple[Cell, ...]:
    head = (label(label_of(case, among)), notebook.time(case))
    nonzeros, most = case.result("nonzeros"), case.result("nonzeros_of_a_rank")
    if not nonzeros or case.time is None:
        return (*head, *(missing() for _ in _COLUMNS[2:]))
    ghosts = case.result("ghosts_of_a_rank")
    uneven = most * case.ranks / nonzeros
    return (
        *head,
        notebook.estimate(case.time.rate(2 * nonzeros), case, FLOPS),
        _memory(case, notebook),
        plain(nonzeros, f"{nonzeros:,}"),
        plain(ghosts, f"{ghosts:,.0f}"),
        plain(uneven, percent(uneven)),
    )


def _memory(case: MeasuredCase, notebook: Notebook) -> Cell:
    bytes_ = (case.result("bytes_per_nonzero") or 0) * case.result("nonzeros")
    return notebook.estimate(case.time.rate(bytes_) if case.time else None, case, BYTES_PER_SECOND)
