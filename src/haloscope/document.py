"""A whole report as data: what was found, tables and figures by topic, how it was measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from haloscope import series, tables
from haloscope.dossier import Dossier, Wish
from haloscope.evidence import MeasuredCase
from haloscope.findings import Finding, findings
from haloscope.method import Facts, machine_facts, method, provenance, toolchain_facts
from haloscope.series import Figure
from haloscope.tables import Context, Options, Table
from haloscope.tables.notebook import left_out

TOPICS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "memory": ("Memory bandwidth", ("stream", "bandwidth")),
    "pingpong": ("Messages between two processes", ("pingpong",)),
    "convergence": ("Convergence", ("convergence", "surfaces")),
    "walltime": ("Wall time", ("walltime_grid", "hybrid_grid", "clusters")),
    "scaling": ("Speedup and efficiency", ("scaling",)),
    "exchange": ("Exchanges compared", ("exchange",)),
    "phases": ("Where the time goes", ("phases",)),
    "summary": ("All cases", ("summary",)),
}


_Item = TypeVar("_Item", Table, Figure)


@dataclass(frozen=True)
class Section:
    """One topic: its figures and its tables."""

    id: str
    title: str
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]


@dataclass(frozen=True)
class Document:
    """A report. left_out: a line for every case that lacks launches, over all cases there are."""

    title: str
    summary: str
    findings: tuple[Finding, ...]
    sections: tuple[Section, ...]
    left_out: tuple[str, ...]
    machine: Facts
    toolchains: Facts
    method: tuple[str, ...]
    provenance: Facts

    @property
    def tables(self) -> list[Table]:
        """All tables, in order."""
        return [table for section in self.sections for table in section.tables]

    @property
    def figures(self) -> list[Figure]:
        """All figures, in order."""
        return [figure for section in self.sections for figure in section.figures]


def compose(dossier: Dossier) -> Document:
    """The report of a result folder."""
    context = Context(
        paper=dossier.paper,
        shelf=dossier.shelf,
        machine=dossier.machine,
        all_cases=dossier.cases,
        seed=dossier.seed,
    )
    return Document(
        title=dossier.title,
        summary=_summary(dossier.cases),
        findings=tuple(findings(dossier.cases, context)),
        sections=_sections(dossier, context),
        left_out=tuple(line for case in dossier.cases for line in left_out(case, dossier.cases)),
        machine=machine_facts(dossier.machine),
        toolchains=toolchain_facts(dossier.records),
        method=method(dossier.records, dossier.cases),
        provenance=provenance(dossier),
    )


def _summary(cases: Sequence[MeasuredCase]) -> str:
    launches = sum(len(case.launches) for case in cases)
    kernels = Counter(case.kernel for case in cases)
    counted = ", ".join(f"{kernel} {number}" for kernel, number in kernels.items())
    return f"{len(cases)} cases ({counted}), {launches} good launches."


def _sections(dossier: Dossier, context: Context) -> tuple[Section, ...]:
    """By topic, in the order in which the study asks for them; without its word, all there are."""
    wanted = _all(tables.KINDS) if dossier.tables is None else dossier.tables
    drawn = _all(series.KINDS) if dossier.figures is None else dossier.figures
    if not any(wish.kind == "summary" for wish in wanted):
        wanted = (*wanted, Wish("summary", Options()))
    made = _numbered(
        [t for wish in wanted for t in tables.build(wish.kind, dossier.cases, _with(context, wish))]
    )
    pictures = _numbered(
        [f for wish in drawn for f in series.build(wish.kind, dossier.cases, _with(context, wish))]
    )
    asked = [wish.kind for wish in (*wanted, *drawn)] if dossier.tables is not None else []
    sections = []
    for topic in sorted(TOPICS, key=lambda topic: _first(asked, TOPICS[topic][1])):
        title, kinds = TOPICS[topic]
        own_figures = tuple(figure for figure in pictures if figure.kind in kinds)
        own_tables = tuple(table for table in made if table.kind in kinds)
        if own_figures or own_tables:
            sections.append(Section(topic, title, own_figures, own_tables))
    return tuple(sections)


def _all(kinds: Mapping[str, Any]) -> tuple[Wish, ...]:
    return tuple(Wish(kind, Options()) for kind in kinds)


def _with(context: Context, wish: Wish) -> Context:
    return replace(context, options=wish.options)


def _first(asked: Sequence[str], kinds: Sequence[str]) -> int:
    """Where a topic is first asked for; the summary of all cases comes last."""
    if "summary" in kinds:
        return len(asked) + 1
    return min((asked.index(kind) for kind in kinds if kind in asked), default=len(asked))


def _numbered(items: list[_Item]) -> list[_Item]:
    """Ids that are unique: several of one name are numbered from 1."""
    total = Counter(item.id for item in items)
    seen: Counter[str] = Counter()
    made = []
    for item in items:
        seen[item.id] += 1
        one_of_many = total[item.id] > 1
        made.append(replace(item, id=f"{item.id}-{seen[item.id]}") if one_of_many else item)
    return made
