"""Time over processes with the law that was fitted, and the band in which it lies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.scaling_laws import Law, laws
from haloscope.models.scaling_law import ScalingLaw
from haloscope.quantities import number, percent
from haloscope.report.context import Context
from haloscope.report.figures.model import (
    Axis,
    Curve,
    Figure,
    Lines,
    Mark,
    counts,
    mark,
    of_launches,
)
from haloscope.report.figures.pingpong import BARS

STEPS = 60
"""STEPS is how many points of a law are drawn."""


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """A figure for each law."""
    return [
        _figure(one, one.law, context)
        for one in laws(cases, context.seed)
        if one.law is not None
    ]  # fmt: skip


def _figure(one: Law, law: ScalingLaw, context: Context) -> Figure:
    pairs = zip(one.x, one.cases, strict=True)
    points = tuple(mark(x, case.time.times(1e3)) for x, case in pairs if case.time)
    clock = "simulated" if all(case.simulated for case in one.cases) else "measured"
    panel = Lines(
        "law",
        "",
        Axis(one.p, "log2", counts(one.x)),
        Axis("time (ms)", "log"),
        (Curve(clock, points, joined=False, style=0), *_drawn(law)),
    )
    banded = law.draws.size > 0
    return Figure(
        id="scaling_law",
        kind="scaling_law",
        title=context.title("Time and its law", one.label),
        panels=(panel,),
        alt=f"Time {_over(one)}, from "
        f"{number(points[0].y)} to {number(points[-1].y)} ms, with a law that predicts points left "
        f"out within {percent(law.cross_validation)}.",
        notes=(
            *of_launches(one.cases, BARS),
            f"Law: {ScalingLaw.source}."
            + (" Dashed: where it lies with 95 % over launches drawn again." if banded else ""),
        ),
    )


def _over(one: Law) -> str:
    """ "on 1 to 16 processes", "for N from 64 to 1024"."""
    if one.over_sizes:
        return f"for N from {one.x[0]} to {one.x[-1]}"
    return f"on {one.x[0]} to {one.x[-1]} {one.p}"


def _drawn(law: ScalingLaw) -> Iterator[Curve]:
    """The law, and the ends of its band where it has one."""
    p = np.geomspace(*law.valid, STEPS)
    yield Curve("law", _marks(p, law.predict(p)), model=True, style=1)
    if (band := law.band(p)) is not None:
        for end in band:
            yield Curve("95 % band", _marks(p, end), bound=True, style=1)


def _marks(
    p: np.typing.NDArray[np.float64], times: np.typing.NDArray[np.float64]
) -> tuple[Mark, ...]:
    pairs = zip(p, times, strict=True)
    return tuple(Mark(float(x), 1e3 * float(time)) for x, time in pairs if time > 0)
