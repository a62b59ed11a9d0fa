# SPDX-License-Identifier: BSD-3-Clause
"""Figures of stacked bars, surfaces, and timelines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch

from haloscope.report.draw.figures.palette import GRID, INK, MUTED, ON_COLOUR, hatches_of
from haloscope.topics.common.figure import Bars, Gantt, Surface


def draw_surface(canvas: Canvas, panel: Surface) -> None:
    """Draw the surface on its own axes. The mesh is a raster image in the SVG:
    thousands of faces.
    """
    axes: Any = canvas.add_axes((-0.02, -0.02, 0.98, 1.08), projection="3d")
    x, y = np.meshgrid(panel.points, panel.points)
    heights = np.array(panel.heights)
    faces = axes.plot_surface(
        x, y, heights, cmap="viridis", rcount=65, ccount=65, linewidth=0.15, edgecolor="#00000055"
    )
    faces.set_rasterized(True)
    axes.view_init(elev=24, azim=-52)
    axes.set_box_aspect((1, 1, 0.75), zoom=0.92)
    canvas.text(0.02, 0.97, panel.title, fontsize=11, va="top")
    axes.set_xlabel("x₁")
    axes.set_ylabel("x₂")
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color((0, 0, 0, 0))
        axis.line.set_color(INK)
        axis._axinfo["grid"].update(color=GRID, linewidth=0.6)


WIDTH_IN = 4.6
"""Narrow, so that ten-point text is readable on a phone."""
_FITTING, _SMALL = 66, 8.0
"""Characters of small text that fit its width, and the size of that text in points."""
_PITCH_IN, _BAR_IN, _LINE_IN = 0.46, 0.19, 0.13
"""Distance between bars with one-line names, height of a bar, and height of a further line."""
_COLUMNS = 3


_NO_BREAK = "\xa0"


def bars(panel: Bars, colours: Mapping[str, str]) -> Canvas:
    """Draw stacked bars, each below its name, which is often too long to be beside it."""
    words = zip(panel.bars, panel.totals, strict=True)
    names = [_wrapped(name, total) for name, total in words]
    pitch = _PITCH_IN + _LINE_IN * (max(map(len, names)) - 1)
    below = 0.2 * max(0, -(-len(panel.parts) // _COLUMNS) - 2)  # more than two lines of a legend
    height = 1.0 + pitch * len(panel.bars) + below
    canvas = Canvas(figsize=(WIDTH_IN, height), layout="constrained")
    axes = canvas.add_subplot()
    thick = _BAR_IN / pitch
    places = [float(-index) for index in range(len(panel.bars))]
    _stack(axes, panel, places, thick, colours)
    for place, lines in zip(places, names, strict=True):
        at = place + thick / 2 + 0.02 / pitch
        text = axes.text(0, at, "\n".join(lines), va="bottom", fontsize=_SMALL, linespacing=1.05)
        text.set_in_layout(False)
    axes.set_xlim(0, max(1.0, *map(sum, zip(*(values for _, values in panel.parts), strict=True))))
    axes.set_ylim(places[-1] - thick, 1 - thick / 2)
    axes.set_yticks([])
    axes.set_xticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False)
    canvas.legend(loc="outside lower left", ncols=_COLUMNS)
    return canvas


def _wrapped(name: str, total: str) -> list[str]:
    kept = name.replace(" = ", f"{_NO_BREAK}={_NO_BREAK}")
    return wrap(f"{kept}: {total.replace(' ', _NO_BREAK)}", _FITTING)


def _stack(
    axes: Axes, panel: Bars, places: Sequence[float], thick: float, colours: Mapping[str, str]
) -> None:
    """Draw the parts of all bars, the first at the left; large ones with their share."""
    lower = [0.0] * len(panel.bars)
    hatches = hatches_of([name for name, _ in panel.parts], colours)
    for name, values in panel.parts:
        colour, hatch = colours[name], hatches[name]
        drawn = axes.barh(
            places, values, left=lower, height=thick, color=colour, label=name, linewidth=0
        )
        for bar in drawn if hatch else ():
            bar.set(hatch=hatch, edgecolor=ON_COLOUR)
        for place, left, value in zip(places, lower, values, strict=True):
            if value >= 0.09:
                axes.text(
                    left + value / 2,
                    place,
                    f"{100 * value:.0f} %",
                    color=ON_COLOUR,
                    ha="center",
                    va="center",
                    fontsize=8.5,
                    bbox={"facecolor": colour, "edgecolor": "none", "pad": 1} if hatch else None,
                )
        lower = [left + value for left, value in zip(lower, values, strict=True)]


def surface(panel: Surface) -> Canvas:
    """Draw values over a plane, as a surface."""
    canvas = Canvas(figsize=(WIDTH_IN, 3.6))
    draw_surface(canvas, panel)
    return canvas


ROW_IN = 0.36
MOST_COLUMNS = 3
SHORT = 0.003
"""SHORT is the share of a panel below which a bar is invisible and drawn as a line."""
THINNEST_PT = 0.8
BEHIND = 0.9
"""BEHIND is the z-order of these lines: below bars (1) and above the grid (0.5)."""
CUT = "\N{HORIZONTAL ELLIPSIS}"
"""CUT marks a row whose rest is unknown."""


def draw_gantt(panel: Gantt, width_in: float, colours: Mapping[str, str]) -> Canvas:
    """Draw the panel with a given width, the first row on top. colours: of each phase, by name."""
    names = list(dict.fromkeys(bar.name for bar in panel.bars))
    hatches = hatches_of(names, colours)
    canvas = Canvas(figsize=(width_in, 1.0), layout="constrained")
    patches = [_patch(name, colours[name], hatches[name]) for name in names]
    lines_below = _legend(canvas, patches)
    canvas.set_figheight(1.0 + ROW_IN * max(2, len(panel.rows)) + 0.2 * lines_below)
    axes = canvas.add_subplot()
    axes.set_title(panel.title, loc="left")
    end = max((bar.end for bar in panel.bars), default=0.0)
    for bar in panel.bars:
        top, thick = (-bar.row - 0.42, 0.1) if bar.outer else (-bar.row - 0.26, 0.6)
        if bar.end - bar.begin < SHORT * end:
            axes.vlines(
                bar.begin,
                top,
                top + thick,
                colors=colours[bar.name],
                linewidth=THINNEST_PT,
                zorder=BEHIND,
            )
        axes.broken_barh(
            [(bar.begin, bar.end - bar.begin)],
            (top, thick),
            facecolors=colours[bar.name],
            edgecolor=ON_COLOUR,
            hatch=hatches[bar.name],
            linewidth=0,
        )
    for row, end in panel.ends:
        axes.vlines(end, -row - 0.42, -row + 0.42, colors=INK, linewidth=1.4)
        axes.annotate(
            CUT, (end, -row), (3, 0), textcoords="offset points", color=MUTED, va="center"
        )
    axes.set_xlim(left=0)
    if panel.ends:
        axes.set_xlim(right=1.08 * max(bar.end for bar in panel.bars))
    axes.set_ylim(-len(panel.rows) + 0.4, 0.6)
    axes.set_yticks([-float(row) for row in range(len(panel.rows))], panel.rows)
    axes.set_xlabel(panel.x)
    axes.grid(visible=False, axis="y")
    axes.set_axisbelow(True)
    return canvas


def _patch(name: str, colour: str, hatch: str) -> Patch:
    return Patch(facecolor=colour, edgecolor=ON_COLOUR, hatch=hatch, linewidth=0, label=name)


def _legend(canvas: Canvas, handles: Sequence[Patch]) -> int:
    """Draw the legend below all, in at most three columns; return its number of lines."""
    for columns in range(MOST_COLUMNS, 0, -1):
        legend = canvas.legend(handles=handles, loc="outside lower left", ncols=columns)
        if columns == 1 or legend.get_window_extent().width <= canvas.bbox.width:
            break
        legend.remove()
    return -(-len(handles) // columns)
