# SPDX-License-Identifier: BSD-3-Clause
"""Speedup and efficiency of cases, and scaling laws fitted to them.

S_p = T_b / T_p and E_p = S_p b / p from the medians of launches. p counts cores in use (processes
times threads), and b, the base, is the smallest available p, usually 1. Laws over meshes are also
fitted, to all cases with the same number of processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from haloscope.analysis import remembered
from haloscope.analysis.cases import MeasuredCase, values
from haloscope.analysis.comparison import Contrast, band_of, contrasts, step
from haloscope.analysis.facets import Facet, facets, facets_of_kernels
from haloscope.layout import PROCESSES
from haloscope.models import scaling_law
from haloscope.models.intervals import Intervals
from haloscope.models.scaling_law import ScalingLaw
from haloscope.quantities import count, seconds
from haloscope.stats.allocations import compare_over
from haloscope.stats.estimates import Estimate, ratio_of_medians
from haloscope.study.settings import Settings
from haloscope.topics.contrast import pooled


@dataclass(frozen=True)
class Ladder:
    """The cases of one mesh by p.

    ppn: processes per node; with fewer processes, all are on one node. None without a choice. With
    one process, a case has the launches of all that run identical code.
    """

    n: int
    ppn: int | None
    steps: Mapping[int, MeasuredCase]

    @property
    def own(self) -> Mapping[int, MeasuredCase]:
        """Return by p the cases with this number of processes per node."""
        return {p: case for p, case in self.steps.items() if case.layout.ppn == self.ppn}

    @property
    def base(self) -> MeasuredCase | None:
        """The case that speedup refers to: the smallest p with a good launch."""
        return next((case for case in self.steps.values() if case.launches), None)

    def speedup(self, case: MeasuredCase, seed: int) -> Estimate | None:
        """Return the base's time over a case's."""
        return times_as_fast(self.base, case, seed) if self.base else None

    def against_base(self, case: MeasuredCase, seed: int) -> Contrast | None:
        """Compare a case with the base by a test; None without a base."""
        if self.base is None or self.base.id == case.id:
            return None
        return contrasts([(step(self.base), step(case))], seed)[0]

    def efficiency(self, case: MeasuredCase, seed: int) -> Estimate | None:
        """Return the speedup divided by the ratio of cores."""
        speedup = self.speedup(case, seed)
        return speedup.times(self.base.cores / case.cores) if speedup and self.base else None

    def reference(self, label: str = "") -> str:
        """Return the reference of speedups with its time: "4.10 s with 1 process (n = 1024)"."""
        where = ", ".join(filter(None, (label, f"n = {self.n}")))
        if self.base is None or self.base.time is None:
            return f"nothing ({where})"
        return f"{seconds(self.base.time.value)} with {self.base.processes} ({where})"


@dataclass(frozen=True)
class Scaling:
    """Ladders that differ only in the mesh.

    They also differ in processes per node if there are several numbers of these on several nodes.
    p: what is counted: "processes", "threads" of one process, or "cores" if processes have threads.
    """

    label: str
    p: str
    ladders: tuple[Ladder, ...]

    @property
    def is_grid(self) -> bool:
        """Whether it varies nodes and processes per node."""
        return len({ladder.ppn for ladder in self.ladders}) > 1


def scalings(cases: Sequence[MeasuredCase]) -> list[Scaling]:
    """Return everything that was run on several p: by processes, then by threads of one process.

    For kernels with one mesh per case; those that sweep over several in a step have no time of one.
    """
    sized = pooled([case for case in cases if isinstance(case.settings.get("n"), int)])
    alone = [case for case in sized if case.ranks == 1]
    found = [
        *(_by_processes(part) for part in facets_of_kernels(sized, ("n", *PROCESSES))),
        *(_by_threads(part) for part in facets_of_kernels(alone, ("n", "threads"))),
    ]
    return [one for one in found if any(len(ladder.steps) > 1 for ladder in one.ladders)]


def _by_processes(part: Facet) -> Scaling:
    several = [case for case in part.cases if case.layout.nodes > 1]
    p = "processes"
    if any(case.cores != case.ranks for case in part.cases):
        p = next((case.counted for case in part.cases if case.shares_cores), "cores")
    each = values(several, "ppn") or (None,)
    arrangement = f"{count(each[0], 'process', 'processes')} per node" if each[0] else ""
    label = arrangement if len(each) == 1 else ""
    label = ", ".join(text for text in (part.label, label) if text)
    return Scaling(label, p, _ladders(part, each))


def _by_threads(part: Facet) -> Scaling:
    label = ", ".join(text for text in (part.label, "threads of one process") if text)
    return Scaling(label, "threads", _ladders(part, (None,)))


def _ladders(part: Facet, each: Sequence[int | None]) -> tuple[Ladder, ...]:
    ordered = sorted(part.cases, key=lambda case: case.cores)
    found = []
    for n, ppn in product(values(part.cases, "n"), each):
        own = [one for one in ordered if one.number("n") == n and (ppn is None or _is_of(one, ppn))]
        found.append(Ladder(n, ppn, {case.cores: case for case in own}))
    return tuple(found)


def _is_of(case: MeasuredCase, ppn: int) -> bool:
    """Return whether a case has this number of processes per node, or fewer on one node."""
    there = case.layout.ppn
    return there == ppn or (there < ppn and case.layout.nodes == 1)


def cores_beside(case: MeasuredCase, other: MeasuredCase) -> Settings:
    """Return the cores of a case, and its nodes if another case has a different number."""
    nodes = case.settings.get("nodes")
    apart = nodes != other.settings.get("nodes")
    return {**({"nodes": nodes} if apart else {}), case.counted: case.cores}


def times_as_fast(slow: MeasuredCase, fast: MeasuredCase, seed: int) -> Estimate | None:
    """Return the speedup of one case over another, with a bootstrap interval.

    None without good launches. No interval with too few launches, or with identical simulated ones.
    """
    if not slow.times_s or not fast.times_s:
        return None
    if slow is fast:
        return Estimate(1.0, None, None, len(fast.times_s), "base")
    found = _times_as_fast(slow, fast, seed)
    return found and replace(found, band=band_of(slow, fast))


def _times_as_fast(slow: MeasuredCase, fast: MeasuredCase, seed: int) -> Estimate | None:
    one, other = (case.by_allocation(case.times_s) for case in (slow, fast))
    if one is not None and other is not None and min(len(one), len(other)) > 1:
        return compare_over(one, other).ratio
    ratio = ratio_of_medians(slow.times_s, fast.times_s, seed=seed)
    alike = slow.alike or fast.alike
    return Estimate(ratio.value, None, None, ratio.n, "simulated") if alike else ratio


RESAMPLES = 500
"""RESAMPLES is the number of resamples for a band, whose ends have two digits."""


@dataclass(frozen=True, eq=False)
class Law:
    """One mesh's times over p with the law, or why there is none; or those of meshes over n.

    label: what distinguishes it from others. p: what is counted: "processes", "threads", or
    "cores"; "n" if meshes differ. ppn: processes per node, if there are otherwise equal laws for
    several numbers.
    """

    label: str
    p: str
    cases: tuple[MeasuredCase, ...]
    law: ScalingLaw | None
    reason: str = ""
    ppn: int | None = None

    @property
    def mesh(self) -> str:
        """Its label without processes per node."""
        return self.label.removesuffix(f", {self.per_node}")

    @property
    def per_node(self) -> str:
        """The processes per node as "4 per node", if there are others; otherwise ""."""
        return f"{self.ppn} per node" if self.ppn else ""

    @property
    def over_sizes(self) -> bool:
        """Whether meshes differ instead of processes."""
        return self.p == SIZES

    @property
    def x(self) -> list[int]:
        """Return the counted number of each case."""
        return [case.number("n") if self.over_sizes else case.cores for case in self.cases]


def laws(cases: Sequence[MeasuredCase], seed: int = 0) -> list[Law]:
    """Return a law for each ladder of each scaling, then one over meshes per number of
    processes.
    """
    found = []
    for scaling in scalings(cases):
        for ladder in scaling.ladders:
            # with several processes per node only one number of them, so that nodes increase
            every = ladder.own if scaling.is_grid else ladder.steps
            steps = [case for case in every.values() if case.times_s]
            if len(steps) > 1:
                ppn = ladder.ppn if scaling.is_grid else None
                per_node = f"{ppn} per node" if ppn else ""
                named = ", ".join(filter(None, (scaling.label, f"n = {ladder.n}", per_node)))
                law = _law(named, scaling.p, tuple(steps), seed)
                found.append(replace(law, ppn=ppn))
    sized = [case for case in cases if isinstance(case.settings.get("n"), int) and case.times_s]
    for part in facets(sized, ("n",)):
        own = tuple(sorted(part.cases, key=lambda case: case.number("n")))
        if len({case.number("n") for case in own}) >= scaling_law.FEWEST:
            found.append(_law(part.label or own[0].processes, SIZES, own, seed))
    return found


SIZES = "n"
"""SIZES is the count of a law over meshes: the edge length."""


@remembered(256)
def _law(label: str, p: str, cases: tuple[MeasuredCase, ...], seed: int) -> Law:
    how = Intervals("none" if cases[0].simulated else "bootstrap", resamples=RESAMPLES, seed=seed)
    none = Law(label, p, cases, None)
    terms = scaling_law.TERMS_OF_SIZE if none.over_sizes else scaling_law.TERMS
    try:
        law = scaling_law.fit(none.x, [case.times_s for case in cases], how, terms)
    except ValueError as error:
        return replace(none, reason=str(error))
    return replace(none, law=law)
