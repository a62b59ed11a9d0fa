# SPDX-License-Identifier: BSD-3-Clause
"""What tables and figures of poisson_cg share: iterations per second, and equal cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from haloscope.analysis.cases import MeasuredCase, values
from haloscope.analysis.comparison import Measure, Race, races
from haloscope.analysis.facets import Facet, facets
from haloscope.grouped import grouped
from haloscope.layout import CORES, PROCESSES
from haloscope.stats.estimates import Estimate

AXES = (*PROCESSES, "variant", "s", "reorthogonalise", "iterations")
"""Settings in which the cases of one figure differ: two are those of s-step, the last is the
counted one.
"""
FEWEST = 2


def converged(case: MeasuredCase) -> bool:
    """Return whether a solve ran until convergence, not for a fixed number of iterations."""
    return not case.settings.get("iterations")


def iteration(case: MeasuredCase) -> Measure:
    """Return the time per iteration of a solve."""
    iterations = float(case.result("iterations"))
    time = case.time.times(1 / iterations) if case.time else None
    return Measure(case, "iteration", tuple(t / iterations for t in case.times_s), time)


@dataclass(frozen=True, eq=False)
class Paces:
    """Iterations per second by ranks and variant, all else equal."""

    part: Facet
    by_ranks: dict[int, dict[str, tuple[MeasuredCase, Estimate]]]

    @property
    def variants(self) -> list[str]:
        """Return the measured variants, plainest first."""
        order = ("textbook", "fused", "pipelined", "sstep")
        found = {name for row in self.by_ranks.values() for name in row}
        return [name for name in order if name in found]

    def races(self, seed: int) -> list[Race[str]]:
        """Compare the variants' iterations for each number of ranks, as one family."""
        fields = {
            float(ranks): {name: iteration(case) for name, (case, _) in row.items()}
            for ranks, row in self.by_ranks.items()
        }
        return races(fields, seed)


def paces(cases: Sequence[MeasuredCase]) -> list[Paces]:
    """Return each combination of the other settings for which variants can be compared."""
    own = [case for case in cases if case.kernel == "poisson_cg" and case.launches]
    found = []
    for part in facets(own, AXES):
        by_ranks: dict[int, dict[str, tuple[MeasuredCase, Estimate]]] = {}
        for case in sorted(part.cases, key=lambda case: case.ranks):
            assert case.time is not None
            rate = case.time.rate(float(case.result("iterations")))
            by_ranks.setdefault(case.ranks, {})[str(case.settings["variant"])] = (case, rate)
        one = Paces(part, by_ranks)
        if len(one.variants) > 1:
            found.append(one)
    return found


def by_ranks(cases: Sequence[MeasuredCase], seed: int) -> list[tuple[Paces, list[Race[str]]]]:
    """Compare the variants' iterations for each mesh and number of ranks, as one family.

    Only meshes with a single layout per number of ranks, so that nothing else differs.
    """
    ranked = [(one, one.races(seed)) for one in filter(_of_one_layout, paces(cases))]
    return [(one, run) for one, run in ranked if len(run) >= FEWEST]


def _of_one_layout(found: Paces) -> bool:
    layouts = {(case.ranks, case.layout.nodes) for case in found.part.cases}
    return len(layouts) == len(found.by_ranks)


@dataclass(frozen=True, eq=False)
class Division:
    """Cases of one mesh that divide the cores of a node among processes in several ways."""

    part: Facet
    n: int
    cores: int
    cases: list[MeasuredCase]

    @property
    def title(self) -> str:
        """Return the title of its table and figure."""
        counted = self.cases[0].counted
        return f"Wall time, {self.cores} {counted} per node, n × n = {self.n} × {self.n}"


def divisions(cases: Sequence[MeasuredCase]) -> Iterator[Division]:
    """Yield the cases of each mesh and number of cores per node, with several ppn."""
    solves = [case for case in cases if case.kernel == "poisson_cg"]
    for part in facets(solves, ("n", *CORES)):
        places = grouped(part.cases, lambda case: (case.number("n"), case.layout.cores_of_a_node))
        for (n, cores), own in sorted(places.items()):
            if len(values(own, "ppn")) > 1:
                yield Division(part, n, cores, own)
