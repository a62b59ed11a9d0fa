"""Laws of time over processes, fitted to every mesh that was run on several numbers of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.scaling import Ladder, scalings
from haloscope.models import scaling_law
from haloscope.models.intervals import Intervals
from haloscope.models.scaling_law import ScalingLaw

RESAMPLES = 500
"""RESAMPLES is how often launches are drawn again for a band: its ends have two digits."""


@dataclass(frozen=True, eq=False)
class Law:
    """One mesh's times over p, and the law, or why there is none.

    label: what sets it apart from others. p: what is counted, "processes", "threads" or "cores".
    """

    label: str
    p: str
    cases: tuple[MeasuredCase, ...]
    law: ScalingLaw | None
    reason: str = ""


def laws(cases: Sequence[MeasuredCase], seed: int = 0) -> list[Law]:
    """A law for each ladder of each scaling; those of one point are left out."""
    found = []
    for scaling in scalings(cases):
        for ladder in scaling.ladders:
            steps = [case for case in _steps(ladder, scaling.is_grid) if case.times_s]
            if len(steps) > 1:
                label = f"N = {ladder.n}"
                if scaling.is_grid and ladder.ppn:
                    label += f", {ladder.ppn} per node"
                named = ", ".join(text for text in (scaling.label, label) if text)
                found.append(_law(named, scaling.p, tuple(steps), seed))
    return found


def _steps(ladder: Ladder, is_grid: bool) -> list[MeasuredCase]:
    """By p; of several processes per node those that have so many: nodes alone are more."""
    return list((ladder.own if is_grid else ladder.steps).values())


@lru_cache(maxsize=256)
def _law(label: str, p: str, cases: tuple[MeasuredCase, ...], seed: int) -> Law:
    how = Intervals("none" if cases[0].simulated else "bootstrap", resamples=RESAMPLES, seed=seed)
    try:
        law = scaling_law.fit([case.cores for case in cases], [case.times_s for case in cases], how)
    except ValueError as error:
        return Law(label, p, cases, None, str(error))
    return Law(label, p, cases, law)
