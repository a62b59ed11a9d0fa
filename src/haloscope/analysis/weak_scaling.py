# SPDX-License-Identifier: BSD-3-Clause
"""Weak scaling: more and more tasks with as much work each, against the fewest on one node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from haloscope.analysis.cases import Facet, MeasuredCase
from haloscope.analysis.mappings import PATTERNS, Spread, spreads
from haloscope.analysis.scaling import times_as_fast
from haloscope.stats.estimates import Estimate

MOST_WORK = 1.5
"""MOST_WORK is how many times as many operations a task may have as another one that has as much
work: transforms have N log N, which is 1.3 times as many from 8 to 2048 tasks in the task-mapping
paper."""


@dataclass(frozen=True)
class WeakScaling:
    """Tasks in one mapping, from few to many. reference: the fewest of them, on one node."""

    reference: MeasuredCase
    spreads: Sequence[Spread]

    def over_reference(self, case: MeasuredCase, seed: int) -> Estimate | None:
        """A case's time over that of the reference; None without good launches."""
        return times_as_fast(case, self.reference, seed)

    def work_over_reference(self, case: MeasuredCase) -> float:
        """Operations of a task over those of a task of the reference."""
        return _work_of_a_task(case) / _work_of_a_task(self.reference)


def weak_scalings(cases: Sequence[MeasuredCase]) -> list[tuple[Facet, WeakScaling]]:
    """The weak scaling of each comparison of mappings that has one, ranks placed block by block.

    There is one where several numbers of tasks have as much work each, and the fewest of them were
    timed on one node: inside it, no network takes part. Source: the task-mapping paper, table 5.
    """
    found = []
    for part, every in spreads(cases):
        own = [one for one in every if one.name == every[0].name]
        reference = own[0].cases.get(1)
        if len(own) < 2 or reference is None or not reference.time:
            continue
        scaling = WeakScaling(reference, own)
        if all(_as_much(scaling, case) for one in own for case in one.cases.values() if case.time):
            found.append((part, scaling))
    return found


def last(scaling: WeakScaling) -> tuple[Spread, dict[str, MeasuredCase]]:
    """The most tasks that have a time, and their cases by pattern, as PATTERNS has them."""
    timed = [one for one in scaling.spreads if any(case.time for case in one.patterns.values())]
    most = (timed or scaling.spreads)[-1]
    return most, {name: most.patterns[name] for name in PATTERNS if name in most.patterns}


def _as_much(scaling: WeakScaling, case: MeasuredCase) -> bool:
    return 1 / MOST_WORK <= scaling.work_over_reference(case) <= MOST_WORK


def _work_of_a_task(case: MeasuredCase) -> float:
    """Operations of a step; where a kernel counts none, as many for each task."""
    told = case.launches[0].work or {}
    return float(told.get("flops") or case.ranks) / case.ranks
