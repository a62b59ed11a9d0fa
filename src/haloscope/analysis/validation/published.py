# SPDX-License-Identifier: BSD-3-Clause
"""Find the published counterpart of a measured case: tables of a paper with the same conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from haloscope.analysis.cases import MeasuredCase
from haloscope.layout import PROCESSES
from haloscope.papers.tables import Paper, PaperTable
from haloscope.quantities import listed, printed_seconds

_SETTINGS = ("exchange", "threads", "places", "bind")
"""Facts of a published table that a measured case must share; the cluster's name is not one."""

_KEYS = ("n", *PROCESSES, "ranks", "threads")

WALL_TIMES = ("walltime_grid", "hybrid_grid", "scaling")

_NOT_TABLES = {"section-": "section", "fig": "figure"}

TOLERANCE = 1e-6
"""TOLERANCE is the relative residual at which published solves end."""
_OF_ANY_MACHINE = ("iterations", "error_max")


@dataclass(frozen=True)
class Reference:
    """One published value.

    text: as printed. low, high: range implied by the printed digits. source: cluster, paper, and
    table. variant: published variant of the solver, if it differs from the case's; otherwise "".
    threads_bound: OMP_PROC_BIND of the runs, if the paper states it; otherwise "".
    """

    value: float
    text: str
    low: float
    high: float
    source: str
    variant: str = ""
    threads_bound: str = ""


@dataclass(frozen=True)
class Library:
    """The published tables that a report may show beside its values; the first match is used.

    only: id of the only table to use; None: all tables of the requested kinds.
    """

    papers: Sequence[Paper] = ()
    only: str | None = None

    def tables(self, kinds: Sequence[str]) -> list[PaperTable]:
        """Return the published tables of these kinds, in the order of kinds, papers, and pages."""
        return [
            table
            for kind in kinds
            for paper in self.papers
            for table in paper.tables.values()
            if table.kind == kind and self.only in (None, table.id)
        ]

    def find(
        self, case: MeasuredCase, column: str, kinds: Sequence[str], keys: Sequence[str] = _KEYS
    ) -> Reference | None:
        """Return the published value of a column for a case's settings, or None.

        kinds: kinds of tables to search, best first. keys: settings that must agree with the row. A
        simulated time is compared with values of its own cluster, whichever table was requested.
        """
        if _of_other_work(case):
            return None
        tables = [table for table in self.tables(kinds) if column in table.columns]
        if case.cluster is not None and column not in _OF_ANY_MACHINE:
            every = [t for t in replace(self, only=None).tables(kinds) if column in t.columns]
            there = [table for table in every if cluster_file(table) == case.cluster]
            tables = [table for table in there if table in tables] or there
        agreeing = [table for table in tables if _agrees(table, case)]
        if case.ranks == 1:  # one process exchanges nothing
            agreeing += [table for table in tables if _agrees(table, case, but="exchange")]
        own = {**case.settings, "ranks": case.ranks}
        for table in agreeing:
            where = {key: own[key] for key in keys if key in table.columns or key in table.facts}
            if set(table.keys) <= where.keys() and (found := _reference(table, column, where)):
                variant = "" if column in _OF_ANY_MACHINE else other_variant(table, case)
                return replace(found, variant=variant)
        return None


def cluster_file(table: PaperTable) -> str | None:
    """Return the name that a cluster file for a table's cluster has or would have."""
    found = table.facts.get("cluster_file", str(table.facts.get("cluster", "")).lower())
    return str(found) or None


def _of_other_work(case: MeasuredCase) -> bool:
    """Return whether a solve ended after a fixed number of iterations, or at another residual."""
    if case.kernel != "poisson_cg":
        return False
    asked = case.settings.get("tolerance", TOLERANCE)
    return bool(case.settings.get("iterations")) or asked != TOLERANCE


def other_variant(table: PaperTable, case: MeasuredCase) -> str:
    """Return the variant of a table if it differs from that of a case; otherwise ""."""
    published = table.facts.get("variant")
    return "" if published in (None, case.settings.get("variant")) else str(published)


def comparable(table: PaperTable, case: MeasuredCase) -> bool:
    """Return whether a table can be compared with a case; for a simulated one, the same variant
    only.

    A prediction is compared only with values of the same program. A measured case of another
    variant shows its benefit.
    """
    return not case.simulated or not other_variant(table, case)


def _agrees(table: PaperTable, case: MeasuredCase, but: str = "") -> bool:
    if table.facts.get("kernel") != case.kernel or not comparable(table, case):
        return False
    if _packed(case) and "bind" not in table.facts:
        return False
    names = [name for name in _SETTINGS if name in table.facts and name != but]
    bound = case.layout.threads_bound
    if table.facts.get("threads_per_core", 1) != 1:  # more threads than places share cores
        names.remove("places")
        bound = None
        if case.settings.get("places") != "threads":
            return False
    if bound is not None and table.facts.get("omp_proc_bind", bound) != bound:
        return False
    return all(case.settings.get(name) == table.facts[name] for name in names)


def _packed(case: MeasuredCase) -> bool:
    """Return whether simulated ranks fill one socket of nodes that have free cores.

    Papers that name no binding of ranks spread them, or left them to the system. `validate` assumes
    that they are spread; packed ones take up to 2.2 times as long.
    """
    if not case.simulated or case.settings.get("bind") != "close" or not case.launches:
        return False
    cores = (case.launches[0].machine or {}).get("cores") or 0
    return case.layout.ppn > 1 and case.layout.cores_of_a_node < cores


def shown(text: str, value: float, resolution_s: float) -> str:
    """Return a published text; HH:MM:SS in seconds, as other times: "7 s", or "< 1 s" for zero."""
    if ":" not in text:
        return text
    return printed_seconds(value, resolution_s) if value else f"< {resolution_s:.0f} s"


def _reference(table: PaperTable, column: str, where: Mapping[str, object]) -> Reference | None:
    cell = table.cell(column, **where)  # type: ignore[arg-type]
    if cell is None or isinstance(cell.value, str):
        return None
    value = float(cell.value)
    low = value if cell.low is None else cell.low
    high = value if cell.high is None else cell.high
    bound = str(table.facts.get("omp_proc_bind", ""))
    text = shown(cell.text, value, 2 * (high - value))
    return Reference(value, text, low, high, source(table), threads_bound=bound)


def source(table: PaperTable) -> str:
    """Return where a published table is from: "Stampede2 (hpcf-2018-10, table 4.1)"."""
    cluster = table.facts.get("cluster")
    place = f"{table.paper}, {called(table.id)}"
    return f"{cluster} ({place})" if cluster else place


def by_place(sources: Iterable[str]) -> list[str]:
    """Return sources with the tables of one paper together: "Summit, paper, tables 1 and 2"."""
    found: dict[str, list[str]] = {}
    for one in sources:
        before, _, table = without_brackets(one).rpartition(", table ")
        place, number = (before, table) if before else (table, "")
        found.setdefault(place, []).append(number)
    return [
        before if own == [""] else f"{before}, table{'s' if own[1:] else ''} {listed(own)}"
        for before, own in found.items()
    ]


def without_brackets(source: str) -> str:
    """Return a source without brackets: "tara, hpcf-2010-6, table 3.1"."""
    return source.replace(" (", ", ").removesuffix(")")


def called(table: str) -> str:
    """Return "table 4.1" for its id, or "section 5.4" or "figure 15" for values without a table."""
    for prefix, kind in _NOT_TABLES.items():
        if table.startswith(prefix):
            return f"{kind} {table.removeprefix(prefix)}"
    return f"table {table}"
