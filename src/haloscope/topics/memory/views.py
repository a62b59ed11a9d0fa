# SPDX-License-Identifier: BSD-3-Clause
"""Tables and a figure of memory bandwidth: of STREAM loops, and of the solver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet, facets
from haloscope.analysis.sweeps import Swept, capacities, level_of, sweep
from haloscope.layout import CORES
from haloscope.quantities import BYTES_PER_SECOND, SECONDS, count, number, percent, rate, size
from haloscope.topics.common.figure import Axis, Curve, Figure, Lines, bars, mark, size_ticks
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import Cell, Column, Table, label, missing, plain, shown
from haloscope.topics.memory import Use, uses

OPERATIONS = ("copy", "scale", "add", "triad", "dot")


def stream_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Memory bandwidth by cores and working set, one column per operation, with the memory level.

    One table for every combination of settings but the cores.
    """
    own = [case for case in cases if case.kernel == "stream"]
    return [_table(part, context) for part in facets(own, CORES)]


def _table(part: Facet, context: Context) -> Table:
    notebook = Notebook(part.cases, context.all_cases)
    rows: list[tuple[Cell, ...]] = []
    known = {point.operation for case in part.cases for point in sweep(case)}
    operations = [name for name in OPERATIONS if name in known]
    for case in sorted(part.cases, key=lambda case: (case.cores, case.ranks)):
        rows += _rows(case, operations, notebook, context)
    notebook.note("The working set consists of all arrays of one process.")
    if context.machine and context.machine.get("caches"):
        notebook.note(
            "The level is the smallest cache that holds the working sets of all cores in use."
        )
    return notebook.table(
        "stream",
        context.title("Memory bandwidth by cores and working set", part.label),
        (
            Column("cores", "cores", align="left"),
            Column("working_set_bytes", "working set", align="left"),
            Column("level", "level", align="left"),
            *(Column(f"{name}_bytes_per_s", name, "bandwidth") for name in operations),
        ),
        rows,
        stub=3,
    )


def _rows(
    case: MeasuredCase, operations: Sequence[str], notebook: Notebook, context: Context
) -> list[tuple[Cell, ...]]:
    points: dict[int, dict[str | None, Swept]] = {}
    for point in sweep(case):
        points.setdefault(point.size_bytes, {})[point.operation] = point
    cores = label(_cores(case), case.cores)
    if not points:
        empty = (notebook.absent(case) for _ in operations)
        return [(cores, missing(), missing(), *empty)]

    def cell(by_operation: dict[str | None, Swept], name: str) -> Cell:
        point = by_operation.get(name)
        if point is None:
            return missing()
        return notebook.estimate(point.rate, case, BYTES_PER_SECOND)

    return [
        (
            cores,
            label(size(bytes_), bytes_),
            label(level_of(bytes_ * case.ranks, case, context.machine)),
            *(cell(by_operation, name) for name in operations),
        )
        for bytes_, by_operation in sorted(points.items())
    ]


def _cores(case: MeasuredCase, counted: str = "") -> str:
    threads = case.layout.threads
    cores = counted or str(case.cores)
    return cores if threads == 1 else f"{cores} ({case.ranks} × {threads} threads)"


_COLUMNS = (
    Column("case", "case", align="left"),
    Column("iteration_s", "time per iteration"),
    Column("bytes_per_point", "bytes per point"),
    Column("working_set_bytes", "working set"),
    Column("achieved_bytes_per_s", "achieved"),
    Column("triad_bytes_per_s", "STREAM triad"),
    Column("triad_working_set_bytes", "triad working set"),
    Column("share_of_triad", "share"),
)
_OF_A_TRIAD = 3
"""_OF_A_TRIAD is the number of last columns that a table without triads lacks."""


def bandwidth_tables(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Table]:
    """Memory bandwidth of the Poisson solver, compared with a triad on the same working set."""
    solvers = [case for case in cases if case.kernel == "poisson_cg"]
    every = uses(solvers, context.all_cases, context.machine)
    if not every:
        return
    found = [use for use in every if use.triad is not None] or every
    notebook = Notebook(solvers, context.all_cases)
    rows = tuple(_row(use, solvers, notebook) for use in found)
    notebook.note(
        "working set: total amount of data that the processes access in one sweep over the mesh.",
        "achieved: computed from the declared number of bytes per point and iteration.",
    )
    bounded = found[0].triad is not None
    if bounded:
        notebook.note(
            "STREAM triad: measured with the same cores, binding, and memory level, with arrays as "
            "large as the working sets of all processes together.",
            "The triad's bandwidth includes write-allocate traffic here, but not in the stream "
            "table.",
        )
    kept = len(_COLUMNS) if bounded else -_OF_A_TRIAD
    if not bounded:
        notebook.note(f"Attainable bandwidth unknown: {_UNLIKE}.")
    elif len(found) < len(every):
        notebook.note(f"Not listed: {count(len(every) - len(found), 'case')}: {_UNLIKE}.")
    if any(use.exceeds for use in found):
        notebook.note(
            f"{_NO_BOUND}: the bandwidth of the solver exceeds that of the triad, because caches "
            "served part of the traffic or other processes disturbed the measurement of the triad."
        )
    yield notebook.table(
        "bandwidth",
        context.title(f"Achieved {'and attainable ' if bounded else ''}bandwidth"),
        _COLUMNS[:kept],
        (row[:kept] for row in rows),
    )


_UNLIKE = "stream was not run with this number of cores, binding, and working set"
_NO_BOUND = "no bound"


def _row(use: Use, among: Sequence[MeasuredCase], notebook: Notebook) -> tuple[Cell, ...]:
    case = use.case
    working_set = size(use.working_set_bytes)
    in_level = f"{working_set} ({use.level})" if use.level else working_set
    if use.triad is None:
        bound, of, share = missing(), missing(), missing()
    else:
        bound = notebook.estimate(use.triad.moved, use.triad.case, BYTES_PER_SECOND)
        of = shown(use.triad.working_set_bytes, size)
        share = missing(_NO_BOUND) if use.exceeds else shown(use.share, percent)
    return (
        label(label_of(case, among)),
        notebook.estimate(use.iteration, case, SECONDS),
        shown(use.bytes_per_point, number),
        plain(use.working_set_bytes, in_level),
        notebook.estimate(use.achieved, case, BYTES_PER_SECOND),
        bound,
        of,
        share,
    )


def stream_figures(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Figure]:
    """Memory bandwidth by working set, with cache sizes."""
    own = [case for case in cases if case.kernel == "stream" and sweep(case)]
    for part in facets(own, CORES):
        known = {point.operation for case in part.cases for point in sweep(case)}
        operation = "triad" if "triad" in known else min(str(name) for name in known)
        chosen = {
            case: [point for point in sweep(case) if point.operation == operation]
            for case in part.cases
        }
        if max(len(points) for points in chosen.values()) > 1:
            yield _stream_figure(operation, part.label, chosen, context)


def _stream_figure(
    operation: str, label: str, chosen: Mapping[MeasuredCase, Sequence[Swept]], context: Context
) -> Figure:
    def per_core(case: MeasuredCase, point: Swept) -> float:
        return point.size_bytes * case.ranks / case.cores

    curves = tuple(
        Curve(
            _cores(case, count(case.cores, "core")),
            tuple(mark(per_core(case, p), p.rate.times(1e-9)) for p in points),
        )
        for case, points in sorted(chosen.items(), key=lambda item: item[0].cores)
    )
    sizes = [per_core(case, p) for case, points in chosen.items() for p in points]
    widest = max(chosen, key=lambda case: case.cores)
    most = widest.cores
    guides = [(bytes_ / most, level) for level, bytes_ in capacities(widest, context.machine)]
    last = [
        f"{_cores(case, count(case.cores, 'core'))}: {rate(points[-1].rate.value)}"
        for case, points in chosen.items()
    ]
    each = f"each of the {most} cores" if most > 1 else "the core"
    held = f"Dotted lines show the cache capacity available to {each} in use."
    dotted = [held] if guides else []
    panel = Lines(
        "bandwidth",
        "",
        Axis("working set per core", "log2", size_ticks(sizes)),
        Axis("bandwidth (GB/s)", "log"),
        curves,
        tuple(guide for guide in guides if min(sizes) <= guide[0] <= max(sizes)),
    )
    return Figure(
        kind="stream",
        title=context.title("Memory bandwidth by working set", operation, label),
        panels=(panel,),
        alt=f"Bandwidth of {operation} by working set per core, from {size(min(sizes))} to "
        f"{size(max(sizes))}. At the largest: {'; '.join(last)}.",
        notes=(*dotted, *bars(chosen, [panel])),
    )
