# SPDX-License-Identifier: BSD-3-Clause
"""Laws of time over processes, fitted to every mesh that was run on several numbers of them.

And over meshes, to all that was run on as many processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.scaling import Ladder, scalings
from haloscope.models import scaling_law
from haloscope.models.intervals import Intervals
from haloscope.models.scaling_law import ScalingLaw

RESAMPLES = 500
"""RESAMPLES is how often launches are drawn again for a band: its ends have two digits."""


@dataclass(frozen=True, eq=False)
class Law:
    """One mesh's times over p, and the law, or why there is none; or those of meshes over n.

    label: what sets it apart from others.
    p: what is counted, "processes", "threads" or "cores"; "N" where meshes differ.
    ppn: processes per node, where there are laws of several numbers of them, alike but for that.
    """

    label: str
    p: str
    cases: tuple[MeasuredCase, ...]
    law: ScalingLaw | None
    reason: str = ""
    ppn: int | None = None

    @property
    def mesh(self) -> str:
        """Its label, but for processes per node."""
        return self.label.removesuffix(f", {self.per_node}")

    @property
    def per_node(self) -> str:
        """ "4 per node", where there are others."""
        return f"{self.ppn} per node" if self.ppn else ""

    @property
    def over_sizes(self) -> bool:
        """Whether meshes differ, and not processes."""
        return self.p == SIZES

    @property
    def x(self) -> list[int]:
        """What each case has of what is counted."""
        return [case.number("n") if self.over_sizes else case.cores for case in self.cases]


def laws(cases: Sequence[MeasuredCase], seed: int = 0) -> list[Law]:
    """A law for each ladder of each scaling, then one over meshes for each number of processes.

    Those of one point are left out, and those over fewer meshes than a law takes.
    """
    found = []
    for scaling in scalings(cases):
        for ladder in scaling.ladders:
            steps = [case for case in _steps(ladder, scaling.is_grid) if case.times_s]
            if len(steps) > 1:
                ppn = ladder.ppn if scaling.is_grid else None
                per_node = f"{ppn} per node" if ppn else ""
                named = ", ".join(filter(None, (scaling.label, f"N = {ladder.n}", per_node)))
                law = _law(named, scaling.p, tuple(steps), seed)
                found.append(replace(law, ppn=ppn))
    sized = [case for case in cases if isinstance(case.settings.get("n"), int) and case.times_s]
    for part in facets(sized, ("n",)):
        own = tuple(sorted(part.cases, key=lambda case: case.number("n")))
        if len({case.number("n") for case in own}) >= scaling_law.FEWEST:
            found.append(_law(part.label or own[0].processes, SIZES, own, seed))
    return found


SIZES = "N"
"""SIZES is what a law over meshes counts: the edge of each."""


def _steps(ladder: Ladder, is_grid: bool) -> list[MeasuredCase]:
    """By p; of several processes per node those that have so many: nodes alone are more."""
    return list((ladder.own if is_grid else ladder.steps).values())


@lru_cache(maxsize=256)
def _law(label: str, p: str, cases: tuple[MeasuredCase, ...], seed: int) -> Law:
    how = Intervals("none" if cases[0].simulated else "bootstrap", resamples=RESAMPLES, seed=seed)
    none = Law(label, p, cases, None)
    terms = scaling_law.TERMS_OF_SIZE if none.over_sizes else scaling_law.TERMS
    try:
        law = scaling_law.fit(none.x, [case.times_s for case in cases], how, terms)
    except ValueError as error:
        return replace(none, reason=str(error))
    return replace(none, law=law)
