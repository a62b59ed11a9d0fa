# SPDX-License-Identifier: BSD-3-Clause
"""Scales of axes, with their ticks and labels."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    Locator,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from haloscope.quantities import signed
from haloscope.topics.common.figure import Axis


def scale_axis(axes: Axes, which: str, axis: Axis) -> None:
    """Set label, scale, and ticks of an axis, "x" or "y"."""
    one = axes.xaxis if which == "x" else axes.yaxis
    set_scale = axes.set_xscale if which == "x" else axes.set_yscale
    one.set_label_text(axis.label)
    if axis.scale == "log2":
        set_scale("log", base=2)
    elif axis.scale == "log":
        set_scale("log")
        one.set_major_formatter(FuncFormatter(plain))
        one.set_minor_formatter(NullFormatter())
    elif axis.scale == "symlog":
        set_scale("symlog", linthresh=10)
        one.set_major_formatter(FuncFormatter(plain))
    else:  # no "1e6" and no "1e-2 + 1" above the axis
        one.set_major_formatter(FuncFormatter(plain))
    if axis.ticks:
        one.set_major_locator(FixedLocator([value for value, _ in axis.ticks]))
        one.set_ticklabels([word for _, word in axis.ticks])
        one.set_minor_locator(NullLocator())
        one.set_minor_formatter(NullFormatter())


def plain(value: float, _: int | None = None) -> str:
    """Format a tick without an exponent unless it is very large or small."""
    if value and not 1e-7 < abs(value) < 1e9:
        return signed(f"{value:g}")
    return signed(f"{float(f'{value:.6g}'):.12f}".rstrip("0").rstrip("."))


def to_ticks(axes: Axes, axis: Axis) -> None:
    """Extend an axis to given ticks, so that both ends of the scale are labelled."""
    if axis.scale != "log2" or not axis.ticks:
        return
    low, high = axes.dataLim.ymin, axes.dataLim.ymax
    below = [value for value, _ in axis.ticks if value <= low]
    above = [value for value, _ in axis.ticks if value >= high]
    axes.set_ylim(0.95 * max(below, default=low), 1.05 * min(above, default=high))


_LEAST = 3
_OF_A_DECADE = ((1.0, 2.0, 5.0), tuple(map(float, range(1, 10))))


def subdivide(axes: Axes, which: str, axis: Axis) -> None:
    """Give a logarithmic axis shorter than a decade more ticks, each with a line of the grid."""
    if axis.scale != "log" or axis.ticks:
        return
    one = axes.xaxis if which == "x" else axes.yaxis
    low, high = one.get_view_interval()
    if _within(LogLocator(), low, high)[1:]:
        return
    locators = (*map(_every, _OF_A_DECADE), *map(_evenly, (5, 10)))
    found = (_within(locator, low, high) for locator in locators)
    ticks = next(own for own in found if len(own) >= _LEAST)
    one.set_major_locator(FixedLocator(ticks))
    one.set_minor_locator(NullLocator())


def _every(subs: Sequence[float]) -> LogLocator:
    return LogLocator(subs=subs)


def _evenly(intervals: int) -> MaxNLocator:
    return MaxNLocator(intervals, steps=[1, 2, 5, 10])


def _within(locator: Locator, low: float, high: float) -> list[float]:
    return [float(tick) for tick in locator.tick_values(low, high) if low <= tick <= high]
