# SPDX-License-Identifier: BSD-3-Clause
"""Texts shared by tables, figures, and reports: ratios, tests, outcomes, clocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Contrast
from haloscope.analysis.context import Context
from haloscope.quantities import listed, number, percent

RANGE = "–"
"""RANGE separates the ends of a range implied by published digits."""


def ratio_between(value: float, low: float, high: float, digits: int = 2) -> str:
    """Format a ratio; as "from–to" if rounding leaves it open by a tenth."""
    if high - low > 0.1 * value:
        return f"{number(low, 2)}{RANGE}{number(high, 2)}"
    return number(value, digits)


def tests_of(contrasts: Sequence[Contrast]) -> str:
    """Return the tests that were made: over launches, or over their allocations."""
    made = [contrast.comparison.test for contrast in contrasts if contrast.comparison]
    return listed([*dict.fromkeys(made)] or ["two-sided Mann-Whitney over launches"])


def shares_between(shares: Sequence[float]) -> str:
    """Format shares as a range: "3.1 to 22 %", "up to 22 %" from nearly none."""
    low, high = percent(min(shares)), percent(max(shares))
    if low in ("0 %", "0.0 %"):
        return f"up to {high}"
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


BECAME = {
    "wrong": "gave a wrong answer",
    "failed": "failed",
    "timeout": "ran out of time",
    "misplaced": "ran on other cores or ranks than requested",
    "absent": "cannot run here",
}


def clock(cases: Sequence[MeasuredCase]) -> str:
    """Return "simulated", or "measured" if any of the cases was."""
    return "simulated" if all(case.simulated for case in cases) else "measured"


WhyNone = Callable[[Sequence[MeasuredCase], Context], str | None]


def reason(why: WhyNone | None, cases: Sequence[MeasuredCase], context: Context) -> str:
    """Return why there is nothing of a kind: the topic's reason, or that no case suits it."""
    return (why(cases, context) if why else None) or none_suits(cases)


def none_suits(cases: Sequence[MeasuredCase]) -> str:
    """Return that no case suits; cases without a good launch are named, because they might."""
    lacking = sum(not case.launches for case in cases)
    if not lacking:
        return "no matching case"
    if lacking == len(cases):
        every = "the case has" if lacking == 1 else f"all {lacking} cases have"
        return f"{every} no successful launch"
    have = "has" if lacking == 1 else "have"
    return f"no matching case; {lacking} of {len(cases)} cases {have} no successful launch"
