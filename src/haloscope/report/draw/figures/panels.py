# SPDX-License-Identifier: BSD-3-Clause
"""Draw figures with matplotlib: each panel as SVG (light and dark) and as PDF."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from io import BytesIO, StringIO
from itertools import count
from textwrap import wrap
from typing import Any, Literal

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Polygon

from haloscope.report.draw.figures import Drawing
from haloscope.report.draw.figures.bars import WIDTH_IN, bars, draw_gantt, surface
from haloscope.report.draw.figures.palette import (
    GRID,
    INK,
    MUTED,
    SERIES,
    dark_style,
    name_of,
    phase_colours,
    series_styles,
)
from haloscope.report.draw.figures.points import series_id, with_values
from haloscope.report.draw.figures.scales import scale_axis, subdivide, to_ticks
from haloscope.topics.common.figure import Bars, Curve, Figure, Gantt, Lines, Panel

_MARKERS = "osD^vPX*"
_SIZES = (6.5, 5.0, 4.0, 3.0)
_PUBLISHED, _LARGE = "d", 8.5
"""Published points are hollow diamonds, larger than others, so that both are visible."""
_DASHES = ("-", "--", "-.", ":")
_OF_BOUNDS = ("--", ":", "-.")
_STYLE: Any = {
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 11,
    "font.sans-serif": ["DejaVu Sans", "Arial"],  # every text of an SVG repeats this list
    "font.size": 10,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "pdf.fonttype": 42,  # TrueType; publishers reject Type 3
    "savefig.transparent": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "haloscope",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": INK,
    "ytick.color": INK,
}


LegendOf = Literal["panel", "figure"]


def draw_all(figures: Sequence[Figure]) -> dict[str, list[Drawing]]:
    """Draw all panels of all figures of a report, by figure."""
    styles = series_styles(figures)
    curves = {name: SERIES[style % len(SERIES)] for name, style in styles.items()}
    colours = phase_colours(figures, curves)
    return {figure.id: [*_panels(figure, colours, styles)] for figure in figures}


def _panels(
    figure: Figure, colours: Mapping[str, str], styles: Mapping[str, int]
) -> Iterator[Drawing]:
    """Yield the panels of a figure; the last one has a common legend if their curves
    are the same.
    """
    shared = _share_a_legend(figure.panels)
    for panel in figure.panels:
        name = re.sub(r"[^\w.-]", "_", f"{figure.id}-{panel.id}")
        legend: LegendOf | None = "panel"
        if shared:
            legend = "figure" if panel is figure.panels[-1] else None
        yield _drawing(name, canvas_of(panel, colours, styles, legend), panel)


def _share_a_legend(panels: Sequence[Panel]) -> bool:
    each = {(*panel.names, _has_band(panel)) for panel in panels if isinstance(panel, Lines)}
    return len(panels) > 1 and len(each) == 1 and all(isinstance(one, Lines) for one in panels)


def _drawing(name: str, canvas: Canvas, panel: Panel) -> Drawing:
    with matplotlib.rc_context(_STYLE):
        svg, pdf = StringIO(), BytesIO()
        canvas.savefig(svg, format="svg", dpi=200, metadata={"Date": None})
        canvas.set_layout_engine("none")  # one layout pass is enough
        canvas.savefig(pdf, format="pdf", dpi=200, metadata={"CreationDate": None})
    styled = svg.getvalue().replace("<defs>", f"<style>{dark_style()}</style>\n <defs>", 1)
    if isinstance(panel, Lines):
        styled = with_values(styled, canvas, panel)
    return Drawing(name, styled, pdf.getvalue())


def canvas_of(
    panel: Panel,
    colours: Mapping[str, str],
    styles: Mapping[str, int],
    legend: LegendOf | None = "panel",
) -> Canvas:
    """Draw a panel with matplotlib.

    colours, styles: of each phase, and of each curve without its own style, by name. legend: of the
    panel's curves, or of all panels of a figure; None: without one.
    """
    with matplotlib.rc_context(_STYLE):
        if isinstance(panel, Lines):
            return _lines(panel, styles, legend)
        if isinstance(panel, Bars):
            return bars(panel, colours)
        if isinstance(panel, Gantt):
            return draw_gantt(panel, WIDTH_IN, colours)
        return surface(panel)


_AT_THE_END = 0.85
"""Beyond this part of an axis a guide's label is on its left, where there is room."""
_NEAR = 4.0
"""Labels of guides closer than this factor are on different lines."""


def _guides(axes: Axes, guides: Sequence[tuple[float, str]]) -> None:
    """Draw vertical lines with labels; the label of a line close to another is one line lower."""
    before, lower = 0.0, 0
    for x, word in sorted(guides):
        lower = lower + 1 if before and x < _NEAR * before else 0
        before = x
        axes.axvline(x, color=MUTED, linewidth=1, linestyle=":")
        at = axes.transAxes.inverted().transform(axes.transData.transform((x, axes.get_ylim()[1])))
        last = at[0] > _AT_THE_END
        axes.annotate(
            word,
            (x, 1),
            (-3 if last else 3, -2 - 12 * lower),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            color=MUTED,
            ha="right" if last else "left",
            va="top",
        )


def _lines(panel: Lines, styles: Mapping[str, int], legend: LegendOf | None) -> Canvas:
    names = panel.names
    columns = 2 if all(len(name) < 24 for name in names) else 1
    lines_below = -(-sum(len(wrap(name, _FITTING)) for name in names) // columns)
    height = 3.5 + 0.22 * max(0, lines_below - 2)
    if legend is None:
        height -= 0.1 + 0.22 * lines_below
    canvas = Canvas(figsize=(WIDTH_IN, height), layout="constrained")
    axes = canvas.add_subplot()
    axes.set_title(panel.title, loc="left")
    scale_axis(axes, "x", panel.x)
    scale_axis(axes, "y", panel.y)
    own = [curve for curve in panel.curves if not curve.bound]
    pointed = [curve for curve in own if not curve.model]
    number = count()
    for curve in own:
        style = styles[name_of(curve)] if curve.style is None else curve.style
        before = {*axes.get_children()}
        if curve.model:
            _model(axes, curve, style)
        else:
            _curve(axes, curve, style, pointed.index(curve))
        _name(axes, before, series_id(panel, curve), number)
    before = {*axes.get_children()}
    _bounds(axes, [curve for curve in panel.curves if curve.bound])
    _name(axes, before, "placed", number)
    if panel.y.scale == "linear" and panel.y.from_zero and axes.dataLim.ymin >= 0:
        shades = [m.y * m.band for curve in pointed for m in curve.marks if m.band]
        top = max([axes.dataLim.ymax, *(y for y in shades if y < _SHADED * axes.dataLim.ymax)])
        axes.set_ylim(0, 1.06 * top)
    to_ticks(axes, panel.y)
    subdivide(axes, "x", panel.x)
    subdivide(axes, "y", panel.y)
    before = {*axes.get_children()}
    _guides(axes, panel.guides)
    _name(axes, before, "placed-x", number)
    before = {*axes.get_children()}
    for low, high in panel.bands:
        axes.axhspan(low, high, color=MUTED, alpha=0.15, linewidth=0, zorder=0.5)
    _name(axes, before, "placed-y", number)
    if _has_band(panel):
        covers = legend == "panel" and _covers(axes, pointed)
        if covers:
            for artist in (*axes.collections, *axes.patches):
                artist.set_visible(artist.get_zorder() != _BELOW)
        label = _BEYOND if covers else BAND
        axes.fill_between([], [], **_SHADE, color=MUTED, label=label)
        names.append(label)
    if len(names) > 1 and legend:
        _legend(canvas, axes, panel, columns, legend)
    return canvas


def _name(axes: Axes, before: Set[Artist], name: str, number: Iterator[int]) -> None:
    """Name the elements drawn since then for the page's script."""
    for artist in (one for one in axes.get_children() if one not in before):
        artist.set_gid(f"{name}-{next(number)}")


def _has_band(panel: Lines) -> bool:
    own = (curve for curve in panel.curves if not (curve.bound or curve.model))
    return any(mark.band for curve in own for mark in curve.marks)


def _covers(axes: Axes, curves: Sequence[Curve]) -> bool:
    """Return whether the error of every mark extends beyond both ends of the axis."""
    low, high = axes.get_ylim()
    marks = [mark for curve in curves for mark in curve.marks if mark.band]
    return all(m.y / (m.band or 1.0) < low and m.y * (m.band or 1.0) > high for m in marks)


def _bounds(axes: Axes, curves: Sequence[Curve]) -> None:
    """Draw lines without points; names with the same colour differ in their dashes."""
    looks: dict[str, list[str]] = {}
    for curve in curves:
        colour = MUTED if curve.style is None else SERIES[curve.style % len(SERIES)]
        names = looks.setdefault(colour, [])
        if curve.label not in names:
            names.append(curve.label)
        axes.plot(
            [m.x for m in curve.marks],
            [m.y for m in curve.marks],
            color=colour,
            linestyle=_OF_BOUNDS[names.index(curve.label) % len(_OF_BOUNDS)],
            linewidth=1,
            label=curve.label,
            zorder=1.8,
        )


_FITTING = 54
"""Characters of a legend's line that fit below a panel."""


def _legend(canvas: Canvas, axes: Axes, panel: Lines, columns: int, of: LegendOf) -> None:
    handles, labels = axes.get_legend_handles_labels()
    drawn = dict(zip(labels, handles, strict=True))
    first = {curve.label: curve for curve in reversed(panel.curves)}
    ordered = [drawn[name] for name in (*panel.names, BAND, _BEYOND) if name in drawn]
    prefix = "legend" if of == "panel" else "shared-legend"
    legend = canvas.legend(handles=ordered, loc="outside lower left", ncols=columns)
    for text in legend.get_texts():
        if curve := first.get(text.get_text()):
            text.set_gid(f"{prefix}-{series_id(panel, curve)}")
        text.set_text("\n".join(wrap(text.get_text(), _FITTING)))


def _model(axes: Axes, curve: Curve, style: int) -> None:
    axes.plot(
        [m.x for m in curve.marks],
        [m.y for m in curve.marks],
        label=curve.label,
        color=SERIES[style % len(SERIES)],
        linestyle=_DASHES[_sign(style) % len(_DASHES)],
        linewidth=1.3,
        zorder=2.5,
    )


def _sign(style: int) -> int:
    """Return the number of a style's marker: a different one per colour in the second round."""
    return style + style // len(SERIES)


BAND = "simulation error"
_BEYOND = "error exceeds axis"
_SHADE: Any = {"alpha": 0.16, "linewidth": 0}
_WIDE = 7.0
_BELOW = 1.5


_SHADED = 1.5
"""_SHADED is the largest factor by which a shaded error extends an axis."""


def _band(axes: Axes, curve: Curve, colour: str) -> None:
    ends = [(m.x, m.y / m.band, m.y * m.band) for m in curve.marks if m.band]
    if curve.joined and len(ends) > 1:
        edge = [(x, low) for x, low, _ in ends] + [(x, high) for x, _, high in reversed(ends)]
        axes.add_artist(Polygon(edge, color=colour, zorder=_BELOW, **_SHADE))
        return
    lines = [[(x, low), (x, high)] for x, low, high in ends]
    shade = {**_SHADE, "linewidth": _WIDE}
    axes.add_collection(LineCollection(lines, color=colour, zorder=_BELOW, **shade), autolim=False)


def _curve(axes: Axes, curve: Curve, style: int, before: int) -> None:
    """Draw points with the ends of their intervals, if there are any."""
    ends = [
        (m.y - m.low, m.high - m.y) if m.low is not None and m.high is not None else (0.0, 0.0)
        for m in curve.marks
    ]
    colour = SERIES[style % len(SERIES)]
    _band(axes, curve, colour)
    far = [(m.x, y) for m in curve.marks for y in m.outliers]
    axes.scatter([x for x, _ in far], [y for _, y in far], s=5, color=colour, linewidths=0)
    axes.errorbar(
        [m.x for m in curve.marks],
        [m.y for m in curve.marks],
        yerr=[[low for low, _ in ends], [high for _, high in ends]]
        if any(map(any, ends))
        else None,
        label=curve.label,
        color=colour,
        marker=_PUBLISHED if curve.published else _MARKERS[_sign(style) % len(_MARKERS)],
        markerfacecolor="none" if curve.published else colour,
        markeredgewidth=1.5 if curve.published else 1.0,
        markersize=_LARGE
        if curve.published
        else _SIZES[1 if curve.joined else before % len(_SIZES)],
        zorder=2.0 + 0.01 * before,
        linestyle="-" if curve.joined else "none",
        linewidth=1.3,
        elinewidth=1,
        capsize=2.5,
    )
