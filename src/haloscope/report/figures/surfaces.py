# SPDX-License-Identifier: BSD-3-Clause
"""Numerical solution and error over the unit square (figure 3.1 of the HPCF papers)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.quantities import number
from haloscope.report.figures.model import Figure, Surface


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Solution and error over the unit square, as figure 3.1 of the HPCF papers."""
    found = []
    for case in cases:
        surface = case.result("surface")
        if isinstance(surface, Mapping):
            found.append(_surface_figure(case, surface, context))
    return found[:1]


def _surface_figure(case: MeasuredCase, surface: Mapping[str, Any], context: Context) -> Figure:
    points = int(surface["points"])
    at = tuple(k / (points - 1) for k in range(points))
    n, error = case.number("n"), case.result("error_max")

    def panel(key: str, title: str) -> Surface:
        flat = [float(value) for value in surface[key]]
        exponent = floor(log10(max(abs(value) for value in flat)) + 1e-9) if any(flat) else 0
        scaled = [value / 10.0**exponent for value in flat]
        rows = tuple(tuple(scaled[k * points : (k + 1) * points]) for k in range(points))
        return Surface(key, f"{title}, in 1e{exponent}" if exponent else title, at, rows)

    title, mesh = context.title("Numerical solution and its error"), f"N = {n}"
    return Figure(
        id="surfaces",
        kind="surfaces",
        title=title if mesh in title else f"{title}, {mesh}",
        panels=(panel("solution", "(a) solution"), panel("error", "(b) error u − u_h")),
        alt=f"Two surfaces over the unit square for N = {n}: the solution, one smooth hill of "
        f"height 1 in the middle, and its error, at most {number(error or 0)}.",
        notes=(f"Sampled on {points} × {points} points, edges included.",),
    )
