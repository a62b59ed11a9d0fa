# SPDX-License-Identifier: BSD-3-Clause
"""Compose the report of a result folder: the requested tables and figures, by topic."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, TypeVar

from haloscope.analysis import forget
from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.dossier import Dossier, open_folder
from haloscope.analysis.validation.trust import Trust, trust
from haloscope.errors import closest
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Claim, Finding
from haloscope.quantities import capitalised, count, listed
from haloscope.report.document import Document, Section
from haloscope.report.method import machine_facts, method, provenance, toolchain_facts
from haloscope.report.predictions.predicted import digest, kept_predictions
from haloscope.study import kinds
from haloscope.study.kinds import Wish
from haloscope.study.settings import Settings
from haloscope.topics import figures, findings, predicted, tables
from haloscope.topics.common.figure import Figure
from haloscope.topics.common.making import warning
from haloscope.topics.common.notebook import left_out
from haloscope.topics.common.table import Table
from haloscope.topics.far_off import contradicted, far_off

_Item = TypeVar("_Item", Table, Figure)


def compose(directory: Path) -> Document:
    """Return the report of a result folder as data. Raise UserError for other folders and without
    records.
    """
    dossier = open_folder(directory)
    context = _context(dossier, directory)
    made = _made(kinds.tables(), _tables, dossier.tables, dossier.cases, context)
    if cases := contradicted([table for _, own in made for table in own], dossier.cases):
        dossier = replace(dossier, cases=tuple(cases))
        context = replace(context, all_cases=dossier.cases)
        made = _made(kinds.tables(), _tables, dossier.tables, dossier.cases, context)
    every = _made(kinds.figures(), figures.build, dossier.figures, dossier.cases, context)
    drawn = [(wish, [one for one in own if one.shows_enough]) for wish, own in every]
    if not any(wish.kind == _EVERYTHING.kind for wish, _ in made):
        made.append((_EVERYTHING, _tables(_EVERYTHING.kind, dossier.cases, context)))
    asked = [
        *(("table", wish, bool(items)) for wish, items in made if dossier.tables),
        *(("figure", wish, bool(items)) for wish, items in every if dossier.figures),
    ]
    document = Document(
        title=_titled(dossier.question or dossier.title, _where(dossier.cases)),
        summary=_summary(dossier),
        findings=tuple(
            findings(
                dossier.cases,
                context,
                [
                    *far_off([table for _, own in made for table in own], dossier.cases, context),
                    *_no_records(dossier.no_records),
                    *_unknown(asked, dossier.cases),
                ],
            )
        ),
        question=context.question,
        sections=_sections(made, drawn),
        left_out=(
            *left_out(dossier.cases, dossier.cases),
            *predicted.not_simulated(context.predictions),
            *(f"{capitalised(note)}." for note in dossier.left_out),
            *(
                f"No {what} '{wish.kind}': {_why_none(what, wish, dossier.cases, context)}."
                for what, wish, is_there in asked
                if not is_there
                # unless the plan has the reason
                and not any(n.startswith(f"no {what} '{wish.kind}':") for n in dossier.left_out)
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
        imported=bool(dossier.records) and all(record.imported for record in dossier.records),
        **trusted(dossier.cases),
    )
    forget()
    return document


def _context(dossier: Dossier, directory: Path) -> Context:
    kept = kept_predictions(directory)
    outdated = kept is not None and kept.records != digest(directory)
    return Context(
        paper=dossier.paper,
        shelf=dossier.shelf,
        machine=dossier.machine,
        all_cases=dossier.cases,
        seed=dossier.seed,
        question=dossier.tables[0].kind if dossier.tables else "",
        answer=dossier.answer,
        predictions=None if outdated else kept,
        outdated=outdated,
    )


class SimulatedTimes(TypedDict):
    """The facts about simulated cases in a report."""

    trust: Trust | None
    unvalidated: frozenset[str]


def trusted(cases: Sequence[MeasuredCase]) -> SimulatedTimes:
    """Return the trust in the simulated cases, and which are not validated if others are."""
    found = trust(cases)
    without = [case.id for case in cases if case.band and not case.band.own]
    partly = found is not None and found.validated == "partly"
    return SimulatedTimes(trust=found, unvalidated=frozenset(without if partly else ()))


def _not_drawn(every: Sequence[Figure]) -> Iterator[str]:
    """Yield a line for all figures with too few points."""
    lacking = [one for one in every if not one.shows_enough]
    for fewest in sorted({one.fewest for one in lacking}):
        titles = list(dict.fromkeys(one.title for one in lacking if one.fewest == fewest))
        yield (
            f"Not drawn (fewer than {fewest} points along "
            f"{'its axis' if len(titles) == 1 else 'their axes'}): {'; '.join(titles)}."
        )


def _why_none(what: str, wish: Wish, cases: Sequence[MeasuredCase], context: Context) -> str:
    """Return what the cases lack for a kind of table or figure."""
    why_none = tables.why_none if what == "table" else figures.why_none
    return why_none(wish.kind, cases, replace(context, options=wish.options))


_EVERYTHING = Wish("summary")
LONG = 120
"""LONG is the number of rows above which a table is folded."""


def _tables(kind: str, cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Return the tables of a kind; long ones are folded."""
    made = tables.build(kind, cases, context)
    return [replace(table, folded=table.folded or len(table.rows) > LONG) for table in made]


def _made(
    every: Sequence[str],
    build: Callable[[str, Sequence[MeasuredCase], Context], list[_Item]],
    wishes: Sequence[Wish] | None,
    cases: Sequence[MeasuredCase],
    context: Context,
) -> list[tuple[Wish, list[_Item]]]:
    """Return what each request gives; without requests, every kind that has content."""
    asked = [Wish(kind) for kind in every] if wishes is None else wishes
    return [
        (wish, build(wish.kind, cases, replace(context, options=wish.options))) for wish in asked
    ]


def _unknown(
    asked: Sequence[tuple[str, Wish, bool]], cases: Sequence[MeasuredCase]
) -> Iterator[Finding]:
    """Yield a warning for every setting in the study's requests that no case has."""
    known = sorted({name for case in cases for name in case.settings})
    for what, wish, _ in asked:
        for name in wish.options.where:
            if name not in known:
                near = closest(name, known)
                hint: Settings = {**({"nearest": near} if near else {}), "known": ", ".join(known)}
                part = Claim({"setting": name}, hint)
                yield warning(Caveat.UNKNOWN_SETTING, (), [part], common={what: wish.kind})


def _no_records(lines: Sequence[str]) -> Iterator[Finding]:
    """Yield a warning about lines of records.jsonl that are not records."""
    if lines:
        parts = [Claim({"lines": len(lines)}), Claim({"line": lines[0]})]
        yield warning(Caveat.UNREADABLE, (), parts)


def _where(cases: Sequence[MeasuredCase]) -> str:
    """Return the machine on which all good launches were simulated; "" if some were measured."""
    good = [case for case in cases if case.launches]
    clusters = listed(sorted({case.cluster for case in good if case.cluster}))
    return f"simulated on {clusters}" if clusters and all(c.simulated for c in good) else ""


def _titled(title: str, where: str) -> str:
    """Append the machine to a title, which becomes a sentence after a question."""
    if not where:
        return title
    question = title.endswith("?")
    return f"{title} {capitalised(where)}" if question else f"{title}, {where}"


def _summary(dossier: Dossier) -> str:
    """Return the numbers of cases and launches, and the title of a study with a question."""
    cases = dossier.cases
    launches = sum(len(case.launches) for case in cases)
    kernels = Counter(case.kernel for case in cases)
    good = count(launches, "successful launch", "successful launches")
    end = "" if dossier.title.endswith("?") else "."
    study = f" Study: {dossier.title}{end}" if dossier.question else ""
    if len(kernels) < 2:
        return f"{' of '.join([count(len(cases), 'case'), *kernels])}, {good}.{study}"
    counted = listed([f"{number:,} of {kernel}" for kernel, number in kernels.items()])
    return f"{count(len(cases), 'case')} ({counted}), {good}.{study}"


def _sections(
    made: Sequence[tuple[Wish, list[Table]]], drawn: Sequence[tuple[Wish, list[Figure]]]
) -> tuple[Section, ...]:
    """Return sections by topic, in the order of requests; the summary of all cases comes last."""
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
    """Return where a topic's kinds are first requested; the summary of all cases comes last."""
    if _EVERYTHING.kind in shown:
        return len(asked) + 1
    return min((asked.index(kind) for kind in shown if kind in asked), default=len(asked))


def _numbered(items: list[_Item]) -> list[_Item]:
    """Make ids unique: several with the same name are numbered from 1.

    They are file names, and some contain words from records, of which only letters, digits, and . -
    _ are kept.
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
