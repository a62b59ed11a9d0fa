# SPDX-License-Identifier: BSD-3-Clause
"""Memory bandwidth by working set, with cache sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.facets import facets
from haloscope.analysis.sweeps import Swept, capacities, sweep
from haloscope.layout import CORES
from haloscope.quantities import count, rate, size
from haloscope.topics.common.figure import Axis, Curve, Figure, Lines, bars, mark, size_ticks


def stream_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Memory bandwidth by working set, with cache sizes."""
    own = [case for case in cases if case.kernel == "stream" and sweep(case)]
    found = []
    for part in facets(own, CORES):
        known = {point.operation for case in part.cases for point in sweep(case)}
        operation = "triad" if "triad" in known else min(str(name) for name in known)
        chosen = {
            case: [point for point in sweep(case) if point.operation == operation]
            for case in part.cases
        }
        if max(len(points) for points in chosen.values()) > 1:
            found.append(_stream_figure(operation, part.label, chosen, context))
    return found


def _stream_figure(
    operation: str, label: str, chosen: Mapping[MeasuredCase, Sequence[Swept]], context: Context
) -> Figure:
    def per_core(case: MeasuredCase, point: Swept) -> float:
        return point.size_bytes * case.ranks / case.cores

    curves = tuple(
        Curve(
            _cores_label(case), tuple(mark(per_core(case, p), p.rate.times(1e-9)) for p in points)
        )
        for case, points in sorted(chosen.items(), key=lambda item: item[0].cores)
    )
    sizes = [per_core(case, p) for case, points in chosen.items() for p in points]
    widest = max(chosen, key=lambda case: case.cores)
    most = widest.cores
    guides = [(bytes_ / most, level) for level, bytes_ in capacities(widest, context.machine)]
    last = [
        f"{_cores_label(case)}: {rate(points[-1].rate.value)}" for case, points in chosen.items()
    ]
    held = (
        f"Dotted lines show the capacity of each cache per core, with {count(most, 'core')} in use."
    )
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


def _cores_label(case: MeasuredCase) -> str:
    threads = case.layout.threads
    cores = count(case.cores, "core")
    return cores if threads == 1 else f"{cores} ({case.ranks} × {threads} threads)"
