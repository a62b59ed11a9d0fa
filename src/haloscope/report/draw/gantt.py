"""Draws timelines: a row a rank, a bar a phase."""

from __future__ import annotations

from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch

from haloscope.report.draw.palette import INK, MUTED, SERIES
from haloscope.report.figures.model import Gantt

ROW_IN = 0.36


def draw_gantt(panel: Gantt, width_in: float) -> Canvas:
    """The panel, as wide as said; the first row on top."""
    colours = _colours(panel)
    lines_below = -(-len(colours) // 3)
    height = 1.0 + ROW_IN * max(2, len(panel.rows)) + 0.2 * lines_below
    canvas = Canvas(figsize=(width_in, height), layout="constrained")
    axes = canvas.add_subplot()
    axes.set_title(panel.title, loc="left")
    for bar in panel.bars:
        top, thick = (-bar.row - 0.42, 0.1) if bar.outer else (-bar.row - 0.26, 0.6)
        axes.broken_barh(
            [(bar.begin, bar.end - bar.begin)],
            (top, thick),
            facecolors=colours[bar.name],
            linewidth=0,
        )
    axes.set_xlim(left=0)
    axes.set_ylim(-len(panel.rows) + 0.4, 0.6)
    axes.set_yticks([-float(row) for row in range(len(panel.rows))], panel.rows)
    axes.set_xlabel(panel.x)
    axes.grid(visible=False, axis="y")
    axes.set_axisbelow(True)
    handles = [Patch(facecolor=colour, label=name) for name, colour in colours.items()]
    canvas.legend(handles=handles, loc="outside lower left", ncols=3)
    return canvas


def _colours(panel: Gantt) -> dict[str, str]:
    """By name: those that others lie within are grey, so that the others keep all colours."""
    outer = dict.fromkeys(bar.name for bar in panel.bars if bar.outer)
    inner = [name for name in dict.fromkeys(bar.name for bar in panel.bars) if name not in outer]
    found = {name: SERIES[index % len(SERIES)] for index, name in enumerate(inner)}
    return found | {name: (MUTED, INK)[index % 2] for index, name in enumerate(outer)}
