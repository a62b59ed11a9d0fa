# SPDX-License-Identifier: BSD-3-Clause
"""Sparse matrix-vector product: table, figure, and findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet, facets
from haloscope.analysis.sweeps import level_of
from haloscope.findings.finding import Finding, FindingShape, Metric
from haloscope.layout import CORES
from haloscope.quantities import BYTES_PER_SECOND, FLOPS, flops, percent
from haloscope.study.settings import describe, varying
from haloscope.topics.common.figure import (
    Axis,
    Curve,
    Figure,
    Lines,
    Mark,
    bars,
    counts,
    mark,
)
from haloscope.topics.common.making import made
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import Cell, Column, Table, label, missing, shown
from haloscope.topics.common.words import clock
from haloscope.topics.poisson.findings import efficiency_caveats
from haloscope.topics.scaling import Ladder, scalings
from haloscope.topics.scaling.findings import speedup_claim

_COLUMNS = (
    Column("case", "case", align="left"),
    Column("time_s", "a product"),
    Column("flops_per_s", "rate"),
    Column("bytes_per_s", "memory"),
    Column("nonzeros", "nonzeros"),
    Column("ghosts_of_a_rank", "ghosts per rank"),
    Column("uneven", "imbalance"),
)


def spmv_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Sparse matrix-vector product: rate per core, memory bandwidth, and data from other ranks.

    One row a case of spmv.
    """
    own = [case for case in cases if case.kernel == "spmv"]
    if not own:
        return []
    notebook = Notebook(own, context.all_cases)
    rows = tuple(_row(case, own, notebook) for case in own)
    notebook.note(
        "rate: two operations per nonzero.",
        "memory: declared bytes (12 per nonzero, 8 with shared columns, and vectors) / time.",
        "ghosts: values of x that a rank receives, largest over ranks.",
        "imbalance: maximum nonzeros per rank / mean.",
    )
    if any(_waits_in_a_thread(case) for case in own if case.simulated):
        notebook.note(
            "split_temporary, simulated: messages progress in the background, so the only added "
            "cost is one addition."
        )
    return [notebook.table("spmv", context.title("Sparse matrix times vector"), _COLUMNS, rows)]


def _waits_in_a_thread(case: MeasuredCase) -> bool:
    return case.settings["overlap"] == "split_temporary" and case.layout.threads > 1


def _row(case: MeasuredCase, among: Sequence[MeasuredCase], notebook: Notebook) -> tuple[Cell, ...]:
    head = (label(label_of(case, among)), notebook.time(case))
    nonzeros, most = case.result("nonzeros"), case.result("nonzeros_of_a_rank")
    if not nonzeros or case.time is None:
        return (*head, *(missing() for _ in _COLUMNS[2:]))
    ghosts = case.result("ghosts_of_a_rank")
    uneven = most * case.ranks / nonzeros
    return (
        *head,
        notebook.estimate(case.time.rate(2 * nonzeros), case, FLOPS),
        _memory(case, notebook),
        shown(nonzeros, "{:,}".format),
        shown(ghosts, "{:,.0f}".format),
        shown(uneven, percent),
    )


def _memory(case: MeasuredCase, notebook: Notebook) -> Cell:
    bytes_ = (case.result("bytes_per_nonzero") or 0) * case.result("nonzeros")
    return notebook.estimate(case.time.rate(bytes_) if case.time else None, case, BYTES_PER_SECOND)


def spmv_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Rate of the sparse matrix-vector product by cores, with perfect scaling."""
    own = [case for case in cases if case.kernel == "spmv" and case.launches]
    found = (_figure(part, context) for part in facets(own, ("overlap", "partition", *CORES)))
    return [figure for figure in found if figure is not None]


def _figure(matrix: Facet, context: Context) -> Figure | None:
    ways = facets(matrix.cases, CORES)
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
        kind="spmv",
        title=context.title("Sparse matrix times vector", matrix.label),
        panels=(panel,),
        alt=f"Rate on {cores[0]} to {cores[-1]} cores. Highest: {flops(1e9 * best.y)} on "
        f"{best.x:.0f} cores.",
        notes=(
            "ideal: linear scaling from the fastest rate on the fewest cores.",
            *bars(matrix.cases, [panel]),
        ),
        cases=tuple(case.id for case in matrix.cases),
    )


def _marks(cases: Sequence[MeasuredCase]) -> tuple[Mark, ...]:
    best: dict[int, Mark] = {}
    for case in cases:
        if case.time is not None:
            rate = case.time.rate(2e-9 * case.result("nonzeros"))
            one = mark(case.cores, rate)
            known = best.get(case.cores)
            best[case.cores] = one if known is None or known.y < one.y else known
    return tuple(best[cores] for cores in sorted(best))


SHOWN = 6
"""SHOWN is the maximum number of settings with one finding each; with more, only the extremes."""


def products(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the most processes against the fewest, for each matrix and other settings."""
    found = []
    for scaling in scalings([case for case in cases if case.kernel == "spmv"]):
        for ladder in scaling.ladders:
            good = [case for case in ladder.steps.values() if case.launches]
            if len(good) > 1 and (finding := _speedup(ladder, good[-1], context)):
                found.append(finding)
    found.sort(key=_ratio, reverse=True)
    yield from found if len(found) <= SHOWN else (found[0], found[-1])


def _ratio(finding: Finding) -> float:
    ratio = finding.parts[0].ratio
    assert ratio is not None
    return ratio.estimate.value


def _speedup(ladder: Ladder, case: MeasuredCase, context: Context) -> Finding | None:
    contrast = ladder.against_base(case, context.seed)
    share, base = ladder.efficiency(case, context.seed), ladder.base
    if contrast is None or contrast.ratio is None or share is None or base is None:
        return None
    few, many = (level_of(_moved_bytes(each), each, context.machine) for each in (base, case))
    return made(
        context,
        [case, base],
        "Time of a sparse product",
        FindingShape.TREND,
        [speedup_claim(contrast, share.value)],
        topic="spmv",
        metric=Metric("time of a product"),
        caveats=efficiency_caveats(base, share, few != many),
        but=CORES,
    )


def _moved_bytes(case: MeasuredCase) -> float:
    """Return the data that all processes read and write in a product, each item once."""
    work = case.launches[0].work or {}
    return float(work.get("bytes") or 0)
