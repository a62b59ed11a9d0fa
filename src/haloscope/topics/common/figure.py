# SPDX-License-Identifier: BSD-3-Clause
"""A figure as data: panels of curves, bars, surfaces, or timelines, with descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log2
from typing import Literal

from haloscope.analysis.cases import MeasuredCase
from haloscope.quantities import SECONDS, quantity, size
from haloscope.stats.estimates import Estimate

AxisScale = Literal["linear", "log", "log2", "symlog"]


OVER_PROCESSES = 3
"""OVER_PROCESSES is the minimum number of process counts that shows scaling."""


def of_launches(cases: Iterable[MeasuredCase], note: str) -> tuple[str, ...]:
    """Return a note on the variability of launches; none if all cases are simulated."""
    own = list(cases)
    if all(case.alike for case in own):
        return ()
    drawn = any(case.replicated for case in own)
    return (
        note,
        *(["Simulated launches are replicates with random node speeds."] if drawn else []),
    )


@dataclass(frozen=True)
class Mark:
    """One point: y at x, the ends of its interval or range, if any, and outliers.

    band: for simulated values, the factor within which published values are.
    """

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    outliers: tuple[float, ...] = ()
    band: float | None = None


@dataclass(frozen=True)
class Curve:
    """Points with one name; curves with the same name are pieces of one curve.

    bound: a limit (ideal speedup) rather than a measurement: a dashed line without points, grey
    without a style; further names of that colour have other dashes. model: a model's line without
    points. joined: whether interpolation is meaningful, as for sizes, but not for numbers of
    processes. style: number of its colour, marker, and dashes; by default the one of all curves
    with its label in a report. published: values of a paper, with their own markers. like: label of
    the curve whose colour it has: the measured counterpart.
    """

    label: str
    marks: tuple[Mark, ...]
    bound: bool = False
    model: bool = False
    joined: bool = True
    style: int | None = None
    published: bool = False
    like: str = ""


@dataclass(frozen=True)
class Axis:
    """One axis: its label with the unit, its scale, and its ticks, if given.

    from_zero: whether a linear axis starts at 0 if no value is negative; otherwise it fits its
    values.
    """

    label: str
    scale: AxisScale = "linear"
    ticks: tuple[tuple[float, str], ...] = ()
    from_zero: bool = True


@dataclass(frozen=True)
class Lines:
    """A panel of curves. guides: vertical lines with labels, such as cache sizes.

    bands: shaded ranges of y. alt: description, if that of the figure does not apply; otherwise "".
    """

    id: str
    title: str
    x: Axis
    y: Axis
    curves: tuple[Curve, ...]
    guides: tuple[tuple[float, str], ...] = ()
    alt: str = ""
    bands: tuple[tuple[float, float], ...] = ()

    @property
    def names(self) -> list[str]:
        """Return the names of its curves, each once."""
        return list(dict.fromkeys(curve.label for curve in self.curves))

    @property
    def values_of_x(self) -> int:
        """Number of different x with measured or published points."""
        data_curves = [curve for curve in self.curves if not (curve.bound or curve.model)]
        return len({mark.x for curve in data_curves for mark in curve.marks})


@dataclass(frozen=True)
class Bars:
    """A panel of stacked bars, one per case; the last part of a bar is the remainder."""

    id: str
    title: str
    bars: tuple[str, ...]
    parts: tuple[tuple[str, tuple[float, ...]], ...]
    totals: tuple[str, ...]


def bars(cases: Iterable[MeasuredCase], panels: Sequence[Lines]) -> tuple[str, ...]:
    """Return the meaning of bars and dots at points, as far as the panels have them."""
    marks = [mark for panel in panels for curve in panel.curves for mark in curve.marks]
    notes = []
    if any(mark.low is not None for mark in marks):
        launches = {min(2, len(case.launches)) for case in cases}
        over = "confidence interval over launches, or the range if there are few launches"
        if 1 in launches:
            over = f"{over}; with one launch, the range over its repetitions"
        shown = over if 2 in launches else "range over the repetitions of one launch"
        notes.append(f"Bars show the {shown}.")
    if any(mark.outliers for mark in marks):
        notes.append(
            "Dots: launches more than 1.5 interquartile ranges outside the quartiles, which all "
            "numbers include."
        )
    return tuple(notes)


@dataclass(frozen=True)
class Surface:
    """A panel with one function over the unit square: heights[row][column] at points[row] etc."""

    id: str
    title: str
    points: tuple[float, ...]
    heights: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Bar:
    """An interval in a row of a Gantt panel. outer: whether others are within it."""

    row: int
    name: str
    begin: float
    end: float
    outer: bool = False


@dataclass(frozen=True)
class Gantt:
    """A panel with one row per rank and time to the right. Bars of one name have one colour.

    ends: rows that are unknown after a time, with that time.
    """

    id: str
    title: str
    x: str
    rows: tuple[str, ...]
    bars: tuple[Bar, ...]
    ends: tuple[tuple[int, float], ...] = ()


Panel = Lines | Bars | Surface | Gantt


@dataclass(frozen=True)
class Figure:
    """One or more panels side by side. alt: description for readers who cannot see it.

    id: unique within a report, and part of file names; by default the kind. fewest: minimum number
    of x values in a panel; with fewer, the figure adds nothing to its table and is not drawn.
    cases: ids of its cases, if it has a bar or curve for each.
    """

    kind: str
    title: str
    panels: tuple[Panel, ...]
    alt: str
    notes: tuple[str, ...] = ()
    fewest: int = 2
    cases: tuple[str, ...] = ()
    id: str = ""

    def __post_init__(self) -> None:
        """Name the figure after its kind, unless it has its own name."""
        object.__setattr__(self, "id", self.id or self.kind)

    @property
    def is_short(self) -> bool:
        """Return whether it has few enough bars to be read at a glance."""
        return sum(len(one.bars) for one in self.panels if isinstance(one, Bars)) <= _FEW_BARS

    @property
    def shows_enough(self) -> bool:
        """Return whether a panel has enough x values; always for bars, surfaces, and timelines."""
        return any(
            not isinstance(panel, Lines) or panel.values_of_x >= self.fewest
            for panel in self.panels
        )

    def alt_text(self, panel: Panel) -> str:
        """Describe a panel for readers who cannot see it, with its title if there are several."""
        which = f"{panel.title}. " if len(self.panels) > 1 and panel.title else ""
        own = panel.alt if isinstance(panel, Lines) else ""
        return f"{which}{own or self.alt}"


_FEW_BARS = 16


def mark(x: float, estimate: Estimate) -> Mark:
    """Return an estimate at x, with its ends and outliers."""
    return Mark(x, estimate.value, estimate.low, estimate.high, estimate.outliers, estimate.band)


def counts(numbers: Sequence[int], scale: AxisScale = "log2") -> tuple[tuple[float, str], ...]:
    """Return ticks at integers, each once, with labels where the axis has room."""
    found = sorted(set(numbers))
    at = {n: float(n) if scale == "linear" else log2(n) for n in found}
    length = at[found[-1]] - at[found[0]]
    labels = [found[-1]]
    for n in sorted(found, key=lambda n: (n.bit_count() > 1, n)):  # powers of two before others
        if all(abs(at[n] - at[other]) >= length * _room(n, other) for other in labels):
            labels.append(n)
    return tuple((float(n), str(n) if n in labels else "") for n in found)


_DIGIT, _GAP = 0.025, 0.0225
"""Fraction of a drawn axis: width of a tick label's digit, and gap between labels."""


def _room(one: int, other: int) -> float:
    """Return the fraction of an axis needed between the centres of two labels."""
    return _DIGIT * (len(str(one)) + len(str(other))) / 2 + _GAP


def around_one(label: str, ratios: Sequence[float], ends: Sequence[float] = ()) -> Axis:
    """Return an axis suitable for small differences from 1, or for large ratios."""
    if all(1 / FAR < ratio < FAR for ratio in ratios):
        return Axis(label, from_zero=False)
    return Axis(label, "log2", powers_of_two([1.0, *ratios, *ends]))


FAR = 1.5
"""FAR is the ratio, in either direction, from which an axis is logarithmic."""


def powers_of_two(values: Sequence[float]) -> tuple[tuple[float, str], ...]:
    """Return ticks at powers of two over the range of values, which may be below one."""
    low, high = min(values), max(values)
    powers = [2.0**k for k in range(-16, 24) if low / 2 < 2.0**k < high * 2]
    return tuple((power, f"{power:g}") for power in powers)


def second_ticks(every: Sequence[float]) -> tuple[tuple[float, str], ...]:
    """Return powers of ten around times in seconds, each with its unit, because their range is
    large.
    """
    low, high = min(every), max(every)
    steps, beyond = ((1, 2, 5), 2) if high < 100 * low else ((1,), 10)
    times = [k * 10.0**power for power in range(-9, 7) for k in steps]
    around = [one for one in times if low / beyond < one < high * beyond]
    step = -(-len(around) // _TICKS)
    return tuple((one, quantity(one, SECONDS, 1)) for one in around[::step])


_TICKS = 8


def ratio_ticks(ratios: Sequence[float]) -> tuple[tuple[float, str], ...]:
    """Return ticks around ratios and 1: hundredths or tenths if they are close, else 1,
    2, 5, 10.
    """
    low, high = min(*ratios, 1.0), max(*ratios, 1.0)
    if high < 2.5 * low:
        parts = 10 if high > 1.15 * low else 50
        every = [k / parts for k in range(1, 3 * parts)]
        margin = 1 + 2 / parts
    else:
        margin = 2.0
        every = [k * 10.0**power for power in range(-6, 7) for k in (1, 2, 5)]
    around = [one for one in every if low / margin < one < high * margin]
    step = -(-len(around) // 8)
    from_one = around.index(1.0) % step
    return tuple((one, f"{one:g}") for one in around[from_one::step])


def size_ticks(bytes_: Sequence[float]) -> tuple[tuple[float, str], ...]:
    """Return at most six ticks at powers of two."""
    powers = [2.0**k for k in range(64) if min(bytes_) <= 2.0**k <= max(bytes_)]
    step = max(1, -(-len(powers) // 6))
    return tuple((power, size(power)) for power in powers[::step])
