# SPDX-License-Identifier: BSD-3-Clause
"""Comparison of alternatives: exchange, overlap, transpose, binding, and solver variant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Contrast, contrasts, step
from haloscope.analysis.facets import Facet, facets
from haloscope.analysis.validation.published import Library, cluster_file, comparable, source
from haloscope.papers.tables import PaperTable, PublishedValue, exact_times
from haloscope.study.settings import Setting, varying


@dataclass(frozen=True)
class Ways:
    """The values of one setting of a kernel, the reference first.

    least: minimum number of processes, or of cores per node if `of_threads` is set, at which it
    matters. follows: settings determined by the value. alone: values that run identical code with
    one process, which exchanges nothing. idle: other settings without effect with one process, for
    which one value suffices. also: a second setting that belongs to the alternative; cases without
    it take the first's value.
    """

    kernel: str
    setting: str
    order: tuple[str, ...]
    title: str
    of_threads: bool = False
    least: int = 2
    follows: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    also: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The settings in which alternatives differ."""
        return (self.setting, *self.follows, *([self.also] if self.also else []))

    def way(self, case: MeasuredCase) -> dict[str, Setting]:
        """Return the settings of a case that define its alternative."""
        first, second = case.settings[self.setting], case.settings.get(self.also)
        return {self.setting: first} | ({} if second in (None, first) else {self.also: second})

    def apart(self, *cases: MeasuredCase) -> list[dict[str, Setting]]:
        """Return the settings in which the alternatives of cases differ, of each case.

        The second setting is omitted if it equals the first one's value everywhere.
        """
        ways = [self.way(case) for case in cases]
        if self.also and any(self.also in way for way in ways):
            ways = [way | {self.also: case.settings.get(self.also)}
                    for way, case in zip(ways, cases, strict=True)]  # fmt: skip
        names = [*varying(ways)]
        differs = len({way.get(self.also) for way in ways}) > 1
        more = [self.also] if differs and self.also not in names else []  # one alternative lacks it
        return [
            {name: way[name] for name in names}
            | {name: way[name] for name in more if way.get(name) is not None}
            for way in ways
        ]

    def matters(self, case: MeasuredCase) -> bool:
        """Return whether a case is of the kernel and large enough for the setting to matter."""
        a_node = case.layout.cores_of_a_node
        there = a_node if self.of_threads else case.ranks
        return case.kernel == self.kernel and there >= self.least

    def position(self, case: MeasuredCase) -> tuple[int, str]:
        """Return the position of a case's alternative in the order."""
        order = self.order.index(str(case.settings[self.setting]))
        return order, str(case.settings.get(self.also))


_HALOS = ("blocking", "even_odd", "sendrecv", "nonblocking", "persistent", "neighbor")
_FACES = ("blocking", "sendrecv", "nonblocking", "persistent", "neighbor", "derived_types")
EXCHANGES = Ways("poisson_cg", "exchange", _HALOS, "Exchanges compared", alone=_HALOS)
FACES = Ways("jacobi3d", "exchange", _FACES, "Exchanges of faces compared", alone=_FACES)
OVERLAPS = Ways(
    "spmv",
    "overlap",
    ("none", "split", "split_temporary", "early_launch"),
    "Ways to overlap compared",
    alone=("none", "split"),
)
PRINTED_OVERLAPS = MappingProxyType(
    {
        "stream_synchronised": "split",
        "event": "early_launch",
        "concurrent_kernels": "split_temporary",
    }
)
"""Schemes a, b, and c in figure 12 of the report on Summit, by their names in its
published times.
"""
TRANSPOSES = Ways(
    "fft_pencil",
    "transpose",
    ("alltoallv", "pairwise", "pipelined"),
    "Transposes compared",
    follows=("chunks",),
    alone=("alltoallv", "pairwise"),
)
LINES = Ways(
    "fft_pencil",
    "layout",
    ("strided", "blocked"),
    "Layouts of lines compared",
    least=1,
    idle=("transpose", "chunks"),
)
OPERATORS = Ways("fe_heat", "operator", ("csr", "matrix_free"), "Operators compared", least=1)
BINDINGS = Ways(
    *("poisson_cg", "bind", ("close", "spread", "none"), "Bindings compared"),
    of_threads=True,
    also="thread_bind",
)

VARIANTS = Ways(
    "poisson_cg",
    "variant",
    ("textbook", "fused", "pipelined", "sstep"),
    "Variants compared",
    least=1,
    follows=("s", "reorthogonalise"),
)


def alike(cases: Sequence[MeasuredCase]) -> list[tuple[Ways, Facet]]:
    """Return cases with one process that run identical code under several names, by these names."""
    found = []
    for ways in (EXCHANGES, FACES, OVERLAPS, TRANSPOSES):
        alone = [
            case
            for case in cases
            if case.kernel == ways.kernel
            and case.ranks == 1
            and case.settings.get(ways.setting) in ways.alone
        ]
        parts = facets(alone, (ways.setting,))
        found += [(ways, part) for part in parts if len(part.cases) > 1]
    return found


def pooled(cases: Sequence[MeasuredCase]) -> list[MeasuredCase]:
    """Return cases, those with identical code each with the launches of all of these.

    Otherwise one program on one core would have several times, and speedups several references.
    """
    found: dict[str, MeasuredCase] = {}
    for _, part in alike(cases):
        own = [case for case in part.cases if case.launches]
        launches = tuple(record for case in own for record in case.launches)
        found |= {case.id: replace(case, launches=launches) for case in own if len(own) > 1}
    return [found.get(case.id, case) for case in cases]


def groups(
    cases: Sequence[MeasuredCase], seed: int, ways: Ways = EXCHANGES
) -> list[tuple[str, list[Contrast]]]:
    """Compare all alternatives of each setting with the reference; corrected over all."""
    several = [case for case in cases if ways.matters(case)]
    parts = [part for part in facets(several, ways.parts) if len(part.cases) > 1]
    parts = _once_alone(parts, ways)
    pairs = []
    for part in parts:
        first, *others = (step(case) for case in sorted(part.cases, key=ways.position))
        pairs += [(first, other) for other in others]
    each = iter(contrasts(pairs, seed))
    return [(part.label, [next(each) for _ in part.cases[1:]]) for part in parts]


def _once_alone(parts: Sequence[Facet], ways: Ways) -> list[Facet]:
    """Remove parts with one process that differ from an earlier one only in settings without
    effect.
    """
    found: dict[tuple[tuple[str, Setting], ...], Facet] = {}
    for part in parts:
        idle = ways.idle if part.cases[0].ranks == 1 else ()
        key = tuple((name, v) for name, v in sorted(part.settings.items()) if name not in idle)
        found.setdefault(key, part)
    return list(found.values())


_KINDS = ("walltime_grid",)


@dataclass(frozen=True)
class PrintedRatios:
    """Time of the reference over the other's in a pair of published tables, with the cell."""

    source: str
    ratios: Sequence[tuple[float, Mapping[str, Setting]]]


def both(
    library: Library, case: MeasuredCase, other: str, reference: str
) -> Iterator[PrintedRatios]:
    """Yield each pair of published tables of these exchanges that is comparable with a case."""
    tables = [
        table
        for table in library.tables(_KINDS)
        if table.facts.get("kernel") == case.kernel
        and comparable(table, case)
        and case.cluster in (None, cluster_file(table))
    ]
    for one in (table for table in tables if table.facts.get("exchange") == reference):
        for two in (table for table in tables if table.facts.get("exchange") == other):
            if ratios := [*_ratios(one, two)] if one.keys == two.keys else []:
                yield PrintedRatios(f"{source(two)}, {source(one)}", ratios)


def _ratios(
    reference: PaperTable, other: PaperTable
) -> Iterator[tuple[float, Mapping[str, Setting]]]:
    first, second = _times(reference), _times(other)
    for key in (key for key in first if key in second):
        where: dict[str, Setting] = dict(zip(reference.keys, key, strict=True))
        if (where.get("nodes"), where.get("ppn")) != (1, 1):
            yield first[key] / second[key], where


def _times(table: PaperTable) -> dict[tuple[PublishedValue, ...], float]:
    found = {
        tuple(row[key] for key in table.keys): float(time)
        for row in table.rows
        if isinstance(time := row["time_s"], int | float) and time > 0
    }
    return found | {key: one.time_s for key, one in exact_times(table).items()}
