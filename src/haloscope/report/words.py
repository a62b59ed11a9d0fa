"""Ratios of times in words, as findings say them."""

from __future__ import annotations

from haloscope.quantities import number
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
