# SPDX-License-Identifier: BSD-3-Clause
"""Times of one program and mesh by processes: measured here, simulated, and published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, values
from haloscope.analysis.context import Context
from haloscope.analysis.validation.bands import Subject, known
from haloscope.grouped import grouped
from haloscope.layout import Layout
from haloscope.papers.validated import ValidatedCell, validated_cells
from haloscope.quantities import listed
from haloscope.topics.common.figure import (
    OVER_PROCESSES,
    Axis,
    Curve,
    Figure,
    Lines,
    Mark,
    counts,
    mark,
)
from haloscope.topics.poisson import converged

KERNEL = "poisson_cg"


def overlay_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Time of a program and mesh by number of processes: measured, simulated, and published."""
    own = [
        case
        for case in cases
        if case.kernel == KERNEL and converged(case) and case.time and case.layout.threads == 1
    ]
    programs = grouped(own, lambda case: (case.settings["variant"], case.settings["exchange"]))
    found: list[Figure] = []
    for (variant, exchange), alike in programs.items():
        for n in values(alike, "n"):
            mine = [case for case in alike if case.number("n") == n]
            cells = [*_cells(n, str(variant), str(exchange))]
            found += _figure(n, f"{variant}, {exchange}", mine, cells, context)
    return found


def _cells(n: int, variant: str, exchange: str) -> Iterator[ValidatedCell]:
    asked = {"n": n, "variant": variant, "threads": 1}
    for cell in validated_cells():
        own = cell.settings
        alike = cell.kernel == KERNEL and all(own.get(key) == asked[key] for key in asked)
        if alike and (own.get("exchange") == exchange or _ranks(cell) == 1):
            yield cell


def _ranks(cell: ValidatedCell) -> int:
    return Layout.recorded(cell.settings).ranks


def _figure(
    n: int,
    program: str,
    own: Sequence[MeasuredCase],
    cells: Sequence[ValidatedCell],
    context: Context,
) -> Iterator[Figure]:
    by_cluster = grouped(own, lambda case: case.cluster)
    several = {
        cluster: there
        for cluster, there in grouped(cells, lambda cell: cell.cluster).items()
        if len(set(map(_ranks, there))) >= OVER_PROCESSES
    }
    if not several:
        return
    curves = []
    for cluster, here in by_cluster.items():
        name = f"{cluster}, simulated" if cluster else "this machine"
        curves.append(Curve(name, _fastest(here)))
    for cluster, there in several.items():
        name = f"{cluster}, simulated"
        if cluster not in by_cluster:
            curves.append(Curve(name, tuple(_marks(there, predicted=True))))
        published = tuple(_marks(there, predicted=False))
        label = f"{cluster}, published"
        curves.append(Curve(label, published, joined=False, published=True, like=name))
    p = sorted({int(one.x) for curve in curves for one in curve.marks})
    tables = dict.fromkeys(f"{c.paper}, table {c.table}" for c in cells if c.cluster in several)
    yield Figure(
        kind="overlay",
        title=context.title("The same program here, simulated, and published", f"n = {n}"),
        panels=(
            Lines(
                "overlay",
                "",
                Axis("processes", "log2", counts(p)),
                Axis("time of a solve (s)", "log"),
                tuple(curves),
            ),
        ),
        fewest=OVER_PROCESSES,
        alt=f"Time of a solve with n = {n} ({program}) on {p[0]} to {p[-1]} processes: "
        f"{listed([curve.label for curve in curves])}.",
        notes=(
            f"Variant and exchange of all: {program}; the fastest layout for each number of "
            "processes.",
            f"Hollow: published ({'; '.join(tables)}).",
            "Simulated values are those of haloscope validate; shaded: their error.",
        ),
        cases=tuple(case.id for case in own),
    )


def _fastest(cases: Iterable[MeasuredCase]) -> tuple[Mark, ...]:
    by_ranks: dict[int, MeasuredCase] = {}
    for case in sorted(cases, key=lambda case: case.time_s):
        by_ranks.setdefault(case.ranks, case)
    return tuple(mark(p, case.time) for p, case in sorted(by_ranks.items()) if case.time)


def _marks(cells: Sequence[ValidatedCell], *, predicted: bool) -> Iterator[Mark]:
    for p in sorted({_ranks(cell) for cell in cells}):
        there = [cell for cell in cells if _ranks(cell) == p]
        if not predicted:
            yield Mark(p, min(cell.published for cell in there))
            continue
        best = min(there, key=lambda cell: cell.predicted)
        subject = Subject(best.cluster, best.platform, best.kernel, best.settings)
        yield Mark(p, best.predicted, band=known().time(subject).factor)
