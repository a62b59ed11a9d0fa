# SPDX-License-Identifier: BSD-3-Clause
"""Points of a drawn panel that a reader can ask for their values, on hover or on touch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from matplotlib.figure import Figure as Canvas

from haloscope.quantities import signed, size
from haloscope.topics.common.figure import Axis, Curve, Lines, Mark

RADIUS = 7
"""RADIUS is how far from a point its value is shown, in points of the SVG."""
_POINTS_PER_INCH = 72
_UNIT = re.compile(r" \(([^()]+)\)$")


def with_values(svg: str, canvas: Canvas, panel: Lines) -> str:
    """Add to the SVG of a panel, which has been laid out, a target with the value of each point."""
    targets = "\n".join(_targets(canvas, panel))
    end = svg.rindex("</svg>")
    return f'{svg[:end]}<g class="points" fill="transparent">\n{targets}\n</g>\n{svg[end:]}'


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
    """What all parts of curves of one name have in common in the SVG."""
    return f"series-{panel.names.index(curve.label)}"


def words_of(panel: Lines, curve: Curve, mark: Mark) -> str:
    """The value of a point with its interval or range, and where it is."""
    value = f"{_named(panel.y)} {_value(panel.y, mark.y)}"
    if mark.low is not None and mark.high is not None:
        low, high = (_value(panel.y, end, unit=False) for end in (mark.low, mark.high))
        value = f"{value} ({low} to {high})"
    return "\n".join((curve.label, value, f"{_named(panel.x)} {_value(panel.x, mark.x)}"))


def _named(axis: Axis) -> str:
    return f"{_UNIT.sub('', axis.label)}:"


def _value(axis: Axis, value: float, *, unit: bool = True) -> str:
    """A value in the words of an axis: its tick's, a size where its ticks are, a number else."""
    words = {word for _, word in axis.ticks if word}
    if found := next((word for at, word in axis.ticks if word and at == value), ""):
        return found
    if words and all(re.fullmatch(r"\d+ ([KMGT]i)?B", word) for word in words):
        return size(value)
    found_unit = _UNIT.search(axis.label) if unit else None
    return signed(f"{value:.4g}") + (f" {found_unit[1]}" if found_unit else "")
