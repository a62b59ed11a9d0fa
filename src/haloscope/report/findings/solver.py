# SPDX-License-Identifier: BSD-3-Clause
"""How much each variant of the Poisson solver moves of what a triad like it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.memory_use import Triad, Use, memory_triads, uses
from haloscope.quantities import count, percent, rate, size
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import ONCE, few, place

ORDER = 60
MORE = 1.2
"""MORE is how many times as much as in memory a triad moves where caches serve a part that tells,
because triads over larger sets differ by less without caches."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Each variant at its largest working set, on the most cores that stream ran on too."""
    known = [use for use in uses(cases, cases, context.machine) if use.share is not None]
    for variant in dict.fromkeys(str(use.case.settings.get("variant")) for use in known):
        own = [use for use in known if str(use.case.settings.get("variant")) == variant]
        best = max(own, key=lambda u: (u.working_set_bytes, u.case.cores, u.achieved.value))
        where = f"{size(best.working_set_bytes)}{f' in {best.level}' if best.level else ''}"
        there = place(best.case)
        yield Finding(
            f"The {variant} solver{there and f'{there},'} moves {rate(best.achieved.value)}, "
            f"{percent(best.share)} of what stream's triad does "
            f"(N = {best.case.settings.get('n')}, {where}, {count(best.case.cores, 'core')}"
            f"{_launches(best)}{_served(best, memory_triads(cases, context.machine))})."
        )


def _served(use: Use, in_memory: Mapping[int, Triad]) -> str:
    """That caches serve a part of what no level holds, where triads over larger sets show it."""
    largest = in_memory.get(use.case.cores)
    if use.triad is None or largest is None or use.level != largest.level:
        return ""
    if use.triad.moved.value < MORE * largest.moved.value:
        return ""
    near, far = (
        f"{rate(one.moved.value)} over {size(one.working_set_bytes)}"
        for one in (use.triad, largest)
    )
    return (
        "; caches serve a part of it, as the triad, with lines read only to be overwritten, moves "
        f"{near}, {far}"
    )


def _launches(use: Use) -> str:
    """Of how few launches the solve is, and that its triad is of one."""
    assert use.triad is not None
    own, once = few(use.case), few(use.triad.case) == ONCE
    return f"{own}; the triad{ONCE.removeprefix(',')}" if once and own != ONCE else own
