"""One-way latencies of star forests: the forms of Tables 2, 3 and 4 of the report on Summit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.published import Reference, source
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.quantities import SECONDS, seconds, size
from haloscope.report.context import Context
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook

KERNELS = ("pingpong", "sf_pingpong", "sf_newpingpong", "sf_unpack", "sf_scatter")
PETSC_DEFAULT = "B"
"""The synchronisation that PETSc takes by itself, of those in Table 2."""

OF_GPUS = "Published times are of GPU memory: how they grow can be compared, the times can not."

PRINTED = {
    "same-cache": "intra_socket",
    "same-socket": "intra_socket",
    "other-socket": "inter_socket",
    "other-node": "inter_node",
}
"""Placements of two ranks as the paper's tables call them."""


def one_way(case: MeasuredCase) -> dict[int, Swept]:
    """The points of a case by size: each a step, there and back."""
    return {point.size_bytes: point for point in sweep(case)}


def build_latency(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Tables 2 and 3: kernels in columns, with what sf_pingpong adds to pingpong."""
    own = [case for case in cases if case.kernel in KERNELS and case.launches]
    own = [case for case in own if case.settings.get("mode", "imb") == "imb"]
    layouts = ("nodes", "ppn", "placement", "toolchain", "transport", "clock")
    parts: dict[tuple[object, ...], list[MeasuredCase]] = {}
    for case in own:
        parts.setdefault(tuple(case.settings.get(key) for key in layouts), []).append(case)
    return [
        _latency(group, context)
        for group in parts.values()
        if any(case.kernel != "pingpong" for case in group)
    ]


def _latency(cases: Sequence[MeasuredCase], context: Context) -> Table:
    by_kernel = {case.kernel: case for case in cases}
    kernels = [kernel for kernel in KERNELS if kernel in by_kernel]
    points = {kernel: one_way(by_kernel[kernel]) for kernel in kernels}
    notebook = Notebook(cases, context.all_cases)
    sizes = sorted({at for kernel in kernels if kernel != "pingpong" for at in points[kernel]})

    def cell(kernel: str, at: int) -> Cell:
        point, case = points[kernel].get(at), by_kernel[kernel]
        if point is None:
            return missing()
        ours = notebook.estimate(point.time.times(0.5), case, SECONDS)
        return notebook.beside(ours, _published(case, at, context))

    def added(at: int) -> Cell:
        pair = [points.get(kernel, {}).get(at) for kernel in ("pingpong", "sf_pingpong")]
        if pair[0] is None or pair[1] is None:
            return missing()
        value = 0.5 * (pair[1].time.value - pair[0].time.value)
        return Cell(value, seconds(round(value, 12)))  # simulated times differ by rounding

    rows = tuple(
        (label(size(at), at), *(cell(kernel, at) for kernel in kernels), added(at)) for at in sizes
    )
    where = str(by_kernel[kernels[0]].settings.get("placement") or "")
    notebook.note("One way: half of the time there and back.")
    if any(cell.published for row in rows for cell in row):
        notebook.note(OF_GPUS)
    notebook.note("added: sf_pingpong less pingpong, medians over launches of their own.")
    return Table(
        id="sf_latency",
        kind="sf_latency",
        title=context.title("One-way latency of star forests", where),
        columns=(
            Column("size_bytes", "message", align="left"),
            *(Column(f"{kernel}_s", kernel) for kernel in kernels),
            Column("added_s", "added"),
        ),
        rows=rows,
        notes=notebook.notes(),
    )


def build_grid(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Table 4: grids in columns, points of a rank along an axis in rows."""
    own = [case for case in cases if case.kernel == "sf_grid" and case.launches]
    parts = facets(own, ())
    return [_grid(parts, context)] if parts else []


def _grid(parts: Sequence[Facet], context: Context) -> Table:
    cases = [part.cases[0] for part in parts]
    notebook = Notebook(cases, context.all_cases)
    points = [_by_n(case) for case in cases]

    def cell(case: MeasuredCase, own: Mapping[int, Swept], n: int) -> Cell:
        if n not in own:
            return missing()
        ours = notebook.estimate(own[n].time.times(0.5), case, SECONDS)
        return notebook.beside(ours, _published(case, n, context))

    measured = {
        n: [cell(case, own, n) for case, own in zip(cases, points, strict=True)]
        for n in sorted({n for own in points for n in own})
    }
    matched = any(one.published for cells in measured.values() for one in cells)
    others = [] if matched else _published_grids(context)
    notebook.note(
        "One way: half of filling the halo and adding it back. n: points of a rank along each "
        "axis; a message has 8 n bytes in two dimensions, 8 n² in three."
    )
    if matched or others:
        notebook.note(OF_GPUS)
    return Table(
        id="sf_grid",
        kind="sf_grid",
        title=context.title("One-way latency of grid halos by a star forest"),
        columns=(
            Column("n", "n", align="left"),
            *(
                Column(f"latency_s_{index}", part.label or "measured")
                for index, part in enumerate(parts)
            ),
            *(Column(f"published_s_{index}", title) for index, (title, _) in enumerate(others)),
        ),
        rows=tuple(
            (label(str(n), n), *cells, *(column.get(n, missing()) for _, column in others))
            for n, cells in measured.items()
        ),
        notes=notebook.notes(),
    )


def _published_grids(context: Context) -> list[tuple[str, dict[int, Cell]]]:
    """The paper's Table 4 in columns of its own, where no case here has its number of nodes."""
    columns: dict[str, dict[int, Cell]] = {}
    for table in context.library.tables(("neighbours",)):
        for row in table.rows:
            title = f"published, {table.facts['ranks']} processes on {row['nodes']} nodes"
            time_s = float(str(row["latency_s"]))
            columns.setdefault(title, {})[int(str(row["n"]))] = plain(time_s, seconds(time_s))
    return list(columns.items())


def _by_n(case: MeasuredCase) -> dict[int, Swept]:
    told: Mapping[int, Any] = {point["size_bytes"]: point["n"] for point in case.launches[0].points}
    return {told[at]: point for at, point in one_way(case).items()}


def _published(case: MeasuredCase, at: int, context: Context) -> Reference | None:
    """What the paper printed for a size, or for n; GPU memory, so not a race."""
    if case.settings.get("topology", "3x3") not in ("2d", "3x3"):
        return None
    nodes = case.settings.get("nodes")
    apart = "other-node" if isinstance(nodes, int) and nodes > 1 else "same-socket"
    where = {
        "size_bytes": at,
        "n": at,
        "placement": PRINTED.get(str(case.settings.get("placement") or apart)),
        "option": PETSC_DEFAULT,
        "kernel": case.kernel,
        "nodes": nodes,
    }
    for table in context.library.tables(("pingpong", "neighbours")):
        facts = str(table.facts.get("kernel", case.kernel)).replace("sf_dmda", "sf_grid")
        keys = {key: where[key] for key in table.keys if key in where}
        if facts != case.kernel or len(keys) < len(table.keys):
            continue
        cell = table.cell("latency_s", **keys)  # type: ignore[arg-type]
        if cell is not None and isinstance(cell.value, float):
            return Reference(cell.value, seconds(cell.value), cell.value, cell.value, source(table))
    return None
