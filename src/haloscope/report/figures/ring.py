# SPDX-License-Identifier: BSD-3-Clause
"""Time per cycle round the ring by number of processes, with piecewise linear fits (Figure 1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.context import Context
from haloscope.analysis.fits import ring_model
from haloscope.models.ring import RingPiece
from haloscope.quantities import SECONDS, seconds, unit_of
from haloscope.report.figures.model import (
    OVER_PROCESSES,
    Axis,
    Curve,
    Figure,
    Lines,
    Mark,
    bars,
    counts,
    mark,
)
from haloscope.report.words import clock


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """A figure for every combination of the other settings."""
    own = [case for case in cases if case.kernel == "ring" and case.launches]
    return [_figure(part, context) for part in facets(own, ("nodes", "ppn"))]


def _figure(part: Facet, context: Context) -> Figure:
    own = sorted(part.cases, key=lambda case: case.ranks)
    factor, unit = unit_of(max(case.time_s for case in own), SECONDS)
    measured = Curve(
        clock(own),
        tuple(mark(case.ranks, case.time.times(1 / factor)) for case in own if case.time),
        joined=False,
    )
    model = ring_model(own)
    panel = Lines(
        "cycle",
        "A cycle by processes",
        Axis("processes N", ticks=counts([case.ranks for case in own], "linear")),
        Axis(f"cycle ({unit})"),
        (measured, *(_line(piece, factor) for piece in (model.pieces if model else ()))),
    )
    fitted = ("Lines: T = a + 2 Tₗ N, fitted level by level.",) if model else ()
    return Figure(
        id="ring",
        kind="ring",
        title=context.title("Time of a cycle round the ring", part.label),
        panels=(panel,),
        fewest=OVER_PROCESSES,
        alt=f"Time of a cycle for {own[0].ranks} to {own[-1].ranks} processes.",
        notes=(*bars(own, [panel]), *fitted, *(model.doubts if model else ())),
    )


def _line(piece: RingPiece, factor: float) -> Curve:
    """The line of one level, over its numbers of ranks, in a unit of so many seconds."""
    ends = np.array([piece.level.first_ranks, piece.level.last_ranks], float)
    return Curve(
        f"{piece.level.name.replace('-', ' ')}: {seconds(piece.latency_s.value)} a message",
        tuple(
            Mark(float(ranks), float(time) / factor)
            for ranks, time in zip(ends, piece.predict(ends), strict=True)
        ),
        model=True,
    )
