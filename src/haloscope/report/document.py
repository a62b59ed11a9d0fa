# SPDX-License-Identifier: BSD-3-Clause
"""A report as data: findings, tables and figures by topic, and the method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

from haloscope.analysis.validation.trust import Trust
from haloscope.findings.answers import answering
from haloscope.findings.badge import badge
from haloscope.findings.caveats import Caveat, Explanation
from haloscope.findings.finding import Finding, Prominence
from haloscope.findings.sentences import KeyFigure, Legend, key_figure, legend, sentence
from haloscope.grouped import grouped
from haloscope.quantities import listed
from haloscope.report.method import Facts
from haloscope.study.settings import Settings
from haloscope.topics.common.figure import Figure
from haloscope.topics.common.notes import other_notes, own_notes, placed
from haloscope.topics.common.table import Table

_BY_BADGE = (Caveat.SIMULATED, Caveat.NOT_VALIDATED)
"""_BY_BADGE are the caveats in a report's badge."""


@dataclass(frozen=True)
class Document:
    """A report.

    title: contains the machine of simulated times. question: the kind of table that the study
    requests first, or "". trust: in simulated times; None if all were measured. unvalidated: ids of
    the cases that no published time validates, if others are validated. left_out: a line for every
    case that lacks launches. not_drawn: a line for the figures with too few points. settings: of
    every case, by its id. imported: whether all records are from other programs.
    """

    title: str
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
    question: str = ""
    trust: Trust | None = None
    unvalidated: frozenset[str] = frozenset()
    imported: bool = False

    @property
    def badge(self) -> str:
        """That times were simulated, with their validation and error; "" for measured times."""
        shaded = " Tables shade times that are not validated." if self.unvalidated else ""
        return f"{badge(self.trust)}{shaded}" if self.trust else ""

    def said(self, finding: Finding) -> str:
        """Return a finding as a sentence, without marks that apply to the whole report."""
        return sentence(finding, self._legend)

    @property
    def answer(self) -> Finding | None:
        """The finding that answers the study's question, or None."""
        return next((one for one in self.findings if one.severity is Prominence.ANSWER), None)

    @property
    def headline(self) -> str:
        """The sentence that answers the study's question, with every verdict."""
        return self.said(self.answered) if self.answered else "No finding: see the tables."

    @property
    def answered(self) -> Finding | None:
        """The answer with all alternatives, and without what only its topic needs."""
        return answering(self.answer, self.findings) if self.answer else None

    @property
    def first_caveats(self) -> list[str]:
        """Return the caveats of answer and key figures, with their marks.

        Caveats in the badge or in warnings about all cases are not repeated. Warnings list the
        cases near a cache size; whether the answer is one of them is stated beside it.
        """
        shown = {*_BY_BADGE, *(caveat for one in self.warnings for caveat in one.caveats)}
        shown -= {Caveat.NEAR_CACHE_SIZE, *self._legend.marks}
        first = (Prominence.ANSWER, Prominence.KEY_FIGURE)
        used = {each for one in self.findings if one.severity in first for each in one.caveats}
        own = [one for one in self.explained if one in used - shown]
        return list(self._legend.listed(own, briefly=True))

    @property
    def trust_class(self) -> str:
        """Style class of the badge: positive unless the answer is near a cache size."""
        near = self.answer and Caveat.NEAR_CACHE_SIZE in self.answer.caveats
        return "partly" if near else self.trust.validated if self.trust else ""

    @property
    def key_figures(self) -> list[KeyFigure]:
        """At most four numbers beside the answer."""
        own = [one for one in self.findings if one.severity is Prominence.KEY_FIGURE]
        found = (key_figure(one, self._legend) for one in own)
        return [one for one in found if one]

    @property
    def warnings(self) -> list[Finding]:
        """Findings that change the answer or its reliability."""
        return [one for one in self.findings if one.severity is Prominence.WARNING]

    @property
    def ordered(self) -> list[Finding]:
        """All findings in the order of a page: answer, key figures, warnings, and by section."""
        by_section = [one for section in self.sections for one in self.details(section.id)]
        order = {one.id: number for number, one in enumerate([*by_section, *self.details()])}
        of_page = (Prominence.ANSWER, Prominence.KEY_FIGURE, Prominence.WARNING, Prominence.DETAIL)
        return sorted(
            self.findings, key=lambda one: (of_page.index(one.severity), order.get(one.id, 0))
        )

    def details(self, topic: str | None = None) -> list[Finding]:
        """Return the findings of a section's topic; None: those of topics without a section.

        The answer is included, so that a section is complete.
        """
        there = {section.id for section in self.sections}
        return [
            one
            for one in self.findings
            if one.severity is not Prominence.WARNING
            if (one.topic == topic if topic is not None else one.topic not in there)
        ]

    @property
    def others(self) -> list[str]:
        """Findings of topics without a section, as sentences."""
        return [self.said(one) for one in self.details()]

    @property
    def legend(self) -> tuple[str, ...]:
        """The explanations of marks, and what applies to all sentences, each once."""
        return self._legend.lines

    @property
    def explained(self) -> Mapping[Caveat, Explanation]:
        """The explanation of each caveat in use."""
        return self._legend.explained

    @cached_property
    def _legend(self) -> Legend:
        return legend(self.ordered, imported=self.imported)

    def notes_of(self, item: Table | Figure) -> list[str]:
        """Return the notes below a table or figure: at most three, which no other one has."""
        return self._own_notes[item.id, type(item)]

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """All other notes, each once, with the numbers of their tables: "... (Tables 1 to 3)".

        Excluded cases have their own section.
        """
        names = [section.called(item) for section in self.sections for item in section.items]
        return tuple(
            placed(note, numbers([names[index] for index in having]))
            for note, having in other_notes(self._every_note).items()
        )

    @property
    def _items(self) -> list[Table | Figure]:
        return [item for section in self.sections for item in section.items]

    @cached_property
    def _every_note(self) -> list[list[str]]:
        """Notes of each table and figure, without excluded cases."""
        return [[note for note in one.notes if note not in self.left_out] for one in self._items]

    @cached_property
    def _own_notes(self) -> dict[tuple[str, type], list[str]]:
        """Notes below each table and figure."""
        keys = [(item.id, type(item)) for item in self._items]
        return dict(zip(keys, own_notes(self._every_note), strict=True))

    def section_of(self, figure: Figure) -> Section:
        """Return the section of a figure."""
        return next(one for one in self.sections if figure in one.figures)

    @property
    def first_figure(self) -> Figure | None:
        """The figure of the answer's topic, or one with a bar or curve per case, or None.

        Of several in the topic, the first with the answer's cases; otherwise a short one of these.
        Without an answer, the first figure.
        """
        if self.answer is None:
            return next(iter(self.figures), None)
        topic, cases = self.answer.topic, {*self.answer.cases}
        own = [one for section in self.sections if section.id == topic for one in section.figures]
        short = [one for one in self.figures if one.is_short]
        beside = [one for one in short if cases and cases <= {*one.cases}]
        some = [one for one in short if one.cases and {*one.cases} <= cases]
        return next(iter((*(one for one in own if one in beside), *own, *beside, *some)), None)

    @property
    def nothing_left_out(self) -> str:
        """The text for an empty list of excluded cases; predictions have no launches."""
        return "No launch was left out: every launch succeeded." if self.toolchains else "Nothing."

    @property
    def tables(self) -> list[Table]:
        """All tables, in order."""
        return [table for section in self.sections for table in section.tables]

    @property
    def figures(self) -> list[Figure]:
        """All figures, in order."""
        return [figure for section in self.sections for figure in section.figures]


@dataclass(frozen=True)
class Section:
    """One topic: its figures and tables, numbered from first_figure and first_table.

    unfolded: whether the page shows it without a click.
    """

    id: str
    title: str
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]
    first_figure: int = 1
    first_table: int = 1
    unfolded: bool = False

    @property
    def items(self) -> tuple[Figure | Table, ...]:
        """Its figures, then its tables."""
        return (*self.figures, *self.tables)

    def number(self, item: Table | Figure) -> int:
        """Return the number of one of its tables or figures in the whole report."""
        if isinstance(item, Table):
            return self.first_table + self.tables.index(item)
        return self.first_figure + self.figures.index(item)

    def called(self, item: Table | Figure) -> str:
        """Return "Table 3" or "Figure 1"."""
        return f"{'Table' if isinstance(item, Table) else 'Figure'} {self.number(item)}"


def numbers(names: Sequence[str]) -> str:
    """Return "Tables 1, 2 and 4", "Figures 1 and 2, Tables 3 to 7"."""
    pairs = [name.split() for name in names]
    return ", ".join(
        f"{kind}{'s' if len(own) > 1 else ''} {listed(_runs([int(number) for _, number in own]))}"
        for kind, own in grouped(pairs, lambda pair: pair[0]).items()
    )


def _runs(numbers: Sequence[int]) -> list[str]:
    """Abbreviate ascending numbers: at least three consecutive ones as a range: ["1", "3 to 7"]."""
    runs = [[n for _, n in own] for _, own in groupby(enumerate(numbers), lambda p: p[1] - p[0])]
    return [
        text
        for run in runs
        for text in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run))
    ]
