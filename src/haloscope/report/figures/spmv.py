# SPDX-License-Identifier: BSD-3-Clause
"""Rate of the sparse matrix-vector product by cores, with perfect scaling."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.context import Context
from haloscope.quantities import flops
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
from haloscope.study.settings import describe, varying

_CORES = ("nodes", "ppn", "threads")


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """A figure for each matrix run on several numbers of cores, a curve for each way to run it."""
    own = [case for case in cases if case.kernel == "spmv" and case.launches]
    found = (_figure(part, context) for part in facets(own, ("overlap", "partition", *_CORES)))
    return [figure for figure in found if figure is not None]


def _figure(matrix: Facet, context: Context) -> Figure | None:
    ways = facets(matrix.cases, _CORES)
    apart = varying([way.settings for way in ways])
    curves = [
        Curve(describe(way.settings, apart) or clock(way.cases), _marks(way.cases), joined=False)
        for way in ways
    ]
    cores = sorted({case.cores for case in matrix.cases})
    if len(cores) < 2:
        return None
    base = max(curve.marks[0].y / cores[0] for curve in curves if curve.marks[0].x == cores[0])
    ideal = tuple(Mark(p, base * p) for p in cores)
    best = max((one for curve in curves for one in curve.marks), key=lambda one: one.y)
    panel = Lines(
        "rate",
        "",
        Axis("cores", "log2", counts(cores)),
        Axis("GFLOP/s", "log"),
        (Curve("ideal", ideal, bound=True), *curves),
    )
    return Figure(
        id="spmv",
        kind="spmv",
        title=context.title("Sparse matrix times vector", matrix.label),
        panels=(panel,),
        fewest=OVER_PROCESSES,
        alt=f"Rate over {cores[0]} to {cores[-1]} cores. Highest: {flops(1e9 * best.y)} on "
        f"{best.x:.0f} cores.",
        notes=(
            "ideal: the fastest on the fewest cores, in proportion.",
            *bars(matrix.cases, [panel]),
        ),
    )


def _marks(cases: Sequence[MeasuredCase]) -> tuple[Mark, ...]:
    """By cores; of several layouts with as many, the fastest."""
    best: dict[int, Mark] = {}
    for case in cases:
        if case.time is not None:
            rate = case.time.rate(2e-9 * case.result("nonzeros"))
            one = mark(case.cores, rate)
            known = best.get(case.cores)
            best[case.cores] = one if known is None or known.y < one.y else known
    return tuple(best[cores] for cores in sorted(best))
