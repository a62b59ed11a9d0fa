# SPDX-License-Identifier: BSD-3-Clause
"""Error, iterations, time, and memory by mesh (table 3.1 of both HPCF papers)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from haloscope.analysis.cases import Facet, MeasuredCase, facets, values
from haloscope.analysis.context import Context
from haloscope.analysis.iteration_rates import converged
from haloscope.analysis.published import Library, Reference
from haloscope.quantities import MISSING, number, scientific, signed, size
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook

_KINDS = ("convergence",)
_COLUMNS = (
    Column("n", "N", align="left"),
    Column("dof", "DOF"),
    Column("error_max", "max error"),
    Column("error_ratio", "error ratio"),
    Column("iterations", "#iter"),
    Column("time_s", "wall time"),
    Column("memory_predicted_bytes", "predicted", "memory"),
    Column("memory_observed_bytes", "observed", "memory"),
)


_CORES = 5
"""_CORES is where meshes that were solved on unlike numbers of cores have these: before times."""


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table a solver variant: for each mesh the case with the fewest processes and threads."""
    solved = [case for case in cases if case.kernel == "poisson_cg" and converged(case)]
    axes = ("n", "nodes", "ppn", "threads", "exchange", "decomposition", "places", "bind")
    return [_table(part, context) for part in facets(solved, axes)]


def _table(part: Facet, context: Context) -> Table:
    own = [
        _smallest([c for c in part.cases if c.number("n") == n]) for n in values(part.cases, "n")
    ]
    notebook = Notebook(own, context.all_cases)
    for case in own:
        if case.cores > 1:
            notebook.note(f"N = {case.number('n')}: {case.processes}.")
    errors = {case.number("n"): case.result("error_max") for case in own}
    library = context.every_library
    rows = [_row(case, errors, notebook, library) for case in own]
    columns = [*_COLUMNS]
    if len({case.cores for case in own}) > 1:
        columns.insert(_CORES, Column("cores", "cores"))
        told = (label(str(case.cores), case.cores) for case in own)
        rows = [
            (*row[:_CORES], cores, *row[_CORES:]) for row, cores in zip(rows, told, strict=True)
        ]
    notebook.note(
        "error ratio: error on the mesh half as fine over error; second order gives about 4."
    )
    return Table(
        id="convergence",
        kind="convergence",
        title=context.title("Convergence study", part.label),
        columns=tuple(columns),
        rows=tuple(rows),
        notes=notebook.notes(),
    )


def _smallest(cases: list[MeasuredCase]) -> MeasuredCase:
    """Of one mesh's cases the one with a good launch and the fewest cores."""
    return min(cases, key=lambda case: (not case.launches, case.cores))


def _row(
    case: MeasuredCase, errors: dict[int, float | None], notebook: Notebook, library: Library
) -> tuple[Cell, ...]:
    n = case.number("n")
    find = library.find
    if not case.launches:
        rest = (notebook.absent(case), missing(), missing())
        return (label(str(n), n), plain(n * n, f"{n * n:,}"), *[missing()] * 3, *rest)
    coarse, error, iterations = errors.get(n // 2), errors[n], case.result("iterations")
    ratio = coarse / error if coarse and error and n % 2 == 0 else None
    memory = case.launches[0].memory or {}
    published_error = find(case, "error_max", _KINDS, ("n",))
    published_iterations = find(case, "iterations", _KINDS, ("n",))
    if published_iterations:
        whole = f"{published_iterations.value:,.0f}"  # as ours are written
        published_iterations = replace(published_iterations, text=whole)
        if iterations != published_iterations.value:
            share = iterations / published_iterations.value - 1
            off = signed(f"{100 * share:+.2f} %")
            notebook.note(f"N = {n}: iterations differ from the published by {off}.")
    return (
        label(str(n), n),
        plain(n * n, f"{n * n:,}"),
        notebook.beside(plain(error, scientific(error)), published_error, str(n)),
        plain(ratio, MISSING if ratio is None else number(ratio)),
        notebook.beside(_whole(iterations), published_iterations, str(n)),
        notebook.time(case, find(case, "time_s", _KINDS), str(n)),
        _bytes(memory.get("predicted_bytes")),
        _observed(case, published_error, notebook, library),
    )


def _whole(value: int | None) -> Cell:
    return missing() if value is None else plain(value, f"{value:,}")


def _bytes(value: float | None) -> Cell:
    return plain(value, size(value))


def _observed(
    case: MeasuredCase, error: Reference | None, notebook: Notebook, library: Library
) -> Cell:
    """Memory in use (VmRSS, over all processes), beside the published figure in its own unit.

    Where it is not from the table of the published error, notes say so.
    """
    observed = max(case.sample(lambda r: (r.memory or {}).get("rss_bytes")), default=None)
    cell = _bytes(observed)
    for column, unit in (("memory_observed_mb", 2**20), ("memory_observed_gb", 2**30)):
        published = library.find(case, column, _KINDS)
        if published:
            in_bytes = replace(published, text=size(published.value * unit))
            own = error is None or error.source == published.source
            return notebook.beside(
                cell, in_bytes, f"{case.number('n')}{'' if own else ' (memory)'}"
            )
    return cell
