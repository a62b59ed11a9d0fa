"""One-way latencies of star forests, kernel by kernel: Tables 2 and 3 of the report on Summit."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.star_forests import OF_GPUS, published_latency, there_and_back
from haloscope.quantities import SECONDS, seconds, size
from haloscope.report.context import Context
from haloscope.report.tables.model import Cell, Column, Table, label, missing
from haloscope.report.tables.notebook import Notebook

KERNELS = ("pingpong", "sf_pingpong", "sf_newpingpong", "sf_unpack", "sf_scatter")


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
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
    points = {kernel: there_and_back(by_kernel[kernel]) for kernel in kernels}
    notebook = Notebook(cases, context.all_cases)
    sizes = sorted({at for kernel in kernels if kernel != "pingpong" for at in points[kernel]})

    def cell(kernel: str, at: int) -> Cell:
        point, case = points[kernel].get(at), by_kernel[kernel]
        if point is None:
            return missing()
        ours = notebook.estimate(point.one_way, case, SECONDS)
        return notebook.beside(ours, published_latency(case, at, context.library))

    def added(at: int) -> Cell:
        pair = [points.get(kernel, {}).get(at) for kernel in ("pingpong", "sf_pingpong")]
        if pair[0] is None or pair[1] is None:
            return missing()
        value = pair[1].one_way.value - pair[0].one_way.value
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
