# SPDX-License-Identifier: BSD-3-Clause
"""What external programs print besides times, over the launches of a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Literal

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import ALPHA, UNDECIDED, one_allocation_each
from haloscope.quantities import BYTES, BYTES_PER_SECOND, FLOPS, PER_SECOND, SECONDS, Scale
from haloscope.stats.allocations import compare_over
from haloscope.stats.two_samples import Comparison, compare, holm

SCALES: Mapping[str, Scale] = {
    **{"s": SECONDS, "B": BYTES, "B/s": BYTES_PER_SECOND, "FLOP/s": FLOPS, "1/s": PER_SECOND}
}
"""SCALES are the units whose numbers are shown in the unit of a size that suits them."""


ResultVerdict = Literal[
    "higher",
    "lower",
    "the same",
    "no difference shown",
    "too few launches",
    "undecided: one allocation each",
]


@dataclass(frozen=True)
class ResultContrast:
    """A result of a case in a second folder against the first.

    adjusted: the p-value after Holm's correction; None where both have one and the same value, and
    where each side has one allocation of a batch system.
    """

    name: str
    first: MeasuredCase
    second: MeasuredCase
    adjusted: float | None
    verdict: ResultVerdict


def results_compared(
    pairs: Sequence[tuple[MeasuredCase, MeasuredCase]], seed: int = 0
) -> list[ResultContrast]:
    """Every result that is a number in both cases of a pair, corrected for as many as there are."""
    both = [
        (name, one, other, number_of(one, name), number_of(other, name))
        for one, other in pairs
        if one.external
        for name in names([one])
    ]
    both = [each for each in both if each[3] and each[4]]
    tests = [
        None
        if len({*mine, *theirs}) == 1 or one_allocation_each(one, other)
        else _tested(one, other, mine, theirs, seed)
        for _, one, other, mine, theirs in both
    ]
    adjusted = holm([test.p_value if test else None for test in tests])
    return [
        ResultContrast(
            name,
            one,
            other,
            p,
            UNDECIDED
            if len({*mine, *theirs}) > 1 and one_allocation_each(one, other)
            else _verdict(test, p, mine, theirs, len(both)),
        )
        for (name, one, other, mine, theirs), test, p in zip(both, tests, adjusted, strict=True)
    ]


def _tested(
    one: MeasuredCase, other: MeasuredCase, mine: list[float], theirs: list[float], seed: int
) -> Comparison:
    """Over allocations where a batch system gave them, else over launches."""
    first, second = one.by_allocation(mine), other.by_allocation(theirs)
    if first is None or second is None:
        return compare(mine, theirs, seed=seed)
    return compare_over(first, second, seed=seed)


def _verdict(
    test: Comparison | None,
    adjusted: float | None,
    first: Sequence[float],
    second: Sequence[float],
    family: int,
) -> ResultVerdict:
    if test is None or adjusted is None:
        return "the same"
    if adjusted <= ALPHA:
        return "higher" if mean(second) > mean(first) else "lower"
    return "too few launches" if test.attainable * family > ALPHA else "no difference shown"


def names(cases: Sequence[MeasuredCase]) -> list[str]:
    """The names of all results, in the order in which their program's file has them."""
    return list(
        dict.fromkeys(name for case in cases for record in case.launches for name in record.result)
    )


def number_of(case: MeasuredCase, name: str) -> list[float]:
    """A result that is one number, of each good launch that printed it."""
    found = (record.result.get(name) for record in case.launches)
    return [float(value) for value in found if isinstance(value, int | float)]


def texts_of(case: MeasuredCase, name: str) -> list[str]:
    """A result that is no number, or several, in words: each that launches printed, once."""
    found = (record.result.get(name) for record in case.launches)
    return list(dict.fromkeys(_in_words(value) for value in found if value not in (None, [])))


def _in_words(value: object) -> str:
    return " ".join(f"{one:g}" for one in value) if isinstance(value, list) else str(value)


def scale(case: MeasuredCase, name: str) -> Scale:
    """The unit that a result is shown in: as its program's file says."""
    unit = case.unit(name)
    return SCALES.get(unit, ((1.0, unit),))
