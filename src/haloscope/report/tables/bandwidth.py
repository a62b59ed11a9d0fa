"""Achieved against possible memory bandwidth: the Poisson solver beside stream's triad."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.memory_use import Use, uses
from haloscope.analysis.sweeps import level_of
from haloscope.quantities import BYTES_PER_SECOND, SECONDS, count, number, percent, size
from haloscope.report.context import Context
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook

_COLUMNS = (
    Column("case", "case", align="left"),
    Column("iteration_s", "an iteration"),
    Column("bytes_per_point", "bytes a point"),
    Column("working_set_bytes", "working set"),
    Column("achieved_bytes_per_s", "achieved"),
    Column("triad_bytes_per_s", "triad"),
    Column("share_of_triad", "share"),
)


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """A row a Poisson case that declares its traffic; if some have a triad, these alone."""
    solvers = [case for case in cases if case.kernel == "poisson_cg"]
    every = uses(solvers, context.all_cases)
    if not every:
        return []
    found = [use for use in every if use.triad is not None] or every
    notebook = Notebook(solvers, context.all_cases)
    rows = tuple(_row(use, solvers, notebook, context) for use in found)
    notebook.note(
        "achieved: bytes the solver's algorithm moves (declared for a point and an iteration) over "
        "its time. triad: of stream in the same run, on as many cores, its working set nearest."
    )
    if found[0].triad is None:
        notebook.note("No triad: stream was not run on as many cores.")
    elif len(found) < len(every):
        left_out = count(len(every) - len(found), "case")
        notebook.note(f"Without {left_out} on other numbers of cores than stream was run on.")
    if any(use.share is not None and use.share > 1 for use in found):
        notebook.note(
            "Above 100 %: part of the traffic was served by a cache, or overlapped better."
        )
    return [
        Table(
            id="bandwidth",
            kind="bandwidth",
            title=context.title("Achieved and possible memory bandwidth"),
            columns=_COLUMNS,
            rows=rows,
            notes=notebook.notes(),
        )
    ]


def _row(
    use: Use, among: Sequence[MeasuredCase], notebook: Notebook, context: Context
) -> tuple[Cell, ...]:
    case = use.case
    level = level_of(use.working_set_bytes, case, context.machine)
    in_level = f"{size(use.working_set_bytes)} ({level})" if level else size(use.working_set_bytes)
    if use.triad is None or use.triad_case is None:
        bound, share = missing(), missing()
    else:
        bound = notebook.estimate(use.triad.rate, use.triad_case, BYTES_PER_SECOND)
        share = plain(use.share, percent(use.share))
    return (
        label(label_of(case, among)),
        notebook.estimate(use.iteration, case, SECONDS),
        plain(use.bytes_per_point, number(use.bytes_per_point)),
        plain(use.working_set_bytes, in_level),
        notebook.estimate(use.achieved, case, BYTES_PER_SECOND),
        bound,
        share,
    )
