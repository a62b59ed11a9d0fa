# SPDX-License-Identifier: BSD-3-Clause
"""Data of a drawn panel for the page's script: the values of its points, and its axes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from haloscope.quantities import signed, size
from haloscope.topics.common.figure import Axis, Curve, Lines, Mark

RADIUS = 7
"""RADIUS is the distance from a point at which its value is shown, in points of the SVG."""
_POINTS_PER_INCH = 72
_UNIT = re.compile(r" \(([^()]+)\)$")


def with_values(svg: str, canvas: Canvas, panel: Lines) -> str:
    """Add a target with the value of each point to the SVG of a panel whose layout is complete."""
    targets = "\n".join(_targets(canvas, panel))
    (axes,) = canvas.axes
    own = {which: _axis(canvas, axes, panel, which) for which in ("x", "y")}
    attributes = f'class="points" data-axes="{escape(json.dumps(own, separators=(",", ":")))}"'
    end = svg.rindex("</svg>")
    return f'{svg[:end]}<g {attributes} fill="transparent">\n{targets}\n</g>\n{svg[end:]}'


def _axis(canvas: Canvas, axes: Axes, panel: Lines, which: str) -> dict[str, Any]:
    """Return an axis: its ends as values and in points of the SVG, its ticks, and the
    drawn values.
    """
    axis, side = (panel.x, 0) if which == "x" else (panel.y, 1)
    ends = axes.get_xlim() if which == "x" else axes.get_ylim()
    across = canvas.get_size_inches()[side] * _POINTS_PER_INCH
    box = axes.get_position()
    at = (box.x0, box.x1) if which == "x" else (1 - box.y0, 1 - box.y1)
    limits = axes.dataLim.intervalx if which == "x" else axes.dataLim.intervaly
    return {
        "scale": "log" if axis.scale == "log2" else axis.scale,
        "ends": [float(end) for end in ends],
        "at": [round(float(one * across), 2) for one in at],
        "drawn": [float(end) for end in limits],
        "ticks": [(value, word) for value, word in axis.ticks if word],
        "zero": axis.from_zero,
    }


def _targets(canvas: Canvas, panel: Lines) -> Iterator[str]:
    (axes,) = canvas.axes
    width, height = canvas.get_size_inches() * _POINTS_PER_INCH
    to_figure = canvas.transFigure.inverted()
    for curve in panel.curves:
        for mark in () if curve.bound else curve.marks:
            x, y = to_figure.transform(axes.transData.transform((mark.x, mark.y)))
            at = f'cx="{x * width:.1f}" cy="{(1 - y) * height:.1f}" r="{RADIUS}"'
            title = escape(words_of(panel, curve, mark))
            series = series_id(panel, curve)
            yield f'<circle data-series="{series}" {at}><title>{title}</title></circle>'


def series_id(panel: Lines, curve: Curve) -> str:
    """Return the common id of all parts of curves with the same name in the SVG."""
    return f"series-{panel.names.index(curve.label)}"


def words_of(panel: Lines, curve: Curve, mark: Mark) -> str:
    """Describe the value of a point with its interval or range, and its place."""
    value = f"{_named(panel.y)} {_value(panel.y, mark.y)}"
    if mark.low is not None and mark.high is not None:
        low, high = (_value(panel.y, end, unit=False) for end in (mark.low, mark.high))
        value = f"{value} ({low} to {high})"
    return "\n".join((curve.label, value, f"{_named(panel.x)} {_value(panel.x, mark.x)}"))


def _named(axis: Axis) -> str:
    return f"{_UNIT.sub('', axis.label)}:"


def _value(axis: Axis, value: float, *, unit: bool = True) -> str:
    """Format a value like the axis: as a tick, as a size if ticks are sizes, otherwise
    as a number.
    """
    words = {word for _, word in axis.ticks if word}
    if found := next((word for at, word in axis.ticks if word and at == value), ""):
        return found
    if words and all(re.fullmatch(r"\d+ ([KMGT]i)?B", word) for word in words):
        return size(value)
    found_unit = _UNIT.search(axis.label) if unit else None
    return signed(f"{value:.4g}") + (f" {found_unit[1]}" if found_unit else "")
