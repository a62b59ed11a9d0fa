# SPDX-License-Identifier: BSD-3-Clause
"""Tables and figures of star forests: latencies, grids, launches on a device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.context import Context
from haloscope.analysis.facets import labelled
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.analysis.validation.published import Library
from haloscope.quantities import SECONDS, printed_seconds, seconds, size
from haloscope.topics.common.figure import (
    Axis,
    Curve,
    Figure,
    Lines,
    bars,
    counts,
    mark,
    size_ticks,
)
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import Cell, Column, Table, label, missing, plain
from haloscope.topics.common.words import clock
from haloscope.topics.star_forests import (
    about_published,
    by_layout,
    by_n,
    named,
    published_latency,
    there_and_back,
    where,
)
from haloscope.topics.star_forests.parts import WAYS, published_chain


def sf_latency_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One-way latencies of star forests by kernel (tables 2 and 3 of the report on Summit)."""
    return [_latency(group, context) for group in by_layout(cases)]


def _latency(cases: Sequence[MeasuredCase], context: Context) -> Table:
    by_name = named(cases)
    points = {name: there_and_back(case) for name, case in by_name.items()}
    notebook = Notebook(cases, context.all_cases)
    sizes = sorted({at for name in points if name != "pingpong" for at in points[name]})
    adds = all(name in by_name for name in _COMPARED)

    def cell(name: str, at: int) -> Cell:
        point, case = points[name].get(at), by_name[name]
        if point is None:
            return missing()
        ours = notebook.estimate(point.one_way, case, SECONDS)
        return notebook.beside(ours, published_latency(case, at, context.library))

    def added(at: int) -> Cell:
        plain, forest = (points[name].get(at) for name in _COMPARED)
        if plain is None or forest is None:
            return missing()
        value = forest.one_way.value - plain.one_way.value
        return Cell(value, seconds(round(value, 12)))  # simulated times differ by rounding

    rows = tuple(
        (label(size(at), at), *(cell(name, at) for name in by_name), *([added(at)] if adds else []))
        for at in sizes
    )
    notebook.note("One way: half a round trip.")
    if any(cell.published for row in rows for cell in row):
        notebook.note(about_published(cases))
    if adds:
        notebook.note(
            "The added time is the median of sf_pingpong minus the median of pingpong, "
            "each over its own launches."
        )
    return notebook.table(
        "sf_latency",
        context.title("One-way latency of star forests", *where(cases[0])),
        (
            Column("size_bytes", "message", align="left"),
            *(Column(f"{name.replace(', ', '_')}_s", name) for name in by_name),
            *([Column("added_s", "added")] * adds),
        ),
        rows,
    )


_COMPARED = ("pingpong", "sf_pingpong")


def sf_grid_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One-way latencies of grid halo exchanges by star forest (table 4 of the report on Summit)."""
    own = [case for case in cases if case.kernel == "sf_grid" and case.launches]
    return [_grid(labelled(own), context)] if own else []


def _grid(cases: Mapping[MeasuredCase, str], context: Context) -> Table:
    notebook = Notebook([*cases], context.all_cases)
    points = [by_n(case) for case in cases]

    def cell(case: MeasuredCase, own: Mapping[int, Swept], n: int) -> Cell:
        if n not in own:
            return missing()
        ours = notebook.estimate(own[n].one_way, case, SECONDS)
        return notebook.beside(ours, published_latency(case, n, context.library))

    measured = {
        n: [cell(case, own, n) for case, own in zip(cases, points, strict=True)]
        for n in sorted({n for own in points for n in own})
    }
    matched = any(one.published for cells in measured.values() for one in cells)
    emulated = any(case.emulated for case in cases)
    others = [] if matched or emulated else _published_grids(context)
    notebook.note(
        "One way: half the time to fill the halo and add it back.",
        "n: points per rank along each axis; a message has 8 n bytes in two dimensions, 8 n² in "
        "three.",
    )
    if matched or others:
        notebook.note(about_published([*cases]))
    return notebook.table(
        "sf_grid",
        context.title("One-way latency of grid halo exchanges with a star forest"),
        (
            Column("n", "n", align="left"),
            *(
                Column(f"latency_s_{index}", name or clock([case]))
                for index, (case, name) in enumerate(cases.items())
            ),
            *(Column(f"published_s_{index}", title) for index, (title, _) in enumerate(others)),
        ),
        (
            (label(str(n), n), *cells, *(column.get(n, missing()) for _, column in others))
            for n, cells in measured.items()
        ),
    )


def _published_grids(context: Context) -> list[tuple[str, dict[int, Cell]]]:
    """Return the paper's Table 4 in separate columns, if no case has its number of nodes."""
    columns: dict[str, dict[int, Cell]] = {}
    for table in context.library.tables(("neighbours",)):
        for row in table.rows:
            title = f"published, {table.facts['ranks']} processes on {row['nodes']} nodes"
            time_s = float(str(row["latency_s"]))
            columns.setdefault(title, {})[int(str(row["n"]))] = plain(
                time_s, printed_seconds(time_s, table.resolution_s)
            )
    return list(columns.items())


def launches_tables(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Table]:
    """Time of consecutive device kernels, with and without a synchronisation after the first."""
    own = [case for case in cases if case.kernel == "launches"]
    if not any(case.launches for case in own):
        return
    notebook = Notebook(own, context.all_cases)
    rows = tuple(_row(case, own, notebook, context.library) for case in own)
    notebook.note(
        "synchronised: the second kernel is launched after the first has ended, so its "
        "launch is not hidden.",
        "added: the time that the synchronisation adds.",
    )
    if any(cell.published for row in rows for cell in row):
        notebook.note(
            "The published figures are an example, which assumes 10 µs per launch and no cost of "
            "a synchronisation.",
            "The cluster file has larger values; haloscope validate anl-petsc-summit-part2 --table "
            "fig15 uses the published ones.",
        )
    yield notebook.table(
        "launches",
        context.title("Consecutive device kernels"),
        (
            Column("case", "case", align="left"),
            Column("kernels", "device kernels"),
            Column("first_bytes", "bytes of the first"),
            Column("other_bytes", "bytes of each other"),
            *(Column(f"{way}_s", way) for way in WAYS),
            Column("added_s", "added"),
        ),
        rows,
    )


def _row(
    case: MeasuredCase, among: Sequence[MeasuredCase], notebook: Notebook, library: Library
) -> tuple[Cell, ...]:
    found = {point.operation: point.time for point in sweep(case)}
    times = {way: found.get(way) for way in WAYS}
    kernels, each, first = (case.number(name) for name in ("kernels", "size", "first"))
    return (
        label(label_of(case, among)),
        plain(kernels),
        plain(first * each, size(first * each)),
        plain(each, size(each)),
        *(
            notebook.beside(
                notebook.estimate(time, case, SECONDS), published_chain(case, way, library)
            )
            for way, time in times.items()
        ),
        _added([time.value for time in times.values() if time]),
    )


def _added(values: Sequence[float]) -> Cell:
    if len(values) < len(WAYS):
        return missing()
    value = values[1] - values[0]
    return Cell(value, seconds(round(value, 12)))  # simulated times differ by rounding


def sf_latency_figures(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Figure]:
    """One-way latency by message size: a curve per kernel and synchronisation."""
    for own in by_layout(cases):
        points = {name: there_and_back(case) for name, case in named(own).items()}
        sizes = [float(at) for each in points.values() for at in each if at]
        title = context.title("One-way latency of star forests by message size", *where(own[0]))
        x = Axis("message", "log2", size_ticks(sizes))
        yield _figure("sf_latency", title, x, points, own)


def sf_grid_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """One-way latency of grid halos by points per rank along each axis."""
    own = labelled([case for case in cases if case.kernel == "sf_grid" and case.launches])
    points = {name or clock([case]): by_n(case) for case, name in own.items()}
    if not points:
        return []
    x = Axis("n", "log2", counts([n for by in points.values() for n in by]))
    title = context.title("One-way latency of grid halo exchanges by n")
    return [_figure("sf_grid", title, x, points, [*own])]


def _figure(
    kind: str,
    title: str,
    x: Axis,
    points: Mapping[str, Mapping[int, Swept]],
    cases: Sequence[MeasuredCase],
) -> Figure:
    curves = tuple(
        Curve(name, tuple(mark(at, one.one_way.times(1e6)) for at, one in own.items() if at))
        for name, own in points.items()
    )
    panel = Lines("time", "", x, Axis("one way (µs)", "log"), curves)
    ends = [
        f"{name} {seconds(own[min(own)].one_way.value)} to {seconds(own[max(own)].one_way.value)}"
        for name, own in points.items()
        if own
    ]
    return Figure(
        kind=kind,
        title=title,
        panels=(panel,),
        alt=f"One-way latency, smallest to largest: {'; '.join(ends)}.",
        notes=bars(cases, [panel]),
        cases=tuple(case.id for case in cases),
    )
