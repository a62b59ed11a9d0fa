# SPDX-License-Identifier: BSD-3-Clause
"""Strong scaling: the same mesh on more and more processes, or on more threads of one process.

S_p = T_b / T_p and E_p = S_p b / p from the medians of launches; p counts cores in use (processes
times threads), and b, the base, is the smallest p there is: 1 wherever it was run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from haloscope.analysis.cases import Facet, MeasuredCase, facets_of_kernels, values
from haloscope.analysis.comparison import Contrast, contrasts, step
from haloscope.quantities import count, seconds
from haloscope.stats.allocations import compare_over
from haloscope.stats.estimates import Estimate, ratio_of_medians


@dataclass(frozen=True)
class Ladder:
    """The cases of one mesh by p.

    ppn: processes per node; of fewer processes, all are on one node. None where there is no choice.
    """

    n: int
    ppn: int | None
    steps: Mapping[int, MeasuredCase]

    @property
    def own(self) -> Mapping[int, MeasuredCase]:
        """By p, the cases that have so many processes per node."""
        return {p: case for p, case in self.steps.items() if case.number("ppn") == self.ppn}

    @property
    def base(self) -> MeasuredCase | None:
        """The case that speedup refers to: the smallest p with a good launch."""
        return next((case for case in self.steps.values() if case.launches), None)

    def speedup(self, case: MeasuredCase, seed: int) -> Estimate | None:
        """The base's time over a case's."""
        return times_as_fast(self.base, case, seed) if self.base else None

    def against_base(self, case: MeasuredCase, seed: int) -> Contrast | None:
        """A case against the base, by a test; None without a base."""
        if self.base is None or self.base is case:
            return None
        return contrasts([(step(self.base), step(case))], seed)[0]

    def efficiency(self, case: MeasuredCase, seed: int) -> Estimate | None:
        """Speedup over how many times as many cores."""
        speedup = self.speedup(case, seed)
        return speedup.times(self.base.cores / case.cores) if speedup and self.base else None

    @property
    def reference(self) -> str:
        """What its speedup refers to, with the absolute time: "N = 1024: 1 process, 4.10 s"."""
        if self.base is None or self.base.time is None:
            return f"N = {self.n}: nothing"
        return f"N = {self.n}: {self.base.processes}, {seconds(self.base.time.value)}"


@dataclass(frozen=True)
class Scaling:
    """Ladders that differ in nothing but the mesh.

    They differ in processes per node too where several nodes have several numbers of them.

    p: what is counted: "processes", "threads" of one, or "cores" where processes have threads.
    """

    label: str
    p: str
    ladders: tuple[Ladder, ...]

    @property
    def is_grid(self) -> bool:
        """Whether it is over nodes and processes per node."""
        return len({ladder.ppn for ladder in self.ladders}) > 1


def scalings(cases: Sequence[MeasuredCase]) -> list[Scaling]:
    """Everything that was run on several p: by processes, then by threads of one process.

    Of kernels with one mesh a case; those that sweep over several in a step have no time of one.
    """
    sized = [case for case in cases if isinstance(case.settings.get("n"), int)]
    alone = [case for case in sized if case.ranks == 1]
    found = [
        *(_by_processes(part) for part in facets_of_kernels(sized, ("n", "nodes", "ppn"))),
        *(_by_threads(part) for part in facets_of_kernels(alone, ("n", "threads"))),
    ]
    return [one for one in found if any(len(ladder.steps) > 1 for ladder in one.ladders)]


def _by_processes(part: Facet) -> Scaling:
    """By processes per node where there are several nodes."""
    several = [case for case in part.cases if case.number("nodes") > 1]
    p = "processes" if all(case.cores == case.ranks for case in part.cases) else "cores"
    each = values(several, "ppn") or (None,)
    arrangement = f"{count(each[0], 'process', 'processes')} per node" if each[0] else ""
    label = arrangement if len(each) == 1 else ""
    label = ", ".join(text for text in (part.label, label) if text)
    return Scaling(label, p, _ladders(part, each))


def _by_threads(part: Facet) -> Scaling:
    label = ", ".join(text for text in (part.label, "threads of one process") if text)
    return Scaling(label, "threads", _ladders(part, (None,)))


def _ladders(part: Facet, each: Sequence[int | None]) -> tuple[Ladder, ...]:
    return tuple(_ladder(part.cases, n, ppn) for n in values(part.cases, "n") for ppn in each)


def _ladder(cases: Sequence[MeasuredCase], n: int, ppn: int | None) -> Ladder:
    """One mesh's cases by p."""
    own = [case for case in cases if case.number("n") == n and (ppn is None or _is_of(case, ppn))]
    return Ladder(n, ppn, {case.cores: case for case in sorted(own, key=lambda case: case.cores)})


def _is_of(case: MeasuredCase, ppn: int) -> bool:
    """Whether a case has so many processes per node, or fewer on one node."""
    there = case.number("ppn")
    return there == ppn or (there < ppn and case.number("nodes") == 1)


def times_as_fast(slow: MeasuredCase, fast: MeasuredCase, seed: int) -> Estimate | None:
    """How many times as fast one case is as another, with a bootstrap interval.

    None without good launches; no interval where launches are too few, or simulated and all alike.
    """
    if not slow.times_s or not fast.times_s:
        return None
    if slow is fast:
        return Estimate(1.0, None, None, len(fast.times_s), "base")
    one, other = (case.by_allocation(case.times_s) for case in (slow, fast))
    if one is not None and other is not None and min(len(one), len(other)) > 1:
        return compare_over(one, other).ratio
    ratio = ratio_of_medians(slow.times_s, fast.times_s, seed=seed)
    alike = slow.alike or fast.alike
    return Estimate(ratio.value, None, None, ratio.n, "simulated") if alike else ratio
