"""Tables as data, made from cases alone: no files, no processes. `report.draw` draws them.

build("scaling", cases, context)      every table of a kind that the cases allow
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from haloscope.analysis.cases import MeasuredCase, select
from haloscope.report.context import Context
from haloscope.report.tables import (
    bandwidth,
    clusters,
    collectives,
    convergence,
    exchange,
    fits,
    hybrid_grid,
    iterations,
    jacobi,
    libraries,
    mapping,
    overlap,
    phases,
    pingpong,
    ring,
    scaling,
    sf_grid,
    sf_latency,
    split_phase,
    spmv,
    stream,
    sum3d,
    summary,
    walltime_grid,
)
from haloscope.report.tables.model import Cell, Column, Table

__all__ = ["KINDS", "Cell", "Column", "Context", "Table", "build"]

Builder = Callable[[Sequence[MeasuredCase], Context], list[Table]]

KINDS: Mapping[str, Builder] = {
    "stream": stream.build,
    "bandwidth": bandwidth.build,
    "pingpong": pingpong.build,
    "fits": fits.build,
    "libraries": libraries.build,
    "ring": ring.build,
    "sum3d": sum3d.build,
    "collectives": collectives.build,
    "convergence": convergence.build,
    "walltime_grid": walltime_grid.build,
    "hybrid_grid": hybrid_grid.build,
    "clusters": clusters.build,
    "scaling": scaling.build,
    "exchange": exchange.build,
    "jacobi": jacobi.build,
    "iterations": iterations.build,
    "sf_latency": sf_latency.build,
    "sf_grid": sf_grid.build,
    "split_phase": split_phase.build,
    "mapping": mapping.build,
    "overlap": overlap.build,
    "spmv": spmv.build,
    "phases": phases.build,
    "summary": summary.build,
}


def build(kind: str, cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """The tables of one kind; [] where no case suits it. KeyError for a kind that is none.

    `cases` are all there are; those that the options' `where` leaves out are still there for
    tables that set one kernel against another.
    """
    chosen = select(cases, context.options.where)
    return KINDS[kind](chosen, replace(context, all_cases=tuple(cases)))
