"""Every case at a glance: its settings, its launches, its time, and what it found."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from haloscope.analysis.cases import MeasuredCase, name_of
from haloscope.quantities import flops, rate, scientific, seconds
from haloscope.report.context import Context
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table of all cases, good or not."""
    if not cases:
        return []
    notebook = Notebook(cases, context.all_cases)
    names = list(dict.fromkeys(name for case in cases for name in case.settings))
    rows = [_row(case, cases, notebook) for case in cases]
    columns = [
        Column("case", "case", align="left"),
        Column("launches", "launches"),
        Column("time_s", "step"),
        Column("found", "found", align="left"),
    ]
    if not any(row[-1].text for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    if any(len(record.points) > 1 for case in cases for record in case.launches[:1]):
        notebook.note("A case of several points has a time for each, and no step of them all.")
    return [
        Table(
            id="summary",
            kind="summary",
            title=context.title("All cases"),
            columns=(*columns, *(Column(name, name, only_csv=True) for name in names)),
            rows=tuple(
                (*row, *(plain(case.settings.get(name), "") for name in names))
                for case, row in zip(cases, rows, strict=True)
            ),
            notes=notebook.notes(),
        )
    ]


def _row(case: MeasuredCase, among: Sequence[MeasuredCase], notebook: Notebook) -> tuple[Cell, ...]:
    total = max(case.planned or 0, len(case.launches) + len(case.excluded))
    good = len(case.launches)
    points = len(case.launches[0].points) if case.launches else 0
    told = [f"{points} points", *_found(case)] if points > 1 else _found(case)
    return (
        label(name_of(case, among)),
        Cell(good, f"{good} of {total}", tone="" if good == total else "warning"),
        missing() if points > 1 else notebook.time(case),
        plain(", ".join(told)),
    )


def _found(case: MeasuredCase) -> list[str]:
    """A kernel's main results in words, medians over launches; [] for kernels without any."""

    def middle(name: str) -> float | None:
        sample = case.sample(lambda record: record.result.get(name))
        return median(sample) if sample else None

    shown = (
        ("iterations", "{} iterations", lambda value: f"{value:,.0f}"),
        ("error_max", "error {}", scientific),
        ("triad_bytes_per_s", "triad {}", rate),
        ("product_flops_per_s", "{}", flops),
        ("latency_s", "{} for the smallest message", seconds),
        ("bandwidth_bytes_per_s", "{} at best", rate),
    )
    return [
        text.format(show(value))
        for name, text, show in shown
        if (value := middle(name)) is not None
    ]
