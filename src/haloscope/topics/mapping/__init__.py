# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of mappings of tasks to nodes, and weak scaling."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.facets import Facet, facets
from haloscope.analysis.validation.published import Library, source
from haloscope.grouped import grouped
from haloscope.layout import PROCESSES
from haloscope.papers.tables import PublishedValue
from haloscope.quantities import count, size
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import SIZES
from haloscope.topics.scaling import times_as_fast

PATTERNS = ("concentrated", "intermediate", "distributed")
"""The fewest, more, and the most nodes of a study, as named in the task-mapping paper."""

AXES = (*PROCESSES, "tasks", "mapping", "mapping_seed", "n", "L", "size", "copies", SIZES)
"""Settings that may differ within one comparison: places of tasks, and sizes that grow
with them.
"""

PROGRAMS = {
    "lammps": ("lammps_rhodo", "md_pppm", "jacobi3d"),
    "minife": ("fe_heat", "jacobi3d", "poisson_cg"),
    "bigfft": ("fft_pencil",),
}
"""The task-mapping paper's programs, and the kernels that are one or communicate alike."""


@dataclass(frozen=True)
class Effect:
    """A published effect for a program on a cluster: faster on few or on many nodes.

    tasks: their number, or the minimum; None for the maximum that was tried. tasks_text, text: in
    words. ratio: time on the most nodes over that on the fewest, if one number is printed for it,
    or both times are. nodes: the most nodes, if the paper states them.
    """

    program: str
    tasks: int | None
    tasks_text: str
    concentrated: bool
    text: str
    source: str
    ratio: float | None = None
    nodes: int | None = None

    def is_of(self, tasks: int) -> bool:
        """Return whether it was published for this number of tasks."""
        if self.tasks_text.startswith("more than"):
            return self.tasks is not None and tasks >= self.tasks
        return tasks == self.tasks


@dataclass(frozen=True)
class Spread:
    """Tasks with one mapping (including a random one's seed): a case for each number of nodes.

    In ascending order of nodes. On one node all mappings are equal, so that case belongs to each.
    """

    tasks: int
    name: str
    cases: Mapping[int, MeasuredCase]

    def over_fewest(self, nodes: int) -> float | None:
        """Return the time on `nodes` nodes over that on the fewest; None without both."""
        first = next(iter(self.cases.values())).time
        case = self.cases.get(nodes)
        return case.time.value / first.value if case and case.time and first else None

    @property
    def patterns(self) -> dict[str, MeasuredCase]:
        """Return the cases on the fewest, an intermediate, and the most nodes."""
        few, *more = self.cases.values()
        between = more[:-1]
        middle = {PATTERNS[1]: between[len(between) // 2]} if between else {}
        return {PATTERNS[0]: few} | middle | ({PATTERNS[2]: more[-1]} if more else {})


@dataclass(frozen=True)
class Printed:
    """Published times of a program with some number of tasks, by nodes, ascending."""

    program: str
    tasks: int
    times_s: Mapping[int, float]
    source: str

    def over_fewest(self, nodes: int) -> float:
        """Return the time on `nodes` nodes over that on the fewest."""
        return self.times_s[nodes] / next(iter(self.times_s.values()))


def spreads(cases: Sequence[MeasuredCase]) -> list[tuple[Facet, list[Spread]]]:
    """Return each comparison of a kernel's cases with given numbers of tasks, by tasks
    and mapping.
    """
    given = [case for case in cases if case.settings.get("tasks")]
    return [
        (part, _of(part.cases))
        for own in grouped(given, lambda case: case.kernel).values()
        for whole in facets(own, (*AXES, *_grid(own)))
        for part in _of_one_load(whole)
    ]


AS_MUCH = 1.5
"""Largest ratio of data per task: grids do not divide evenly, and halos differ."""


def loads(cases: Sequence[MeasuredCase]) -> dict[MeasuredCase, float | None]:
    """Return the predicted data per task of each case in bytes; similar loads get the smallest.

    None without a prediction.
    """
    known = sorted(((load, i) for i, case in enumerate(cases) if (load := _load(case))))
    found: dict[int, float] = {}
    least = 0.0
    for load, index in known:
        if load > AS_MUCH * least:
            least = load
        found[index] = least
    return {case: found.get(index) for index, case in enumerate(cases)}


def _load(case: MeasuredCase) -> float | None:
    records = (*case.launches, *case.excluded)
    predicted = ((record.memory or {}).get("predicted_bytes") for record in records)
    memory = next(filter(None, predicted), None)
    return None if memory is None else float(memory) / case.ranks


def _of_one_load(part: Facet) -> list[Facet]:
    """Divide parts by the data per task, if the same tasks in the same places have several."""
    places = {(c.ranks, c.layout.nodes, mapping_of(c)) for c in part.cases}
    if len(places) == len(part.cases):
        return [part]
    by_load = grouped(part.cases, loads(part.cases).__getitem__)
    return [
        replace(
            part,
            label=", ".join(filter(None, (part.label, f"{size(load)} per task" if load else ""))),
            cases=tuple(own),
        )
        for load, own in sorted(by_load.items(), key=lambda pair: pair[0] or 0.0)
    ]


def named(part: Facet) -> str:
    """Return a comparison's kernel, its operation, and what distinguishes it."""
    kernel, operation = part.cases[0].kernel, part.settings.get("operation")
    return ", ".join(filter(None, (f"{kernel} {operation or ''}".strip(), part.label)))


def _grid(cases: Sequence[MeasuredCase]) -> tuple[str, ...]:
    """Return the grid of ranks as settings that follow from their number."""
    grids = {(case.ranks, case.settings.get("topology")) for case in cases}
    return ("topology",) if len(grids) == len({ranks for ranks, _ in grids}) else ()


def _of(cases: Sequence[MeasuredCase]) -> list[Spread]:
    found = []
    for tasks in sorted({case.ranks for case in cases}):
        own = [case for case in cases if case.ranks == tasks]
        own.sort(key=lambda case: case.layout.nodes)
        for name in dict.fromkeys(map(mapping_of, own)):
            those = (c for c in own if c.layout.nodes == 1 or mapping_of(c) == name)
            found.append(Spread(tasks, name, {case.layout.nodes: case for case in those}))
    return found


def pattern_of(case: MeasuredCase, among: Sequence[MeasuredCase]) -> str:
    """Return the pattern of a case among cases with the same number of tasks: one of PATTERNS."""
    nodes = [one.layout.nodes for one in among]
    own = case.layout.nodes
    return PATTERNS[0 if own == min(nodes) else 2 if own == max(nodes) else 1]


def mapping_of(case: MeasuredCase) -> str:
    """Return the mapping, with the seed of a random one."""
    seed = case.settings.get("mapping_seed")
    name = str(case.settings["mapping"]).replace("_", " ")
    return name if seed is None else f"{name} {seed}"


def stands_for(kernel: str, program: object) -> bool:
    """Return whether a kernel communicates like a published program."""
    return kernel in PROGRAMS.get(str(program), ())


def printed(library: Library, cluster: str, kernel: str) -> Iterator[Printed]:
    """Yield the published times by nodes on a cluster, of the programs that a kernel represents."""
    for table in library.tables(("mapping",)):
        program = str(table.facts["kernel"])
        if same_name(table.facts.get("cluster"), cluster) and stands_for(kernel, program):
            for tasks in dict.fromkeys(row["ranks"] for row in table.rows):
                own = [row for row in table.rows if row["ranks"] == tasks]
                own.sort(key=lambda row: int(str(row["nodes"])))
                yield Printed(
                    program,
                    int(str(tasks)),
                    {int(str(row["nodes"])): float(str(row["time_s"])) for row in own},
                    source(table),
                )


def effects(library: Library, cluster: str, kernel: str) -> Iterator[Effect]:
    """Yield the published effects on a cluster, of the programs that a kernel represents."""
    for one in printed(library, cluster, kernel):
        yield _timed(one)
    for table in library.tables(("mapping_effect",)):
        for row in table.rows:
            if same_name(row["cluster"], cluster) and stands_for(kernel, row["kernel"]):
                yield _printed_effect(row, source(table), _most_nodes(library, row))


def same_name(one: object, other: object) -> bool:
    """Return whether two names of clusters are equal, ignoring case."""
    return str(one).lower() == str(other).lower()


def _timed(one: Printed) -> Effect:
    (few, first_s), *_, (many, last_s) = one.times_s.items()
    text = f"{first_s:g} s on {count(few, 'node')}, {last_s:g} s on {many}"
    ratio = one.over_fewest(many)
    faster = first_s < last_s
    return Effect(one.program, one.tasks, str(one.tasks), faster, text, one.source, ratio, many)


def _most_nodes(library: Library, row: Mapping[str, PublishedValue]) -> int | None:
    """Return the number of nodes over which the tasks were distributed, from the paper's plan."""
    column = f"nodes_{str(row['cluster']).lower()}"
    for table in library.tables(("mapping_plan",)):
        if table.facts["kernel"] == row["kernel"]:
            key = column if column in table.columns else "nodes"
            own = (one for one in table.rows if str(one["ranks"]) == row["ranks_text"])
            return max((int(str(one[key])) for one in own), default=None)
    return None


def _printed_effect(row: Mapping[str, PublishedValue], origin: str, nodes: int | None) -> Effect:
    tasks_text, faster = str(row["ranks_text"]), str(row["faster"])
    digits = re.search(r"\d+", tasks_text)
    text = f"{faster} faster by {row['difference_text']}"
    tasks = int(digits[0]) + tasks_text.startswith("more than") if digits else None
    one_number = tasks_text.isdigit() and re.fullmatch(r"[\d.]+ %", str(row["difference_text"]))
    percent = float(str(row["difference_percent"]))
    return Effect(
        str(row["kernel"]),
        tasks,
        tasks_text,
        faster == PATTERNS[0],
        text,
        origin,
        most_over_fewest(faster, percent) if one_number else None,
        nodes,
    )


def most_over_fewest(faster: str, percent: float) -> float:
    """Return the time on many nodes over that on few, if one pattern is faster by a percentage.

    It is taken relative to the shorter time: the paper does not state which, and some exceed 100 %.
    """
    longer = 1 + percent / 100
    return longer if faster == PATTERNS[0] else 1 / longer


MOST_WORK = 1.5
"""Largest ratio of work per task: transforms have 1.3 from 8 to 2048 tasks (N log N)."""


@dataclass(frozen=True)
class WeakScaling:
    """Tasks with one mapping, in ascending order. reference: the fewest, on one node."""

    reference: MeasuredCase
    spreads: Sequence[Spread]

    def over_reference(self, case: MeasuredCase, seed: int) -> Estimate | None:
        """Return a case's time over that of the reference; None without good launches."""
        return times_as_fast(case, self.reference, seed)

    def work_over_reference(self, case: MeasuredCase) -> float:
        """Return a task's operations over those of a task of the reference."""
        return _work_of_a_task(case) / _work_of_a_task(self.reference)


def weak_scalings(cases: Sequence[MeasuredCase]) -> list[tuple[Facet, WeakScaling]]:
    """Return the weak scaling of each comparison of mappings that has one, with block mapping.

    There is one if several numbers of tasks have equal work per task, and the fewest were timed on
    one node, without a network. Source: the task-mapping paper, table 5.
    """
    found = []
    for part, every in spreads(cases):
        own = [one for one in every if one.name == every[0].name]
        reference = own[0].cases.get(1)
        if len(own) < 2 or reference is None or not reference.time:
            continue
        scaling = WeakScaling(reference, own)
        timed = (case for one in own for case in one.cases.values() if case.time)
        if all(1 / MOST_WORK <= scaling.work_over_reference(c) <= MOST_WORK for c in timed):
            found.append((part, scaling))
    return found


def last(scaling: WeakScaling) -> tuple[Spread, dict[str, MeasuredCase]]:
    """Return the largest number of tasks with a time, and their cases by pattern."""
    timed = [one for one in scaling.spreads if any(case.time for case in one.patterns.values())]
    most = (timed or scaling.spreads)[-1]
    return most, {name: most.patterns[name] for name in PATTERNS if name in most.patterns}


def _work_of_a_task(case: MeasuredCase) -> float:
    """Return the operations of a step per task; a constant if the kernel counts none."""
    work = case.launches[0].work or {}
    return float(work.get("flops") or case.ranks) / case.ranks
