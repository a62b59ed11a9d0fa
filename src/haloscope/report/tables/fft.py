# SPDX-License-Identifier: BSD-3-Clause
"""Three-dimensional Fourier transforms: rate, and share of the step spent in transposes."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.context import Context
from haloscope.analysis.phases import shares
from haloscope.quantities import FLOPS, percent, size
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook

_COLUMNS = (
    Column("case", "case", align="left"),
    Column("time_s", "there and back"),
    Column("flops_per_s", "rate"),
    Column("transposes", "in transposes"),
    Column("bytes_sent", "sent"),
)


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One row a case of fft_pencil."""
    own = [case for case in cases if case.kernel == "fft_pencil"]
    if not own:
        return []
    notebook = Notebook(own, context.all_cases)
    rows = tuple(_row(case, own, notebook) for case in own)
    notebook.note(
        "rate: the field's count, 2.5 N log2 N operations a real transform of N points, of which a "
        "step has two; FFTW does fewer. in transposes: the share of a step, mean over processes, "
        "in which nothing is transformed; where transposes are pipelined, this is only what "
        "transforms do not hide. sent: by all processes in a step."
    )
    return [
        Table(
            id="fft",
            kind="fft",
            title=context.title("Fourier transforms over pencils"),
            columns=_COLUMNS,
            rows=rows,
            notes=notebook.notes(),
        )
    ]


def _row(case: MeasuredCase, among: Sequence[MeasuredCase], notebook: Notebook) -> tuple[Cell, ...]:
    head = (label(label_of(case, among)), notebook.time(case))
    points, sent = case.result("points"), case.result("bytes_sent")
    if points is None or case.time is None:
        return (*head, *(missing() for _ in _COLUMNS[2:]))
    flops = 2 * 2.5 * points * log2(points)
    several = case.ranks > 1
    waiting = sum(one.share.value for one in shares(case) if one.name.startswith("transpose_"))
    return (
        *head,
        notebook.estimate(case.time.rate(flops), case, FLOPS),
        notebook.derived(plain(waiting, percent(waiting)), case) if several else missing(),
        notebook.derived(plain(sent, size(sent)), case) if several else missing(),
    )
