# SPDX-License-Identifier: BSD-3-Clause
"""Bandwidth by message size, one panel per library and one curve per transport (Figs. 3-5)."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.context import Context
from haloscope.analysis.fits import exchanges
from haloscope.analysis.sweeps import sweep
from haloscope.report.figures.model import Figure, bars
from haloscope.report.figures.pingpong import bandwidth_panel


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """One figure for each way of measuring that ran over several transports or placements."""
    own = [case for case in cases if exchanges(case) and len(sweep(case)) > 1]
    over = ("toolchain", "transport", "placement", "nodes", "ppn", "places")
    return [_figure(part, context) for part in facets(own, over) if len(part.cases) > 1]


def _figure(part: Facet, context: Context) -> Figure:
    by_library: dict[str, list[MeasuredCase]] = {}
    for case in part.cases:
        by_library.setdefault(str(case.settings["toolchain"]), []).append(case)
    panels = []
    for name, own in by_library.items():
        parts = facets(own, ())
        names = [one.label or str(one.settings["transport"] or "default") for one in parts]
        panels.append(bandwidth_panel(parts, name, name, names))
    return Figure(
        id="transports",
        kind="transports",
        title=context.title("Bandwidth by transport", part.label),
        panels=tuple(panels),
        alt=f"Bandwidth over message size for {len(part.cases)} transports or placements.",
        notes=bars(part.cases, panels),
    )
