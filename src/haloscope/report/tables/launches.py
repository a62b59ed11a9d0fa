# SPDX-License-Identifier: BSD-3-Clause
"""Consecutive device kernels, with and without a synchronisation after the first."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.context import Context
from haloscope.analysis.device_kernels import WAYS, published_chain
from haloscope.analysis.published import Library
from haloscope.analysis.sweeps import sweep
from haloscope.quantities import SECONDS, seconds, size
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table; a row a case, with what the synchronisation costs."""
    own = [case for case in cases if case.kernel == "launches"]
    if not any(case.launches for case in own):
        return []
    notebook = Notebook(own, context.all_cases)
    rows = tuple(_row(case, own, notebook, context.library) for case in own)
    notebook.note(
        "synchronised: the second device kernel is launched when the first has ended, so that no "
        "launch is hidden behind its work; added: what that takes longer."
    )
    if any(cell.published for row in rows for cell in row):
        notebook.note(
            "The published figures are an example and no measurement: it assumes 10 µs a launch, "
            "and nothing for a synchronisation itself, where the cluster file has more of both. "
            "haloscope validate anl-petsc-summit-part2 --table fig15 takes what it assumes."
        )
    return [
        Table(
            id="launches",
            kind="launches",
            title=context.title("Device kernels launched one after the other"),
            columns=(
                Column("case", "case", align="left"),
                Column("kernels", "device kernels"),
                Column("first_bytes", "bytes of the first"),
                Column("other_bytes", "of each other"),
                *(Column(f"{way}_s", way) for way in WAYS),
                Column("added_s", "added"),
            ),
            rows=rows,
            notes=notebook.notes(),
        )
    ]


def _row(
    case: MeasuredCase, among: Sequence[MeasuredCase], notebook: Notebook, library: Library
) -> tuple[Cell, ...]:
    found = {point.operation: point.time for point in sweep(case)}
    times = {way: found.get(way) for way in WAYS}
    kernels, each, first = (case.number(name) for name in ("kernels", "size", "first"))
    return (
        label(label_of(case, among)),
        plain(kernels),
        plain(first * each, size(first * each)),
        plain(each, size(each)),
        *(
            notebook.beside(
                notebook.estimate(time, case, SECONDS), published_chain(case, way, library)
            )
            for way, time in times.items()
        ),
        _added([time.value for time in times.values() if time]),
    )


def _added(values: Sequence[float]) -> Cell:
    if len(values) < len(WAYS):
        return missing()
    value = values[1] - values[0]
    return Cell(value, seconds(round(value, 12)))  # simulated times differ by rounding
