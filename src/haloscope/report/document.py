# SPDX-License-Identifier: BSD-3-Clause
"""A whole report as data: what was found, tables and figures by topic, how it was measured."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from haloscope.analysis.cases import MeasuredCase
from haloscope.errors import nearest
from haloscope.quantities import count, listed
from haloscope.report import figures, tables
from haloscope.report.figures import Figure
from haloscope.report.findings import Finding, findings
from haloscope.report.method import Facts, machine_facts, method, provenance, toolchain_facts
from haloscope.report.tables import Context, Table
from haloscope.report.tables.notebook import left_out
from haloscope.study import kinds
from haloscope.study.settings import Settings
from haloscope.study.wishes import Wish

if TYPE_CHECKING:
    from haloscope.analysis.dossier import Dossier

_Item = TypeVar("_Item", Table, Figure)


@dataclass(frozen=True)
class Section:
    """One topic: its figures and its tables, numbered from first_figure and first_table on.

    A note that several of them have stands once, after all, with their numbers before it.
    """

    id: str
    title: str
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]
    first_figure: int = 1
    first_table: int = 1

    def number(self, item: Table | Figure) -> int:
        """The number of one of its tables or figures in the whole report."""
        if isinstance(item, Table):
            return self.first_table + self.tables.index(item)
        return self.first_figure + self.figures.index(item)

    def called(self, item: Table | Figure) -> str:
        """ "Table 3" or "Figure 1"."""
        return f"{'Table' if isinstance(item, Table) else 'Figure'} {self.number(item)}"

    def notes_of(self, item: Table | Figure) -> list[str]:
        """The notes that stand with a table or figure: those that no other here has."""
        return [note for note in item.notes if len(self._having(note)) == 1]

    @property
    def notes(self) -> list[str]:
        """The notes of several, each once: "Tables 1, 2 and Figure 1: what they say"."""
        every = dict.fromkeys(note for item in self._items for note in item.notes)
        return [
            f"{_numbers([self.called(item) for item in own])}: {note}"
            for note in every
            if len(own := self._having(note)) > 1
        ]

    @property
    def _items(self) -> tuple[Figure | Table, ...]:
        return (*self.figures, *self.tables)

    def _having(self, note: str) -> list[Figure | Table]:
        return [item for item in self._items if note in item.notes]


def _numbers(names: Sequence[str]) -> str:
    """ "Tables 1, 2 and 4", "Figures 1 and 2, Table 3"."""
    kinds: dict[str, list[str]] = {}
    for name in names:
        kind, number = name.split()
        kinds.setdefault(kind, []).append(number)
    return ", ".join(
        f"{kind}{'s' if len(numbers) > 1 else ''} {listed(numbers)}"
        for kind, numbers in kinds.items()
    )


@dataclass(frozen=True)
class Document:
    """A report.

    title, heading: of the whole, and of what was found; they name the machine of simulated times.
    left_out: a line for every case that lacks launches, over all cases there are.
    not_drawn: a line for the figures that have too few points to show anything.
    settings: those of every case, by its id.
    """

    title: str
    heading: str
    summary: str
    findings: tuple[Finding, ...]
    sections: tuple[Section, ...]
    left_out: tuple[str, ...]
    machine: Facts
    toolchains: Facts
    method: tuple[str, ...]
    provenance: Facts
    not_drawn: tuple[str, ...] = ()
    settings: Mapping[str, Settings] = field(default_factory=dict)

    @property
    def nothing_left_out(self) -> str:
        """What to say where nothing was; of predictions there are no launches."""
        return "Nothing: every launch was good." if self.toolchains else "Nothing."

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
        question=dossier.tables[0].kind if dossier.tables else "",
    )
    made = _made(kinds.tables(), _tables, dossier.tables, dossier.cases, context)
    every = _made(kinds.figures(), figures.build, dossier.figures, dossier.cases, context)
    drawn = [(wish, [one for one in own if one.shows_enough]) for wish, own in every]
    if not any(wish.kind == _EVERYTHING.kind for wish, _ in made):
        made.append((_EVERYTHING, _tables(_EVERYTHING.kind, dossier.cases, context)))
    asked = [
        *(("table", wish, bool(items)) for wish, items in made if dossier.tables),
        *(("figure", wish, bool(items)) for wish, items in every if dossier.figures),
    ]
    return Document(
        title=_titled(dossier.title, _where(dossier.cases)),
        heading=_titled("What was found", _where(dossier.cases)),
        summary=_summary(dossier.cases),
        findings=(
            *_no_records(dossier.no_records),
            *_unknown(asked, dossier.cases),
            *findings(dossier.cases, context),
        ),
        sections=_sections(made, drawn),
        left_out=(
            *left_out(dossier.cases, dossier.cases),
            *(f"{note[:1].upper()}{note[1:]}." for note in dossier.left_out),
            *(
                f"No {what} '{wish.kind}': {_why_none(what, wish, dossier.cases, context)}."
                for what, wish, is_there in asked
                if not is_there and not _told(what, wish, dossier.left_out)
            ),
        ),
        machine=machine_facts(dossier.machine),
        toolchains=toolchain_facts(dossier.records),
        method=method(dossier.records, dossier.cases, dossier.plan),
        provenance=provenance(dossier),
        not_drawn=tuple(_not_drawn([one for _, own in every for one in own]))
        if dossier.figures
        else (),
        settings={case.id: case.settings for case in dossier.cases},
    )


def _not_drawn(every: Sequence[Figure]) -> Iterator[str]:
    """A line for all figures that lack as many points."""
    lacking = [one for one in every if not one.shows_enough]
    for fewest in sorted({one.fewest for one in lacking}):
        titles = list(dict.fromkeys(one.title for one in lacking if one.fewest == fewest))
        yield (
            f"Not drawn, with fewer than {fewest} points along "
            f"{'its axis' if len(titles) == 1 else 'their axes'}: {'; '.join(titles)}."
        )


def _why_none(what: str, wish: Wish, cases: Sequence[MeasuredCase], context: Context) -> str:
    """What cases lack of a kind of table or figure."""
    asked = replace(context, options=wish.options)
    if what == "table":
        return tables.why_none(wish.kind, cases, asked)
    return figures.why_none(wish.kind, cases, asked)


def _told(what: str, wish: Wish, notes: Sequence[str]) -> bool:
    """Whether the plan said already why there is no such table or figure."""
    return any(note.startswith(f"no {what} '{wish.kind}':") for note in notes)


_EVERYTHING = Wish("summary")
LONG = 120
"""LONG is the largest number of rows of a table that is read: a longer one is for looking up."""


def _tables(kind: str, cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Tables of a kind, long ones folded."""
    made = tables.build(kind, cases, context)
    return [replace(table, folded=table.folded or len(table.rows) > LONG) for table in made]


def _made(
    every: Sequence[str],
    build: Callable[[str, Sequence[MeasuredCase], Context], list[_Item]],
    wishes: Sequence[Wish] | None,
    cases: Sequence[MeasuredCase],
    context: Context,
) -> list[tuple[Wish, list[_Item]]]:
    """What each wish gives; without any word of the study, every kind there is."""
    asked = [Wish(kind) for kind in every] if wishes is None else wishes
    return [
        (wish, build(wish.kind, cases, replace(context, options=wish.options))) for wish in asked
    ]


def _unknown(
    asked: Sequence[tuple[str, Wish, bool]], cases: Sequence[MeasuredCase]
) -> Iterator[Finding]:
    """A warning for every setting that the study's tables and figures name and no case has."""
    known = sorted({name for case in cases for name in case.settings})
    for what, wish, _ in asked:
        for name in wish.options.where:
            if name not in known:
                text = f"The {what} '{wish.kind}' asks for a setting '{name}' that no case has"
                yield Finding(f"{text}: {nearest(name, known)}.", "warning")


def _no_records(lines: Sequence[str]) -> Iterator[Finding]:
    """A warning of what stands in records.jsonl and can't be read as a record."""
    if lines:
        are = "is none" if len(lines) == 1 else "are none"
        yield Finding(
            f"{count(len(lines), 'line')} of records.jsonl {are}, and left out, so that launches "
            f"that were made may count as not run here; {'the first is ' * (len(lines) > 1)}"
            f"{lines[0]}.",
            "warning",
        )


def _where(cases: Sequence[MeasuredCase]) -> str:
    """The machine that all good launches were simulated on; "" where some were measured."""
    good = [case for case in cases if case.launches]
    clusters = listed(sorted({case.cluster for case in good if case.cluster}))
    return f"simulated on {clusters}" if clusters and all(c.simulated for c in good) else ""


def _titled(title: str, where: str) -> str:
    """A title with where its times are from, which begins a sentence behind a question."""
    if not where:
        return title
    question = title.endswith("?")
    return f"{title} {where[0].upper()}{where[1:]}" if question else f"{title}, {where}"


def _summary(cases: Sequence[MeasuredCase]) -> str:
    launches = sum(len(case.launches) for case in cases)
    kernels = Counter(case.kernel for case in cases)
    good = count(launches, "good launch", "good launches")
    if len(kernels) < 2:
        return f"{' of '.join([count(len(cases), 'case'), *kernels])}, {good}."
    counted = listed([f"{number:,} of {kernel}" for kernel, number in kernels.items()])
    return f"{count(len(cases), 'case')} ({counted}), {good}."


def _sections(
    made: Sequence[tuple[Wish, list[Table]]], drawn: Sequence[tuple[Wish, list[Figure]]]
) -> tuple[Section, ...]:
    """By topic, in the order in which they are first asked for; the summary of all cases last."""
    all_tables = _numbered([table for _, several in made for table in several])
    all_figures = _numbered([figure for _, several in drawn for figure in several])
    asked = [wish.kind for wish, _ in made] + [wish.kind for wish, _ in drawn]
    sections: list[Section] = []
    before = [0, 0]
    for topic in sorted(kinds.TOPICS, key=lambda topic: _first(asked, kinds.of_topic(topic))):
        shown = kinds.of_topic(topic)
        its_figures = tuple(figure for figure in all_figures if figure.kind in shown)
        its_tables = tuple(table for table in all_tables if table.kind in shown)
        if its_figures or its_tables:
            firsts = before[0] + 1, before[1] + 1
            sections.append(Section(topic, kinds.TOPICS[topic], its_figures, its_tables, *firsts))
            before = [before[0] + len(its_figures), before[1] + len(its_tables)]
    return tuple(sections)


def _first(asked: Sequence[str], shown: Sequence[str]) -> int:
    """Where a topic's kinds are first asked for; the summary of all cases comes last."""
    if _EVERYTHING.kind in shown:
        return len(asked) + 1
    return min((asked.index(kind) for kind in shown if kind in asked), default=len(asked))


def _numbered(items: list[_Item]) -> list[_Item]:
    """Ids that are unique: several of one name are numbered from 1.

    Files are called by them, and some hold words of records: nothing is left of these but letters,
    digits, and . - _.
    """
    total = Counter(item.id for item in items)
    seen: Counter[str] = Counter()
    made = []
    for item in items:
        seen[item.id] += 1
        one_of_many = total[item.id] > 1
        unique = f"{item.id}-{seen[item.id]}" if one_of_many else item.id
        made.append(replace(item, id=re.sub(r"[^\w.-]", "_", unique)))
    return made
