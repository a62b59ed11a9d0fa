# SPDX-License-Identifier: BSD-3-Clause
"""Settings set against each other: ratio, test over launches, Holm's correction, verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import comb, log
from statistics import mean, median
from typing import Final, Literal

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.fits import exchanges, loggp_by_launch
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.analysis.validation import bands
from haloscope.models import loggp
from haloscope.models.sweep import ONE_WAY
from haloscope.quantities import PARAMETERS, PER_BYTE, SECONDS, Scale
from haloscope.records.points import point_name
from haloscope.stats.allocations import compare_over
from haloscope.stats.estimates import Estimate
from haloscope.stats.two_samples import Comparison, compare, holm

ALPHA = 0.05
SAME = 1e-3
"""Simulated times that differ by less are equal: models are not as good as that."""

UNTESTABLE: Final = "too few launches to tell"
"""The verdict where even the smallest p that so few launches could give would show nothing."""

UNDECIDED: Final = "undecided: one allocation each"
"""Of two folders of a batch system with one allocation each: the allocation is the unit."""

FEW_ALLOCATIONS: Final = "undecided: too few allocations"
"""Even the smallest p that so few allocations could give would show nothing."""

OPEN: Final = (UNTESTABLE, UNDECIDED, FEW_ALLOCATIONS)

NO_DIFFERENCE: Final = "no difference shown"
_SHOWN = ("faster", "slower")

TestVerdict = Literal[
    "faster",
    "slower",
    "equal",
    "no difference shown",
    "too few launches to tell",
    "undecided: one allocation each",
    "undecided: too few allocations",
    "not measured",
]


@dataclass(frozen=True)
class Measure:
    """One time of a case to compare by: its step, a point of its sweep, a parameter of its model.

    what: "" for the step, else the point. sample: one number a launch, seconds by the scale.
    group: the sweep that the point is one of, as "allreduce" or "sizes"; "" for the step.
    of: the places of these launches among the good ones of the case; None for all of them.
    """

    case: MeasuredCase
    what: str
    sample: tuple[float, ...]
    time: Estimate | None
    group: str = ""
    scale: Scale = SECONDS
    of: tuple[int, ...] | None = None

    @property
    def by_allocation(self) -> Mapping[str, Sequence[float]] | None:
        """Its sample by allocation of a batch system; None without one."""
        nested = self.case.by_allocation(self.sample, self.of)
        return {"": self.sample} if nested is None and self.case.allocations else nested


@dataclass(frozen=True)
class Contrast:
    """A second measure against a first, all else equal.

    ratio:      median of the first over median of the second: how many times as fast the second is.
    comparison: the test over launches; None where one has none, or both are simulated.
    verdict:    of simulated times, a ratio within their band shows no difference.
    adjusted:   its p-value after Holm's correction for `family` tests.
    """

    first: Measure
    second: Measure
    ratio: Estimate | None
    comparison: Comparison | None
    adjusted: float | None
    verdict: TestVerdict
    family: int = 0


def measures(case: MeasuredCase) -> list[Measure]:
    """What a case is compared by: every point of a sweep, LogGP's parameters, else its step.

    Ping-pongs by the time of a message one way, streams of messages by the time a message, all else
    by a step. Of several operations on memory (stream) triad alone.
    """
    if case.kernel == "loggp":
        return [_parameter(case, name) for name in loggp.NAMES]
    points = [p for p in sweep(case) if case.kernel != "stream" or p.operation == "triad"]
    return [_point(case, point) for point in points] or [step(case)]


def step(case: MeasuredCase) -> Measure:
    """The time of a case's step; None and no launches where it was not measured."""
    return Measure(case, "", tuple(case.times_s), case.time)


def _point(case: MeasuredCase, point: Swept) -> Measure:
    factor = 1.0
    if exchanges(case):
        factor = ONE_WAY
    elif case.kernel == "pingpong" and point.bytes > 0:
        factor = point.size_bytes / point.bytes
    sample = tuple(factor * time for time in point.sample)
    group = point.operation or "sizes"
    what = point_name((point.operation, point.size_bytes), case.size_unit)
    return Measure(case, what, sample, point.time.times(factor), group, of=point.of)


def _parameter(case: MeasuredCase, name: str) -> Measure:
    """One of LogGP's parameters, fitted to every launch by itself; no sample without a fit."""
    sample = [getattr(model, name).value for model in loggp_by_launch(case)]
    scale = PER_BYTE if name.endswith("_per_byte") else SECONDS
    return Measure(
        case, PARAMETERS[name], tuple(sample), case.estimate(sample), "parameters", scale
    )


def launches_needed(tests: int) -> int:
    """Launches, or allocations, on each side that can show a difference among so many tests."""
    return next(n for n in count(2) if 2 / comb(2 * n, n) * tests <= ALPHA)


def contrasts(
    pairs: Sequence[tuple[Measure, Measure]], seed: int = 0, *, apart: bool = False
) -> list[Contrast]:
    """Compare every pair, corrected for as many tests as are made.

    apart: whether the two sides are of two folders, so that the jobs of one are not those of the
    other, whatever their numbers: one allocation on each side is then tested no further.
    """
    tested = [
        None if apart and _undecidable(first, second) else _tested(first, second, seed, apart)
        for first, second in pairs
    ]
    adjusted = holm([one.p_value if one else None for one in tested])
    tests = sum(p is not None for p in adjusted)
    return [
        _undecided_by_jobs(first, second)
        if apart and _undecidable(first, second)
        else _beyond_band(_contrast(first, second, one, p, tests))
        for (first, second), one, p in zip(pairs, tested, adjusted, strict=True)
    ]


def band_of(first: MeasuredCase, second: MeasuredCase) -> float | None:
    """How far the ratio of two times is off, where one or both were simulated, as a factor."""
    if first.subject and second.subject:
        return bands.known().ratio(first.subject, second.subject).factor
    only = first.band or second.band
    return only.factor if only else None


def _beyond_band(one: Contrast) -> Contrast:
    """A difference that is not beyond the error of the simulations is none that is shown."""
    band = band_of(one.first.case, one.second.case)
    if band is None or one.ratio is None:
        return one
    shown = abs(log(one.ratio.value)) > log(band)
    verdict = one.verdict if shown or one.verdict not in _SHOWN else NO_DIFFERENCE
    return replace(one, ratio=replace(one.ratio, band=band), verdict=verdict)


def _undecidable(first: Measure, second: Measure) -> bool:
    """Whether both sides were measured, and a batch system gave neither nodes more than once."""
    if not first.sample or not second.sample:
        return False
    given = [side.by_allocation for side in (first, second)]
    return any(given) and all(one is None or len(one) == 1 for one in given)


def _undecided_by_jobs(first: Measure, second: Measure) -> Contrast:
    """Their ratio without an interval, as one of launches would hold for these nodes alone."""
    one, other = (median(side.sample) for side in (first, second))
    ratio = None
    if one > 0 and other > 0:
        launches = min(len(first.sample), len(second.sample))
        ratio = Estimate(one / other, None, None, launches, "none", allocations=1)
    return Contrast(first, second, ratio, None, None, UNDECIDED)


def _tested(first: Measure, second: Measure, seed: int, apart: bool) -> Comparison | None:
    """No test without launches, and none of simulated times that are the same in every launch."""
    if not first.sample or not second.sample or first.case.alike or second.case.alike:
        return None
    one, other = (each.by_allocation for each in (first, second))
    if one is None and other is None:
        return compare(first.sample, second.sample, seed=seed)
    nested = one or {"here": first.sample}, other or {"here": second.sample}
    return compare_over(*nested, apart=apart, seed=seed)


def _contrast(
    first: Measure,
    second: Measure,
    comparison: Comparison | None,
    adjusted: float | None,
    tests: int,
) -> Contrast:
    if comparison is not None and adjusted is not None:
        verdict = _undecided(comparison, tests)
        if adjusted <= ALPHA:
            verdict = _sign_over(comparison.ratio) or _sign(first, second)
        return Contrast(first, second, comparison.ratio, comparison, adjusted, verdict, tests)
    if first.time is None or second.time is None:
        return Contrast(first, second, None, None, None, "not measured")
    if first.time.value <= 0 or second.time.value <= 0:
        return Contrast(first, second, None, None, None, _sign(first, second))
    ratio = first.time.value / second.time.value
    estimate = Estimate(ratio, None, None, second.time.n, "simulated")
    verdict = "equal" if abs(ratio - 1) < SAME else _sign(first, second)
    return Contrast(first, second, estimate, None, None, verdict)


def _undecided(comparison: Comparison, tests: int) -> TestVerdict:
    """Too few: even the smallest p that they could give would not survive the correction."""
    if comparison.attainable * tests <= ALPHA:
        return NO_DIFFERENCE
    return UNTESTABLE if comparison.test.endswith("launches") else FEW_ALLOCATIONS


def _sign_over(ratio: Estimate | None) -> TestVerdict | None:
    """Which is faster within allocations, which their launches together need not tell."""
    if ratio is None or ratio.allocations is None:
        return None
    return "faster" if ratio.value > 1 else "slower"


def _sign(first: Measure, second: Measure) -> TestVerdict:
    """By the medians; where these are equal and their launches are not, by the means."""
    one, other = (median(measure.sample) for measure in (first, second))
    if one == other:
        one, other = (mean(measure.sample) for measure in (first, second))
    if one == other:
        return "equal"
    return "faster" if one > other else "slower"
