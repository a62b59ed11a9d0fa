# SPDX-License-Identifier: BSD-3-Clause
"""One-way latencies of star forests by kernel (tables 2 and 3 of the report on Summit)."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.star_forests import (
    APART,
    OPTIONS,
    about_published,
    memory_of,
    placement_of,
    published_latency,
    there_and_back,
)
from haloscope.quantities import SECONDS, seconds, size
from haloscope.report.tables.model import Cell, Column, Table, label, missing
from haloscope.report.tables.notebook import Notebook

KERNELS = ("pingpong", "sf_pingpong", "sf_newpingpong", "sf_unpack", "sf_scatter")


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Tables 2 and 3: kernels in columns, with what sf_pingpong adds to pingpong."""
    own = [case for case in cases if case.kernel in KERNELS and case.launches]
    own = [case for case in own if case.settings.get("mode", "imb") == "imb"]
    layouts = ("nodes", "ppn", "placement", "gpus_shared", "toolchain", "transport", "clock")
    parts: dict[tuple[object, ...], list[MeasuredCase]] = {}
    for case in own:
        where = tuple(case.settings.get(key) for key in (*layouts, *(["bind"] * case.on_gpus)))
        parts.setdefault((*memory_of(case), *where), []).append(case)
    return [
        _latency(group, context)
        for group in parts.values()
        if any(case.kernel != "pingpong" for case in group)
    ]


def _latency(cases: Sequence[MeasuredCase], context: Context) -> Table:
    """A column for each kernel, of a device one for each way to synchronise."""
    by_name = _named(cases)
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
    notebook.note("One way: half of the time there and back.")
    if any(cell.published for row in rows for cell in row):
        notebook.note(about_published(cases))
    if adds:
        notebook.note("added: sf_pingpong less pingpong, medians over launches of their own.")
    return Table(
        id="sf_latency",
        kind="sf_latency",
        title=context.title("One-way latency of star forests", *_where(cases[0])),
        columns=(
            Column("size_bytes", "message", align="left"),
            *(Column(f"{name.replace(', ', '_')}_s", name) for name in by_name),
            *([Column("added_s", "added")] * adds),
        ),
        rows=rows,
        notes=notebook.notes(),
    )


_COMPARED = ("pingpong", "sf_pingpong")
"""Whose difference a table has: what a star forest adds."""


def _named(cases: Sequence[MeasuredCase]) -> dict[str, MeasuredCase]:
    """Cases by kernel, and by `sync` where several have the same kernel, in an order of both."""
    order = [*OPTIONS]
    syncs = {case: str(case.settings.get("sync")) for case in cases}
    several = {
        kernel
        for kernel in KERNELS
        if len({sync for case, sync in syncs.items() if case.kernel == kernel}) > 1
    }

    def place(case: MeasuredCase) -> tuple[int, int]:
        known = syncs[case] in order
        return KERNELS.index(case.kernel), order.index(syncs[case]) if known else -1

    return {
        f"{case.kernel}{f', {syncs[case]}' if case.kernel in several else ''}": case
        for case in sorted(cases, key=place)
    }


def _where(case: MeasuredCase) -> list[str]:
    """The placement of both ranks, and the memory unless it is the host's."""
    memory, *given = (str(one) for one in memory_of(case))
    if case.on_gpus:  # which sit on sockets as their ranks do
        return [APART.get(str(placement_of(case)), ""), "GPUs' memory", *given[:1]]
    of_device = [f"{memory}'s memory", *given[:1]] if given else []
    shared = case.on_real_gpus and placement_of(case) == "intra_gpu"
    asked = str(case.settings.get("placement") or "")
    return ["on one GPU" if shared else asked, *of_device]
