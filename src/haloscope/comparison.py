"""Settings set against each other: ratio, test over launches, Holm's correction, verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from haloscope.evidence import MeasuredCase
from haloscope.points import sweep
from haloscope.quantities import size
from haloscope.stats import Comparison, Estimate, compare, holm

ALPHA = 0.05

Verdict = Literal[
    "faster",
    "slower",
    "equal",
    "no difference shown",
    "too few launches to tell",
    "not measured",
]


@dataclass(frozen=True)
class Measure:
    """One time of a case to compare by: its step, or for a sweep one of its points.

    what: "" for the step, else the point. sample: seconds, one number a launch.
    """

    case: MeasuredCase
    what: str
    sample: tuple[float, ...]
    time: Estimate | None


@dataclass(frozen=True)
class Contrast:
    """A second measure against a first, all else equal.

    ratio:      median of the first over median of the second: how many times as fast the second is.
    comparison: the test over launches; None where one has none, or both are simulated.
    adjusted:   its p-value after Holm's correction.
    """

    first: Measure
    second: Measure
    ratio: Estimate | None
    comparison: Comparison | None
    adjusted: float | None
    verdict: Verdict


def measures(case: MeasuredCase) -> list[Measure]:
    """What a case is compared by: its step, or the smallest and the largest point of a sweep.

    Of several operations (stream) that is triad alone.
    """
    points = [point for point in sweep(case) if point.operation in (None, "triad")]
    if not points:
        return [Measure(case, "", tuple(case.times_s), case.time)]
    ends = points if len(points) == 1 else [points[0], points[-1]]
    return [
        Measure(case, f"{p.operation or ''} {size(p.size_bytes)}".strip(), p.sample, p.time)
        for p in ends
    ]


def contrasts(pairs: Sequence[tuple[Measure, Measure]], seed: int = 0) -> list[Contrast]:
    """Every pair compared, corrected for as many tests as are made."""
    tested = [_tested(first, second, seed) for first, second in pairs]
    adjusted = holm([one.p_value if one else None for one in tested])
    tests = sum(p is not None for p in adjusted)
    return [
        _contrast(first, second, one, p, tests)
        for (first, second), one, p in zip(pairs, tested, adjusted, strict=True)
    ]


def _tested(first: Measure, second: Measure, seed: int) -> Comparison | None:
    """No test without launches, and none of simulated times: those are deterministic."""
    if not first.sample or not second.sample or first.case.simulated or second.case.simulated:
        return None
    return compare(first.sample, second.sample, seed=seed)


def _contrast(
    first: Measure,
    second: Measure,
    comparison: Comparison | None,
    adjusted: float | None,
    tests: int,
) -> Contrast:
    if comparison is not None and adjusted is not None:
        verdict = _verdict(comparison, adjusted, tests)
        return Contrast(first, second, comparison.ratio, comparison, adjusted, verdict)
    if first.time is None or second.time is None:
        return Contrast(first, second, None, None, None, "not measured")
    ratio = first.time.value / second.time.value
    estimate = Estimate(ratio, None, None, second.time.n, "simulated")
    return Contrast(first, second, estimate, None, None, _sign(ratio))


def _verdict(comparison: Comparison, adjusted: float, tests: int) -> Verdict:
    """Too few launches: even the smallest p that they could give would not survive correction."""
    if adjusted <= ALPHA:
        return _sign(comparison.ratio.value)
    if comparison.attainable * tests > ALPHA:
        return "too few launches to tell"
    return "no difference shown"


def _sign(ratio: float) -> Verdict:
    if ratio == 1:
        return "equal"
    return "faster" if ratio > 1 else "slower"
