# SPDX-License-Identifier: BSD-3-Clause
"""Kernels on three-dimensional grids (Fourier transforms, heat, sums): tables and findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import log2
from types import MappingProxyType

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.comparison import races, step
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet, facets
from haloscope.analysis.validation.published import Library, Reference, source
from haloscope.findings.finding import Finding, FindingShape, Metric
from haloscope.grouped import grouped
from haloscope.quantities import (
    FLOPS,
    SECONDS,
    cpu_list,
    number,
    percent,
    quantity,
    rate,
    seconds,
    size,
)
from haloscope.study.settings import Settings
from haloscope.topics.common.making import made, winners
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import (
    Cell,
    Column,
    Table,
    label,
    lettered,
    missing,
    plain,
    shown,
)
from haloscope.topics.phases import REST, shares

PRINTED_SPLITS = MappingProxyType({"balanced": "even", "topology": "topology"})
"""PRINTED_SPLITS are the paper's names of distributions."""


def published_sum(case: MeasuredCase, library: Library) -> Reference | None:
    """Return the published interval for a sum's size, ranks, topology, and split, or None.

    value: its middle.
    """
    size = str(case.settings["size"]).split("x")
    shape = str(case.settings["topology"]).split("x")
    split = PRINTED_SPLITS.get(str(case.settings["distribution"]))
    for table in library.tables(("matrix_sum",)):
        facts = [str(table.facts.get(key)) for key in ("nx", "ny", "nz", "ranks")]
        for row in table.rows if facts == [*size, str(case.ranks)] else ():
            if [str(row[key]) for key in ("px", "py", "pz")] == shape and row["split"] == split:
                low, high = (float(str(row[key])) for key in ("time_low_s", "time_high_s"))
                text = f"[{number(low)}, {number(high)}] s"
                return Reference((low + high) / 2, text, low, high, source(table))
    return None


_FFT_COLUMNS = (
    Column("case", "case", align="left"),
    Column("time_s", "round trip"),
    Column("flops_per_s", "rate"),
    Column("transposes", "share in transposes"),
    Column("bytes_sent", "sent"),
)


def fft_tables(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Table]:
    """Three-dimensional Fourier transforms: rate, and share of the step spent in transposes."""
    own = [case for case in cases if case.kernel == "fft_pencil"]
    if not own:
        return
    notebook = Notebook(own, context.all_cases)
    rows = tuple(_fft_row(case, own, notebook) for case in own)
    notebook.note(
        "rate: 2.5 N log2 N operations per real transform of N points (customary), two "
        "transforms per step.",
        "share in transposes: share of the step in phases of transposes, mean over processes. If "
        "pipelined, transposes that computation hides are not included.",
        "sent: bytes that all processes send per step.",
    )
    yield notebook.table(
        "fft", context.title("Fourier transforms over pencils"), _FFT_COLUMNS, rows
    )


def _fft_row(
    case: MeasuredCase, among: Sequence[MeasuredCase], notebook: Notebook
) -> tuple[Cell, ...]:
    head = (label(label_of(case, among)), notebook.time(case))
    points, sent = case.result("points"), case.result("bytes_sent")
    if points is None or case.time is None:
        return (*head, *(missing() for _ in _FFT_COLUMNS[2:]))
    flops = 2 * 2.5 * points * log2(points)
    several = case.ranks > 1
    waiting = sum(one.share.value for one in shares(case) if one.name.startswith("transpose_"))
    return (
        *head,
        notebook.estimate(case.time.rate(flops), case, FLOPS),
        notebook.derived(plain(waiting, percent(waiting)), case) if several else missing(),
        notebook.derived(plain(sent, size(sent)), case) if several else missing(),
    )


_MATRIX = ("generate", "assemble")
_HEAT_COLUMNS = (
    Column("case", "case", align="left"),
    Column("time_s", "a solve"),
    Column("matrix_s", "assembly"),
    Column("iterations", "iterations"),
    Column("iteration_s", "time per iteration"),
    Column("bytes_per_s", "memory"),
    Column("imbalance", "imbalance"),
    Column("error_max", "error"),
)


def heat_tables(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Table]:
    """Heat conduction by finite elements: parts of a solve, memory traffic, and error."""
    own = [case for case in cases if case.kernel == "fe_heat"]
    if not own:
        return
    notebook = Notebook(own, context.all_cases)
    rows = tuple(_heat_row(case, own, notebook) for case in own)
    notebook.note(
        "assembly: phases generate and assemble (matrix-free: only the right-hand side).",
        "time per iteration: all other phases, mean over processes.",
        "memory: declared bytes per iteration / time per iteration.",
        "imbalance: maximum elements per process / mean.",
        "error: largest difference from the series solution of the cube, at nodes with x up to "
        "1/2.",
    )
    yield notebook.table(
        "heat", context.title("Heat conduction by finite elements"), _HEAT_COLUMNS, rows
    )


def _heat_row(
    case: MeasuredCase, among: Sequence[MeasuredCase], notebook: Notebook
) -> tuple[Cell, ...]:
    head = (label(label_of(case, among)), notebook.time(case))
    iterations = case.result("iterations")
    phases = {one.name: one.seconds for one in shares(case)}
    if not iterations or not phases:
        return (*head, *(missing() for _ in _HEAT_COLUMNS[2:]))
    matrix = sum(phases.get(name, 0.0) for name in _MATRIX)
    iterating = sum(time for name, time in phases.items() if name not in (*_MATRIX, REST))
    iteration = iterating / iterations
    bytes_ = case.result("bytes_per_row_iteration") * case.result("rows")
    error, imbalance = case.result("error_max"), case.result("imbalance")
    derived = (
        shown(matrix, seconds),
        shown(iterations, "{:,.0f}".format),
        shown(iteration, seconds),
        shown(bytes_ / iteration if iteration > 0 else None, rate),
        shown(imbalance, percent),
        shown(error, quantity),
    )
    return (*head, *(notebook.derived(cell, case) for cell in derived))


def sum3d_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Sums of 3-D arrays by topology and distribution (tables I to III of the ORFEO report)."""
    own = [case for case in cases if case.kernel == "sum3d"]
    parts = facets(own, ("topology", "distribution"))
    longest_first = sorted(parts, key=lambda part: [-extent for extent in _extents(part)])
    return lettered([_table(part, context) for part in longest_first])


def _extents(part: Facet) -> list[int]:
    return [int(extent) for extent in str(part.settings["size"]).split("x")]


def _table(part: Facet, context: Context) -> Table:
    notebook = Notebook(part.cases, context.all_cases)
    size = part.settings["size"]
    rows = tuple(_sum_row(case, notebook, context) for case in part.cases)
    return notebook.table(
        "sum3d",
        context.title("Sum of two arrays", part.label or f"size = {size}"),
        (
            Column("topology", "topology", align="left"),
            Column("distribution", "distribution", align="left"),
            Column("elements", "elements per process", align="left"),
            Column("time_s", "time"),
        ),
        rows,
        stub=2,
    )


def _sum_row(case: MeasuredCase, notebook: Notebook, context: Context) -> tuple[Cell, ...]:
    counts = case.result("elements_per_rank")
    elements = plain(shared_out(counts)) if counts else missing()
    cell = notebook.estimate(case.time, case, SECONDS)
    cell = notebook.beside(cell, published_sum(case, context.library))
    return (
        label(str(case.settings["topology"])),
        label(str(case.settings["distribution"])),
        elements,
        cell,
    )


def shared_out(counts: Sequence[int]) -> str:
    """Format the number of elements per rank: "16 × 1,005,000; 8 × 990,000 (2, 5 … 23)"."""
    ranks = grouped(range(len(counts)), lambda rank: counts[rank])
    first, *others = sorted(ranks, key=lambda one: -len(ranks[one]))
    named = [f"{len(ranks[one])} × {one:,} ({_listed(ranks[one])})" for one in others]
    return "; ".join([f"{len(ranks[first])} × {first:,}", *named])


def _listed(ranks: Sequence[int]) -> str:
    """Format ranks with equal steps by their first two and last; others as ranges."""
    steps = {later - earlier for earlier, later in pairwise(ranks)}
    if len(ranks) > 3 and len(steps) == 1 and steps != {1}:
        return f"{ranks[0]}, {ranks[1]} … {ranks[-1]}"
    return cpu_list(ranks).replace(",", ", ")


def transforms(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the fastest grid of settings that have several, and the ratios of the others."""
    own = [case for case in cases if case.kernel == "fft_pencil" and case.launches]
    yield from _fastest(
        own, ("topology", "chunks"), "topology", _grid_of, ("Fastest grid of a transform", "fft"),
        Metric("time of a transform"), context,
    )  # fmt: skip


def _grid_of(case: MeasuredCase, part: Facet) -> Settings:
    several = len({one.settings.get("chunks") for one in part.cases}) > 1
    chunks = {"chunks": case.settings["chunks"]} if several else {}
    return {"grid": case.settings["topology"], **chunks}


def sums(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the fastest topology and distribution for each size of arrays, and published times."""

    def name(case: MeasuredCase, _: Facet) -> Settings:
        return {"grid": case.settings["topology"], "distribution": case.settings["distribution"]}

    own = [case for case in cases if case.kernel == "sum3d" and case.launches]
    yield from _fastest(
        own, ("topology", "distribution"), "", name, ("Fastest sum of arrays", "sum3d"),
        Metric("time of a sum"), context,
    )  # fmt: skip


def _fastest(
    own: Sequence[MeasuredCase],
    axes: Sequence[str],
    differing: str,
    named: Callable[[MeasuredCase, Facet], Settings],
    asked: tuple[str, str],
    metric: Metric,
    context: Context,
) -> Iterator[Finding]:
    """Yield a race of each setting. differing: axis that must differ in it; "" for any."""
    parts = facets(own, axes)
    if differing:
        parts = [p for p in parts if len({c.settings.get(differing) for c in p.cases}) > 1]
    fields = {
        float(index): {case: step(case) for case in part.cases} for index, part in enumerate(parts)
    }
    question, topic = asked
    for race in races(fields, context.seed):
        part = parts[int(race.at)]
        names = {case: named(case, part) for case in part.cases}
        yield made(
            context,
            part.cases,
            question,
            FindingShape.BEST,
            [replace(one, estimate=race.best.time) for one in winners([race], names.__getitem__)],
            topic=topic,
            metric=metric,
            but=axes,
        )
