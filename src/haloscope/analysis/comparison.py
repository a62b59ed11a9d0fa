# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of settings, two or several: ratio, test over launches, Holm's correction, verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import comb, log
from statistics import mean, median
from typing import Final, Generic, Literal, TypeVar

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
"""Simulated times with a smaller relative difference are equal; models are less
accurate than this.
"""

UNTESTABLE: Final = "too few launches to tell"
"""The verdict if even the smallest possible p with so few launches would not be significant."""

UNDECIDED: Final = "undecided: one allocation each"
"""The verdict on two folders of a batch system with one allocation each: the allocation is the
unit.
"""

FEW_ALLOCATIONS: Final = "undecided: too few allocations"
"""The verdict if even the smallest possible p with so few allocations would not be significant."""

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
    """A time of a case to compare: its step, a point of its sweep, or a parameter of its model.

    what: "" for the step, otherwise the point. sample: one number per launch, in seconds times the
    scale. group: the sweep that contains the point, such as "allreduce" or "sizes"; "" for the
    step. of: indices of these launches among the good ones of the case; None: all.
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
        """The sample by allocation of a batch system, or None."""
        nested = self.case.by_allocation(self.sample, self.of)
        return {"": self.sample} if nested is None and self.case.allocations else nested


@dataclass(frozen=True)
class Contrast:
    """A second measure compared with a first, all else equal.

    ratio: median of the first over median of the second, which is the speedup of the second.
    comparison: the test over launches; None if one side has none or both are simulated. verdict:
    simulated times whose ratio is within its band show no difference. adjusted: p-value after
    Holm's correction for `family` tests.
    """

    first: Measure
    second: Measure
    ratio: Estimate | None
    comparison: Comparison | None
    adjusted: float | None
    verdict: TestVerdict
    family: int = 0


def measures(case: MeasuredCase) -> list[Measure]:
    """Return the measures of a case: every point of a sweep, LogGP's parameters, or else its step.

    Ping-pongs are compared by one-way time, message streams by time per message, stream by triad
    alone, and everything else by step.
    """
    if case.kernel == "loggp":
        return [_parameter(case, name) for name in loggp.NAMES]
    points = [p for p in sweep(case) if case.kernel != "stream" or p.operation == "triad"]
    return [_point(case, point) for point in points] or [step(case)]


def step(case: MeasuredCase) -> Measure:
    """Return the time per step of a case; None and no launches if it was not measured."""
    return Measure(case, "", tuple(case.times_s), case.time)


def point_time(case: MeasuredCase, point: Swept) -> Measure:
    """Return the time of a step of a point."""
    return Measure(case, "", point.sample, point.time)


def one_way(case: MeasuredCase, point: Swept) -> Measure:
    """Return the one-way time of a point whose step is a round trip."""
    return Measure(case, "", point.sample_one_way, point.one_way)


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
    """Return one of LogGP's parameters, fitted to each launch separately; no sample
    without a fit.
    """
    sample = [getattr(model, name).value for model in loggp_by_launch(case)]
    scale = PER_BYTE if name.endswith("_per_byte") else SECONDS
    return Measure(
        case, PARAMETERS[name], tuple(sample), case.estimate(sample), "parameters", scale
    )


def launches_needed(tests: int) -> int:
    """Return the launches, or allocations, per side that can show a difference among so
    many tests.
    """
    return next(n for n in count(2) if 2 / comb(2 * n, n) * tests <= ALPHA)


def contrasts(
    pairs: Sequence[tuple[Measure, Measure]], seed: int = 0, *, apart: bool = False
) -> list[Contrast]:
    """Compare every pair, with a correction for the number of tests.

    apart: whether the sides are from different folders, whose jobs are different even if they have
    the same number. One allocation per side is then not tested.
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
    """Return the error of the ratio of two times as a factor, if one or both were simulated."""
    if first.subject and second.subject:
        known = bands.known().ratio(first.subject, second.subject).factor
        return max(known, *(one.reported.factor for one in (first, second) if one.reported), 1.0)
    only = first.band or second.band
    return only.factor if only else None


def _beyond_band(one: Contrast) -> Contrast:
    """Set the verdict of a simulated difference that is within the error of the simulations."""
    band = band_of(one.first.case, one.second.case)
    if band is None or one.ratio is None:
        return one
    shown = abs(log(one.ratio.value)) > log(band)
    verdict = one.verdict if shown or one.verdict not in _SHOWN else NO_DIFFERENCE
    return replace(one, ratio=replace(one.ratio, band=band), verdict=verdict)


def _undecidable(first: Measure, second: Measure) -> bool:
    """Return whether both sides were measured in one allocation of a batch system each."""
    if not first.sample or not second.sample:
        return False
    given = [side.by_allocation for side in (first, second)]
    return any(given) and all(one is None or len(one) == 1 for one in given)


def _undecided_by_jobs(first: Measure, second: Measure) -> Contrast:
    """Return the ratio without an interval: one over launches would be valid for these
    nodes only.
    """
    one, other = (median(side.sample) for side in (first, second))
    ratio = None
    if one > 0 and other > 0:
        launches = min(len(first.sample), len(second.sample))
        ratio = Estimate(one / other, None, None, launches, "none", allocations=1)
    return Contrast(first, second, ratio, None, None, UNDECIDED)


def _tested(first: Measure, second: Measure, seed: int, apart: bool) -> Comparison | None:
    """Test two measures; None without launches, and for deterministic simulated times."""
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
    """Return the verdict if even the smallest possible p would not be significant after
    correction.
    """
    if comparison.attainable * tests <= ALPHA:
        return NO_DIFFERENCE
    return UNTESTABLE if comparison.test.endswith("launches") else FEW_ALLOCATIONS


def _sign_over(ratio: Estimate | None) -> TestVerdict | None:
    """Return which is faster within allocations; all launches together may show something else."""
    if ratio is None or ratio.allocations is None:
        return None
    return "faster" if ratio.value > 1 else "slower"


def _sign(first: Measure, second: Measure) -> TestVerdict:
    """Return which is faster by medians or, if these are equal and the launches are
    not, by means.
    """
    one, other = (median(measure.sample) for measure in (first, second))
    if one == other:
        one, other = (mean(measure.sample) for measure in (first, second))
    if one == other:
        return "equal"
    return "faster" if one > other else "slower"


Name = TypeVar("Name")


@dataclass(frozen=True)
class Race(Generic[Name]):
    """Times of one task done in several ways.

    at: the task, such as a size or a number of ranks. best: name of the fastest by its median.
    against: the contrast with each other, whose second side is the fastest, by name.
    """

    at: float
    best: Name
    against: Mapping[Name, Contrast]

    @property
    def first(self) -> tuple[Name, ...]:
        """The fastest, and all that are not shown to be slower."""
        return (self.best, *(name for name, c in self.against.items() if c.verdict != "faster"))

    @property
    def tied(self) -> bool:
        """Whether several are first because they are equal, not because launches are too few."""
        alike = all(c.verdict in ("equal", "faster") for c in self.against.values())
        return alike and len(self.first) > 1

    @property
    def too_few(self) -> bool:
        """Whether the launches are too few to distinguish the fastest from another."""
        return any(c.verdict in OPEN for c in self.against.values())

    def over(self, name: Name) -> float:
        """Return the time of another relative to the fastest, by medians."""
        contrast = self.against[name]
        assert contrast.first.time is not None and contrast.second.time is not None
        return contrast.first.time.value / contrast.second.time.value

    @property
    def lead(self) -> tuple[Name, float] | None:
        """The fastest that is shown to be slower, and its time relative to the fastest."""
        behind = [name for name, c in self.against.items() if c.verdict == "faster"]
        nearest = min(behind, key=self.over, default=None)
        return None if nearest is None else (nearest, self.over(nearest))


def races(fields: Mapping[float, Mapping[Name, Measure]], seed: int = 0) -> list[Race[Name]]:
    """Return a race for each key of `fields`, tested as one family.

    Keys with fewer than two measured alternatives are omitted.
    """
    fields = {
        at: {name: measure for name, measure in field.items() if measure.time is not None}
        for at, field in fields.items()
    }
    ordered = [(at, _by_time(field)) for at, field in fields.items() if len(field) > 1]
    pairs = [
        (fields[at][other], fields[at][best]) for at, (best, *others) in ordered for other in others
    ]
    found = iter(contrasts(pairs, seed))
    return [
        Race(at, best, {other: next(found) for other in others}) for at, (best, *others) in ordered
    ]


def _by_time(field: Mapping[Name, Measure]) -> Sequence[Name]:
    def seconds(name: Name) -> float:
        time = field[name].time
        assert time is not None
        return time.value

    return sorted(field, key=seconds)


One = TypeVar("One")


def front(
    choices: Sequence[One], time: Callable[[One], float], cost: Callable[[One], float]
) -> list[One]:
    """Return the Pareto front, from the fastest to the cheapest; of equal ones the first."""
    found: list[One] = []
    for one in sorted(choices, key=lambda choice: (time(choice), cost(choice))):
        if not found or cost(one) < cost(found[-1]):
            found.append(one)
    return found
