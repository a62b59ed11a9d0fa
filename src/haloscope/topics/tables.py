# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of table by its name, with the function that makes it from cases.

build("scaling", cases, context) returns the tables of a kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from haloscope.analysis.cases import MeasuredCase, select
from haloscope.analysis.context import Context
from haloscope.topics import grids, programs, ring, spmv, summary, tails, variability
from haloscope.topics.collectives import views as collectives
from haloscope.topics.common.table import Table
from haloscope.topics.common.words import WhyNone, reason
from haloscope.topics.contrast import views as contrast
from haloscope.topics.jacobi import tables as jacobi
from haloscope.topics.mapping import characterization
from haloscope.topics.mapping import tables as mapping
from haloscope.topics.memory import views as memory
from haloscope.topics.messages import tables as messages
from haloscope.topics.phases import tables as phases
from haloscope.topics.poisson import clusters
from haloscope.topics.poisson import tables as poisson
from haloscope.topics.scaling import tables as scaling
from haloscope.topics.star_forests import split_phase
from haloscope.topics.star_forests import views as star_forests

TableBuilder = Callable[[Sequence[MeasuredCase], Context], Iterable[Table]]
TABLES: Mapping[str, TableBuilder] = MappingProxyType({
    "stream": memory.stream_tables,
    "bandwidth": memory.bandwidth_tables,
    "pingpong": messages.pingpong_tables,
    "fits": messages.fits_tables,
    "libraries": messages.libraries_tables,
    "ring": ring.ring_tables,
    "sum3d": grids.sum3d_tables,
    "collectives": collectives.collectives_tables,
    "guidelines": collectives.guidelines_tables,
    "convergence": poisson.convergence_tables,
    "walltime_grid": poisson.walltime_grid_tables,
    "hybrid_grid": poisson.hybrid_grid_tables,
    "bind": contrast.bind_tables,
    "clusters": clusters.clusters_tables,
    "memory_by_ranks": poisson.memory_by_ranks_tables,
    "scaling": scaling.scaling_tables,
    "scaling_law": scaling.scaling_law_tables,
    "exchange": contrast.exchange_tables,
    "jacobi": jacobi.jacobi_tables,
    "iterations": poisson.iterations_tables,
    "sf_latency": star_forests.sf_latency_tables,
    "sf_grid": star_forests.sf_grid_tables,
    "split_phase": split_phase.split_phase_tables,
    "launches": star_forests.launches_tables,
    "one_node": mapping.one_node_tables,
    "weak_scaling": mapping.weak_scaling_tables,
    "mapping": mapping.mapping_tables,
    "characterization": characterization.tables,
    "overlap": contrast.overlap_tables,
    "spmv": spmv.spmv_tables,
    "fft": grids.fft_tables,
    "transpose": contrast.transpose_tables,
    "layout": contrast.layout_tables,
    "heat": grids.heat_tables,
    "operator": contrast.operator_tables,
    "phases": phases.phases_tables,
    "sections": phases.sections_tables,
    "stragglers": phases.stragglers_tables,
    "variability": variability.variability_tables,
    "tails": tails.tails_tables,
    "points": programs.points_tables,
    "results": programs.results_tables,
    "summary": summary.summary_tables,
})  # fmt: skip
_WHY_NONE: Mapping[str, WhyNone] = MappingProxyType({
    "one_node": mapping.why_no_one_node_table,
    "variability": variability.why_no_variability_table,
    "tails": tails.why_no_tails_table,
})  # fmt: skip


def why_none(kind: str, cases: Sequence[MeasuredCase], context: Context) -> str:
    """Return why there is no table of a kind: the topic's reason, or that no case suits it."""
    return reason(_WHY_NONE.get(kind), select(cases, context.options.where), context)


def build(kind: str, cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Return the tables of one kind; [] if no case suits it. Raise KeyError for an unknown kind.

    `cases` are all cases; those that the options' `where` excludes are available to tables that
    compare kernels.
    """
    chosen = select(cases, context.options.where)
    return [*TABLES[kind](chosen, replace(context, all_cases=tuple(cases)))]
