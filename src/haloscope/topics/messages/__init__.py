# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of MPI libraries and transports by message time at each size."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import ALPHA, Measure, one_way
from haloscope.analysis.facets import Facet, facets
from haloscope.analysis.fits import exchanges
from haloscope.analysis.races import Race, races
from haloscope.analysis.sweeps import sweep
from haloscope.study.settings import describe, varying

AXES = ("toolchain", "transport")


def message_races(
    cases: Sequence[MeasuredCase], seed: int
) -> list[tuple[Facet, dict[int, Race[str]]]]:
    """Return a race at each size for every placement of two ranks with several libraries or
    transports.

    The sizes are those that all have, in ascending order. All sizes of a placement are tested as
    one family, so that any selection of them shows the same verdicts.
    """
    own = [case for case in cases if exchanges(case) and case.launches]
    found = []
    for part in facets(own, AXES):
        raced = raced_of(part)
        fields: dict[float, dict[str, Measure]] = {}
        for case in raced:
            for point in sweep(case):
                name = describe(case.settings, apart(part))
                fields.setdefault(float(point.size_bytes), {})[name] = one_way(case, point)
        common = {at: fields[at] for at in sorted(fields) if len(fields[at]) == len(raced)}
        if run := races(common, seed):
            found.append((part, {int(race.at): race for race in run}))
    return found


def raced_of(part: Facet) -> list[MeasuredCase]:
    """Return the cases with enough launches for a test of all of them at each size."""
    for least in sorted({len(case.launches) for case in part.cases}):
        own = [case for case in part.cases if len(case.launches) >= least]
        if len(own) < 2:
            break
        one, other, *_ = sorted(len(case.launches) for case in own)
        common = set.intersection(*({p.size_bytes for p in sweep(case)} for case in own))
        tests = len(common) * (len(own) - 1)
        if own[0].alike or 2 / comb(one + other, one) * tests <= ALPHA:
            return own
    return list(part.cases)


def seldom_of(part: Facet) -> list[str]:
    """Return the names of the cases that are not compared because they have too few launches."""
    raced = raced_of(part)
    return [describe(case.settings, apart(part)) for case in part.cases if case not in raced]


def apart(part: Facet) -> list[str]:
    """Return the settings, of library and transport, in which the cases of a placement differ."""
    differ = varying([case.settings for case in part.cases])
    return [name for name in AXES if name in differ]
