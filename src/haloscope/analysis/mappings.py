"""Cases that share tasks out over nodes, side by side: patterns, and which ranks share a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.study.case import PATTERNS
from haloscope.study.settings import SIZES

AXES = ("nodes", "ppn", "pattern", "mapping", "mapping_seed", "n", "L", "size", SIZES)
"""What may differ within one comparison: where the tasks are, and sizes that grow with them."""


@dataclass(frozen=True)
class Spread:
    """Tasks in one mapping, its name with a random one's seed: a case for each pattern.

    On one node all mappings are the same: that case belongs to each of them.
    """

    tasks: int
    name: str
    cases: Mapping[str, MeasuredCase]

    @property
    def most_over_fewest(self) -> float | None:
        """Time on the most nodes over the concentrated one's; None without both."""
        times = [one.time for pattern in PATTERNS if (one := self.cases.get(pattern))]
        if PATTERNS[0] not in self.cases or len(times) < 2 or not times[0] or not times[-1]:
            return None
        return times[-1].value / times[0].value


def spreads(cases: Sequence[MeasuredCase]) -> list[tuple[Facet, list[Spread]]]:
    """Each comparison of a kernel's cases that have a pattern, by tasks and mapping."""
    patterned = [case for case in cases if case.settings.get("pattern")]
    by_kernel = (
        [case for case in patterned if case.kernel == kernel]
        for kernel in dict.fromkeys(case.kernel for case in patterned)
    )
    return [
        (part, _of(part.cases)) for own in by_kernel for part in facets(own, (*AXES, *_grid(own)))
    ]


def named(part: Facet) -> str:
    """A comparison's kernel, which of its operations, and what sets it apart."""
    kernel, operation = part.cases[0].kernel, part.settings.get("operation")
    return ", ".join(filter(None, (f"{kernel} {operation or ''}".strip(), part.label)))


def _grid(cases: Sequence[MeasuredCase]) -> tuple[str, ...]:
    """The grid of ranks, where it follows from their number: it is no setting of its own then."""
    grids = {(case.ranks, case.settings.get("topology")) for case in cases}
    return ("topology",) if len(grids) == len({ranks for ranks, _ in grids}) else ()


def _of(cases: Sequence[MeasuredCase]) -> list[Spread]:
    found = []
    for tasks in sorted({case.ranks for case in cases}):
        own = [case for case in cases if case.ranks == tasks]
        one_node = {pattern_of(case): case for case in own if case.settings["nodes"] == 1}
        for name in dict.fromkeys(map(ranks_of, own)):
            those = {pattern_of(case): case for case in own if ranks_of(case) == name}
            found.append(Spread(tasks, name, {**one_node, **those}))
    return found


def pattern_of(case: MeasuredCase) -> str:
    """How its tasks lie on the nodes."""
    return str(case.settings["pattern"])


def ranks_of(case: MeasuredCase) -> str:
    """Which ranks share a node: its mapping, and the seed of a random one."""
    seed = case.settings.get("mapping_seed")
    name = str(case.settings["mapping"]).replace("_", " ")
    return name if seed is None else f"{name} {seed}"
