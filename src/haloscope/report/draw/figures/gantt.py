# SPDX-License-Identifier: BSD-3-Clause
"""Draw timelines: one row per rank, one bar per phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch

from haloscope.report.draw.figures.palette import INK, MUTED, ON_COLOUR
from haloscope.report.draw.figures.phase_colours import hatches_of
from haloscope.topics.common.figure import Gantt

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
