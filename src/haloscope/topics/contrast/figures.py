# SPDX-License-Identifier: BSD-3-Clause
"""Speedup of each alternative relative to its reference, by cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Contrast
from haloscope.analysis.context import Context
from haloscope.grouped import grouped
from haloscope.layout import CORES
from haloscope.quantities import number, within
from haloscope.study.settings import common, describe, varying
from haloscope.topics.common.figure import (
    OVER_PROCESSES,
    Axis,
    Curve,
    Figure,
    Lines,
    Mark,
    bars,
    counts,
    mark,
    ratio_ticks,
)
from haloscope.topics.contrast import BINDINGS, EXCHANGES, FACES, OVERLAPS, TRANSPOSES, Ways, groups

_COLOURS = 8
_SIZE = (*CORES, "places")


def exchange_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """How many times as fast each halo exchange is as blocking, over cores."""
    return [*contrast_figures(cases, context, EXCHANGES), *contrast_figures(cases, context, FACES)]


def transpose_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """How many times as fast each transpose is as one collective call, over cores."""
    return contrast_figures(cases, context, TRANSPOSES)


def overlap_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """How many times as fast each overlap of a sparse product is as none, over cores."""
    return contrast_figures(cases, context, OVERLAPS)


def bind_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """How many times as fast each binding is as close, over cores."""
    return contrast_figures(cases, context, BINDINGS)


def contrast_figures(cases: Sequence[MeasuredCase], context: Context, ways: Ways) -> list[Figure]:
    """Return one figure of all settings that have several alternatives; [] without any."""
    found = [
        contrast
        for _, several in groups(cases, context.seed, ways)
        for contrast in several
        if contrast.ratio is not None
    ]
    if not found:
        return []
    curves = _curves(found, ways)
    cores = [contrast.second.case.cores for contrast in found]
    first = min(found, key=lambda contrast: ways.position(contrast.first.case))
    reference = next(iter(ways.apart(first.first.case, first.second.case)[0].values()))
    errors = sorted({one.ratio.band for one in found if one.ratio and one.ratio.band})
    level = tuple(Mark(at, 1.0) for at in sorted({*cores}))
    even = [Curve(f"as fast as {reference}", level, bound=True)] if len(level) > 1 else []
    every = [one.y for curve in curves for one in curve.marks]
    panel = Lines(
        "times_as_fast",
        "",
        Axis("cores", "log2", counts(cores)),
        Axis(f"speedup over {reference}", "log", ratio_ticks(every)),
        (*even, *curves),
        bands=tuple((1 / factor, factor) for factor in errors[:1]),
    )
    shown = [measure.case for one in found for measure in (one.first, one.second)]
    return [
        Figure(
            kind=ways.setting,
            title=context.title(ways.title, common([case.settings for case in shown])),
            panels=(panel,),
            fewest=1 if len(found) > OVER_PROCESSES else OVER_PROCESSES,
            alt=f"Speedup over {reference}: {number(min(every))} to {number(max(every))}.",
            notes=(
                f"One point per setting: time with {reference} / time with the other.",
                *_shaded(errors),
                *bars(shown, [panel]),
            ),
            cases=tuple(dict.fromkeys(case.id for case in shown)),
        )
    ]


def _shaded(errors: Sequence[float]) -> list[str]:
    """Describe the shading: the smallest error of the points, and the size of others."""
    if not errors:
        return []
    up_to = f", for some points up to {within(errors[-1])}" if errors[-1] > errors[0] else ""
    return [f"Shaded: within the simulation's error, {within(errors[0])}{up_to}."]


def _curves(found: Sequence[Contrast], ways: Ways) -> list[Curve]:
    every = [contrast.second.case.settings for contrast in found]
    names = [name for name in varying(every) if name not in (*_SIZE, *ways.follows)]
    names.sort(key=lambda name: name != ways.setting)
    while len({describe(one, names) for one in every}) > _COLOURS:
        names.pop()

    def named(contrast: Contrast) -> str:
        settings = contrast.second.case.settings
        return describe(settings, names) or str(settings[ways.setting])

    return [
        Curve(label, tuple(sorted(map(_mark, own), key=lambda one: one.x)), joined=False)
        for label, own in grouped(found, named).items()
    ]


def _mark(contrast: Contrast) -> Mark:
    assert contrast.ratio is not None
    # the error is shaded for all points
    return replace(mark(contrast.second.case.cores, contrast.ratio), band=None)
