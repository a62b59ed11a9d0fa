"""Ratios of times in words, as findings say them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Contrast, launches_needed
from haloscope.quantities import count, listed, number, percent, probability
from haloscope.stats.estimates import Estimate


def ratio_between(value: float, low: float, high: float, digits: int = 2) -> str:
    """A ratio; "from–to" where the digits of what it is made from leave it open by a tenth."""
    if high - low > 0.1 * value:
        return f"{number(low, 2)}–{number(high, 2)}"
    return number(value, digits)


def pace(verb: str, ratio: Estimate) -> str:
    """ "is 2.0 times as fast as", or for a ratio below one "takes 2.0 times as long as"."""
    if ratio.value < 1:
        return f"takes {number(1 / ratio.value)} times as long as"
    return f"{verb} {number(ratio.value)} times as fast as"


def interval(ratio: Estimate) -> str:
    """A ratio's interval in words, above one as the ratio is said; nothing where it has none."""
    if ratio.value < 1:
        ratio = ratio.rate(1.0)
    if ratio.low is None or ratio.high is None:
        return ""
    return f" (95 % interval {number(ratio.low)} to {number(ratio.high)})"


def tests_of(contrasts: Sequence[Contrast]) -> str:
    """Which tests were made: of launches, or of the allocations that these are nested in."""
    made = [contrast.comparison for contrast in contrasts if contrast.comparison]
    nested = [one.ratio is not None and one.ratio.allocations is not None for one in made]
    named = [] if nested and all(nested) else ["two-sided Mann-Whitney over launches"]
    return listed([*named, *(["Student's over allocations"] if any(nested) else [])])


SPANS = 3
"""SPANS is the largest number of spans that are told one by one."""


def spans(chosen: Sequence[float], among: Sequence[float], show: Callable[[float], str]) -> str:
    """Some of several ordered values: "8 B to 2 KiB and 16 KiB"; neighbours stand as one span.

    Of more than SPANS: "7 of 18 sizes from 8 B to 1 MiB".
    """
    order = sorted(set(among))
    places = sorted({order.index(value) for value in chosen})
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    if len(runs) > SPANS:
        first, last = show(order[runs[0][0]]), show(order[runs[-1][-1]])
        return f"{len(places)} of {len(order)} sizes from {first} to {last}"
    return listed([
        show(order[run[0]])
        if len(run) == 1
        else f"{show(order[run[0]])} to {show(order[run[-1]])}"
        for run in runs
    ])  # fmt: skip


def between(values: Sequence[float], digits: int = 3) -> str:
    """Numbers as their ends: "1.05 to 1.31"; one where both are written alike."""
    low, high = number(min(values), digits), number(max(values), digits)
    return low if low == high else f"{low} to {high}"


def at_most(p: float) -> str:
    """The largest p-value of several: "≤ 0.012", "<0.001"."""
    text = probability(p)
    return text if text.startswith("<") else f"≤ {text}"


def enough_launches(tests: int) -> str:
    """That launches are too few to tell by so many tests, and how many would do."""
    return (
        f"launches are too few to tell: {launches_needed(tests)} of each would do for "
        f"{count(tests, 'comparison')}"
    )


def shares_between(shares: Sequence[float]) -> str:
    """Shares of one as their ends: "3.1 to 22 %", "up to 22 %" from nearly none."""
    low, high = percent(min(shares)), percent(max(shares))
    if low in ("0 %", "0.0 %"):
        return f"up to {high}"
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def place(case: MeasuredCase) -> str:
    """ ", simulated on stampede2": where times are from, unless they were measured."""
    return f", simulated on {case.cluster}" if case.simulated and case.cluster else ""
