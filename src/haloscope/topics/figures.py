# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of figure by its name, with the function that makes it from cases.

build("scaling", cases, context) returns the figures of a kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from haloscope.analysis.cases import MeasuredCase, select
from haloscope.analysis.context import Context
from haloscope.topics import programs, ring, spmv, variability
from haloscope.topics.collectives import views as collectives
from haloscope.topics.common.figure import Figure
from haloscope.topics.common.words import WhyNone, reason
from haloscope.topics.contrast import views as contrast
from haloscope.topics.jacobi import figures as jacobi
from haloscope.topics.mapping import characterization
from haloscope.topics.mapping import figures as mapping
from haloscope.topics.memory import views as memory
from haloscope.topics.messages import figures as messages
from haloscope.topics.phases import figures as phases
from haloscope.topics.poisson import figures as poisson
from haloscope.topics.scaling import figures as scaling
from haloscope.topics.star_forests import split_phase
from haloscope.topics.star_forests import views as star_forests

FigureBuilder = Callable[[Sequence[MeasuredCase], Context], Iterable[Figure]]
FIGURES: Mapping[str, FigureBuilder] = MappingProxyType({
    "stream": memory.stream_figures,
    "pingpong": messages.pingpong_figures,
    "fits": messages.fits_figures,
    "transports": messages.transports_figures,
    "ring": ring.ring_figures,
    "collectives": collectives.collectives_figures,
    "surfaces": poisson.surfaces_figures,
    "hybrid_grid": poisson.hybrid_grid_figures,
    "bind": contrast.bind_figures,
    "overlay": poisson.overlay_figures,
    "scaling": scaling.scaling_figures,
    "scaling_law": scaling.scaling_law_figures,
    "exchange": contrast.exchange_figures,
    "jacobi": jacobi.jacobi_figures,
    "roofline": jacobi.roofline_figures,
    "iterations": poisson.iterations_figures,
    "sf_latency": star_forests.sf_latency_figures,
    "sf_grid": star_forests.sf_grid_figures,
    "split_phase": split_phase.split_phase_figures,
    "timeline": phases.timeline_figures,
    "weak_scaling": mapping.weak_scaling_figures,
    "mapping": mapping.mapping_figures,
    "characterization": characterization.figures,
    "overlap": contrast.overlap_figures,
    "spmv": spmv.spmv_figures,
    "transpose": contrast.transpose_figures,
    "phases": phases.phases_figures,
    "sections": phases.sections_figures,
    "variability": variability.variability_figures,
    "points": programs.points_figures,
})  # fmt: skip
_WHY_NONE: Mapping[str, WhyNone] = MappingProxyType({
    "roofline": jacobi.why_no_roofline_figure,
})  # fmt: skip


def why_none(kind: str, cases: Sequence[MeasuredCase], context: Context) -> str:
    """Return why there is no figure of a kind: the topic's reason, or that no case suits it."""
    return reason(_WHY_NONE.get(kind), select(cases, context.options.where), context)


def build(kind: str, cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Return the figures of one kind; [] if no case suits it. Raise KeyError for an
    unknown kind.
    """
    return [*FIGURES[kind](select(cases, context.options.where), context)]
