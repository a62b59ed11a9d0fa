# SPDX-License-Identifier: BSD-3-Clause
"""Time by processes with the fitted law and its band."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.scaling_laws import Law, laws
from haloscope.models.scaling_law import ScalingLaw
from haloscope.quantities import number, percent
from haloscope.report.figures.model import (
    Axis,
    Curve,
    Figure,
    Lines,
    Mark,
    bars,
    counts,
    mark,
)

STEPS = 60
"""STEPS is how many points of a law are drawn."""


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """A figure for each law; of those that differ in processes per node alone, one for all."""
    fitted = [(one, one.law) for one in laws(cases, context.seed) if one.law is not None]
    meshes = dict.fromkeys((one.mesh, one.p, one.ppn is None) for one, _ in fitted)
    return [
        _figure([pair for pair in fitted if _mesh(pair[0]) == mesh], context) for mesh in meshes
    ]


def _mesh(one: Law) -> tuple[str, str, bool]:
    return one.mesh, one.p, one.ppn is None


def _figure(found: Sequence[tuple[Law, ScalingLaw]], context: Context) -> Figure:
    one = found[0][0]
    own = [case for each, _ in found for case in each.cases]
    panel = Lines(
        "law",
        "",
        Axis(one.p, "log2", counts([x for each, _ in found for x in each.x])),
        Axis("time (ms)", "log"),
        (*(_points(each) for each, _ in found), *_laws(found)),
    )
    banded = len(found) == 1 and found[0][1].draws.size > 0
    return Figure(
        id="scaling_law",
        kind="scaling_law",
        title=context.title("Time and its law", one.mesh),
        panels=(panel,),
        alt=" ".join(_in_words(each, law) for each, law in found),
        notes=(
            *bars(own, [panel]),
            f"Law: {ScalingLaw.source}."
            + (
                " Dashed: where it lies with 95 % over launches drawn again, its terms kept."
                if banded
                else ""
            ),
        ),
    )


def _points(one: Law) -> Curve:
    """Its times, called by processes per node where there are others."""
    clock = "simulated" if all(case.simulated for case in one.cases) else "measured"
    pairs = zip(one.x, one.cases, strict=True)
    marks = tuple(mark(x, case.time.times(1e3)) for x, case in pairs if case.time)
    return Curve(one.per_node or clock, marks, joined=False, style=None if one.ppn else 0)


def _laws(found: Sequence[tuple[Law, ScalingLaw]]) -> Iterator[Curve]:
    """One with its band; several each in the colour of its points."""
    if len(found) == 1:
        yield from _drawn(found[0][1])
        return
    for one, law in found:
        p = np.geomspace(*law.valid, STEPS)
        marks = _marks(p, law.predict(p))
        yield Curve("law of each", marks, model=True, like=one.per_node)


def _in_words(one: Law, law: ScalingLaw) -> str:
    """Where it begins and ends, and how well it predicts."""
    first, last = (
        number(1e3 * case.time.value) for case in (one.cases[0], one.cases[-1]) if case.time
    )
    named = f"{one.per_node}: time" if one.per_node else "Time"
    return (
        f"{named} {_over(one)}, from {first} to {last} ms, with a law that predicts points left "
        f"out within {percent(law.cross_validation)}."
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
