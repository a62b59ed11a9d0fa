# SPDX-License-Identifier: BSD-3-Clause
"""How far the allocations of a batch system differ, beside the launches in one, in words."""

from __future__ import annotations

from functools import lru_cache
from statistics import median

from haloscope.analysis.cases import MeasuredCase
from haloscope.stats.allocations import components, wanted
from haloscope.stats.stopping_rule import Rule


@lru_cache(maxsize=2)
def scatter(cases: tuple[MeasuredCase, ...]) -> str | None:
    """How far allocations and launches of cases scatter, and which of them more would help.

    Medians over the cases that were measured in two allocations or more; None without one. What
    would help is asked with the precision that a study has if it names none. Kept, as every table
    of a report asks for the same.
    """
    nested = [case.by_allocation(case.times_s) for case in cases if case.allocations]
    several = [one for one in nested if one and len(one) > 1]
    if not several:
        return None
    found = [components(one) for one in several]
    within = [one.within for one in found if one.within is not None]
    told = f"allocations differ by {100 * median(one.between for one in found):.2g} %"
    if within:
        told += f", launches in one by {100 * median(within):.2g} %"
    asked = [wanted(one, Rule().half_width) for one in several]
    told = f"{told[:1].upper()}{told[1:]} (standard deviations; medians over all cases)."
    if "allocation" in asked:
        return f"{told} Another allocation makes these intervals narrower, not another launch."
    return f"{told} More launches make these intervals narrower." if "launch" in asked else told
