"""Device kernels one after the other, with a synchronisation after the first or without."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.device_kernels import WAYS
from haloscope.analysis.sweeps import sweep
from haloscope.quantities import SECONDS, seconds, size
from haloscope.report.context import Context
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table; a row a case, with what the synchronisation costs."""
    own = [case for case in cases if case.kernel == "launches"]
    if not any(case.launches for case in own):
        return []
    notebook = Notebook(own, context.all_cases)
    rows = tuple(_row(case, own, notebook) for case in own)
    notebook.note(
        "synchronised: the second device kernel is launched when the first has ended, so that no "
        "launch is hidden behind its work; added: what that takes longer."
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


def _row(case: MeasuredCase, among: Sequence[MeasuredCase], notebook: Notebook) -> tuple[Cell, ...]:
    found = {point.operation: point.time for point in sweep(case)}
    times = [found.get(way) for way in WAYS]
    kernels, each, first = (case.number(name) for name in ("kernels", "size", "first"))
    return (
        label(label_of(case, among)),
        plain(kernels),
        plain(first * each, size(first * each)),
        plain(each, size(each)),
        *(notebook.estimate(time, case, SECONDS) for time in times),
        _added([time.value for time in times if time]),
    )


def _added(values: Sequence[float]) -> Cell:
    if len(values) < len(WAYS):
        return missing()
    value = values[1] - values[0]
    return Cell(value, seconds(round(value, 12)))  # simulated times differ by rounding
