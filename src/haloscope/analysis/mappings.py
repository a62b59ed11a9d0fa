"""Cases that share tasks out over nodes, side by side: patterns, and which ranks share a node."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.published import Library, source
from haloscope.quantities import count
from haloscope.study.case import PATTERNS
from haloscope.study.settings import SIZES

if TYPE_CHECKING:
    from haloscope.papers.tables import PublishedValue

AXES = ("nodes", "ppn", "pattern", "mapping", "mapping_seed", "n", "L", "size", SIZES)
"""What may differ within one comparison: where the tasks are, and sizes that grow with them."""

PROGRAMS = {
    "lammps": ("lammps_rhodo", "jacobi3d"),
    "minife": ("fe_heat", "jacobi3d", "poisson_cg"),
    "bigfft": ("fft_pencil",),
}
"""The programs of the task-mapping paper, and the kernels that are one or communicate as it does:
halos of a cube, halos and sums, transposes."""


@dataclass(frozen=True)
class Effect:
    """What was published of a program on a cluster: whether it is faster on few nodes or on many.

    tasks: how many they were, or the fewest; None for the most that were tried. tasks_text, text:
    in words. ratio: the time on the most nodes over that on the fewest, where one number is printed
    for that, or both times are.
    """

    program: str
    tasks: int | None
    tasks_text: str
    concentrated: bool
    text: str
    source: str
    ratio: float | None = None

    def is_of(self, tasks: int) -> bool:
        """Whether it was published of so many tasks."""
        if self.tasks_text.startswith("more than"):
            return self.tasks is not None and tasks >= self.tasks
        return tasks == self.tasks


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


def stands_for(kernel: str, program: object) -> bool:
    """Whether a kernel communicates as a published program does."""
    return kernel in PROGRAMS.get(str(program), ())


def effects(library: Library, cluster: str, kernel: str) -> Iterator[Effect]:
    """What was published of a cluster, of the programs that a kernel stands for."""
    for table in library.tables(("mapping",)):
        if same_name(table.facts.get("cluster"), cluster):
            for tasks in dict.fromkeys(row["ranks"] for row in table.rows):
                own = [row for row in table.rows if row["ranks"] == tasks]
                if stands_for(kernel, table.facts["kernel"]):
                    yield _timed(str(table.facts["kernel"]), own, source(table))
    for table in library.tables(("mapping_effect",)):
        for row in table.rows:
            if same_name(row["cluster"], cluster) and stands_for(kernel, row["kernel"]):
                yield _told(row, source(table))


def same_name(one: object, other: object) -> bool:
    """Whether two names of clusters are one, whatever their capitals."""
    return str(one).lower() == str(other).lower()


def _timed(program: str, rows: Sequence[Mapping[str, PublishedValue]], source_: str) -> Effect:
    """Times on the fewest and on the most nodes, as an effect."""
    by_nodes = sorted((int(str(row["nodes"])), float(str(row["time_s"]))) for row in rows)
    (few, first_s), (many, last_s) = by_nodes[0], by_nodes[-1]
    tasks = int(str(rows[0]["ranks"]))
    text = f"{first_s:g} s on {count(few, 'node')}, {last_s:g} s on {many}"
    return Effect(program, tasks, str(tasks), first_s < last_s, text, source_, last_s / first_s)


def _told(row: Mapping[str, PublishedValue], source_: str) -> Effect:
    """A statement of the text."""
    tasks_text, faster = str(row["ranks_text"]), str(row["faster"])
    told = re.search(r"\d+", tasks_text)
    text = f"{faster} faster by {row['difference_text']}"
    tasks = int(told[0]) + tasks_text.startswith("more than") if told else None
    one_number = tasks_text.isdigit() and re.fullmatch(r"[\d.]+ %", str(row["difference_text"]))
    percent = float(str(row["difference_percent"]))
    return Effect(
        str(row["kernel"]),
        tasks,
        tasks_text,
        faster == PATTERNS[0],
        text,
        source_,
        most_over_fewest(faster, percent) if one_number else None,
    )


def most_over_fewest(faster: str, percent: float) -> float:
    """The time on many nodes over that on few, where one pattern is faster by so many percent.

    Taken as of the shorter time: the paper does not say of which, and some are more than 100.
    """
    longer = 1 + percent / 100
    return longer if faster == PATTERNS[0] else 1 / longer
