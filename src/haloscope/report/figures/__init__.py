"""Figures as data, made from cases alone: no files, no processes. `report.draw` draws them.

build("scaling", cases, context)      every figure of a kind that the cases allow
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from haloscope.analysis.cases import MeasuredCase, select
from haloscope.report.context import Context
from haloscope.report.figures import (
    collectives,
    fits,
    iterations,
    jacobi,
    mapping,
    phases,
    pingpong,
    ring,
    roofline,
    scaling,
    split_phase,
    spmv,
    stream,
    surfaces,
    timeline,
    transports,
)
from haloscope.report.figures.model import Figure

__all__ = ["KINDS", "Figure", "build"]

Builder = Callable[[Sequence[MeasuredCase], Context], list[Figure]]

KINDS: Mapping[str, Builder] = {
    "collectives": collectives.build,
    "phases": phases.build,
    "pingpong": pingpong.build,
    "fits": fits.build,
    "ring": ring.build,
    "transports": transports.build,
    "split_phase": split_phase.build,
    "timeline": timeline.build,
    "scaling": scaling.build,
    "jacobi": jacobi.build,
    "roofline": roofline.build,
    "mapping": mapping.build,
    "iterations": iterations.build,
    "spmv": spmv.build,
    "stream": stream.build,
    "surfaces": surfaces.build,
}


def build(kind: str, cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """The figures of one kind; [] where no case suits it. KeyError for a kind that is none."""
    return KINDS[kind](select(cases, context.options.where), context)
