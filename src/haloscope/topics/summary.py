# SPDX-License-Identifier: BSD-3-Clause
"""All cases: settings, launches, time, node-hours, and results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from statistics import median

from haloscope.analysis.cases import MeasuredCase, row_name
from haloscope.analysis.context import Context
from haloscope.analysis.fits import exchanges
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.quantities import SECONDS, flops, rate, scientific, seconds, size
from haloscope.records.points import size_in
from haloscope.topics.common.notebook import Notebook, left_out
from haloscope.topics.common.table import NODE_TIME, Cell, Column, Table, label, missing, plain
from haloscope.topics.poisson import converged


def summary_tables(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Table]:
    """All cases: settings, launches, time, node-hours on several nodes, and results."""
    if not cases:
        return
    notebook = Notebook(cases, context.all_cases)
    names = list(dict.fromkeys(name for case in cases for name in case.settings))
    rows = [_row(case, cases, notebook) for case in cases]
    columns = [
        Column("case", "case", align="left"),
        Column("launches", "launches"),
        Column("time_s", "step"),
        NODE_TIME,
        Column("found", "found", align="left"),
    ]
    costs = any(case.on_nodes and row[3].value for case, row in zip(cases, rows, strict=True))
    keep = [True, True, True, costs, any(row[-1].text for row in rows)]
    columns = [*compress(columns, keep)]
    rows = [tuple(compress(row, keep)) for row in rows]
    swept = any(map(_points, cases))
    if swept:
        notebook.note(
            "Cases that measure several sizes or operations have a time for each in the CSV file."
        )
    settings = [[plain(case.settings.get(name), "") for name in names] for case in cases]
    in_bytes = all(case.size_unit == "B" for case in cases)
    of_points = _OF_POINTS[: 2 if in_bytes else None] if swept else ()
    none = [missing("")] * len(of_points)
    inner, excluded = (
        Notebook(cases, context.all_cases),
        {*left_out(cases, [*cases, *context.all_cases])},
    )
    yield Table(
        id="summary",
        kind="summary",
        title=context.title("All cases"),
        columns=(*columns, *of_points, *(Column(name, name, only_csv=True) for name in names)),
        rows=tuple((*row, *none, *own) for row, own in zip(rows, settings, strict=True)),
        notes=tuple(note for note in notebook.notes() if note not in excluded),
        every=tuple(
            (*each[: len(row) + len(of_points)], *own)
            for case, row, own in zip(cases, rows, settings, strict=True)
            for each in (_of_points(case, row, inner) or [(*row, *none)])
        )
        if swept
        else (),
    )


_OF_POINTS = (
    Column("point_operation", "operation", only_csv=True),
    Column("point_size_bytes", "size", only_csv=True),
    Column("point_size", "size", only_csv=True),
    Column("point_size_unit", "unit", only_csv=True),
)


def _points(case: MeasuredCase) -> tuple[Swept, ...]:
    return sweep(case) if any(len(record.points) > 1 for record in case.launches) else ()


def _of_points(
    case: MeasuredCase, row: Sequence[Cell], notebook: Notebook
) -> list[tuple[Cell, ...]]:
    return [
        (
            row[0],
            plain(len({*point.of})),
            notebook.estimate(point.time, case, SECONDS),
            *row[3:],
            plain(point.operation, point.operation or ""),
            plain(point.size_bytes if case.size_unit == "B" else None),
            plain(point.size_bytes, size_in(point.size_bytes, case.size_unit)),
            plain(case.size_unit),
        )
        for point in _points(case)
    ]


def _row(case: MeasuredCase, among: Sequence[MeasuredCase], notebook: Notebook) -> tuple[Cell, ...]:
    total = max(case.planned or 0, len(case.launches) + len(case.excluded))
    good = len(case.launches)
    points = max((len(record.points) for record in case.launches), default=0)
    texts = [f"{points} points", *_found(case)] if points > 1 else _found(case)
    return (
        label(row_name(case, among), case=case.id),
        Cell(good, f"{good} of {total}", tone="" if good == total else "warning"),
        missing() if points > 1 else notebook.time(case),
        missing() if points > 1 else notebook.node_time(case),
        plain(", ".join(texts)),
    )


def _found(case: MeasuredCase) -> list[str]:
    """Describe a kernel's main results, as in other tables; [] for kernels without any."""

    def middle(name: str) -> float | None:
        sample = case.sample(lambda record: record.result.get(name))
        return median(sample) if sample else None

    if case.kernel == "pingpong":
        return list(_messages(case))
    nonzeros = middle("nonzeros") if case.kernel == "spmv" else None
    if nonzeros and case.time:
        return [flops(case.time.rate(2 * nonzeros).value)]
    iterations, error = middle("iterations"), middle("error_max")
    texts = [f"{iterations:,.0f} iterations"] if iterations is not None else []
    if error is not None and (case.kernel != "poisson_cg" or converged(case)):
        texts.append(f"error {scientific(error)}")
    return texts


def _messages(case: MeasuredCase) -> Iterator[str]:
    points = [point for point in sweep(case) if point.size_bytes]
    if points and exchanges(case):
        yield f"{size(points[0].size_bytes)} in {seconds(points[0].one_way.value)}"
    if points:
        best = max(points, key=lambda point: point.rate.value)
        yield f"{rate(best.rate.value)} at {size(best.size_bytes)}"
