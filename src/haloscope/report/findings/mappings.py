# SPDX-License-Identifier: BSD-3-Clause
"""Which mapping of tasks is fastest, in words: how many nodes, and which ranks share one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from haloscope.analysis.cases import Facet, MeasuredCase
from haloscope.analysis.comparison import Contrast, contrasts, step
from haloscope.analysis.mappings import PATTERNS, effects, mapping_of, named, pattern_of, spreads
from haloscope.quantities import count, listed, number
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.tables.model import Tone
from haloscope.report.words import place

ORDER = 130
ANSWERS = ("mapping",)


@dataclass(frozen=True)
class _Race:
    """Cases of as many tasks: the fastest one, and every other against it.

    tried: all of as many tasks, those without a time, too, by which patterns are named.
    """

    best: MeasuredCase
    others: tuple[Contrast, ...]
    tried: tuple[MeasuredCase, ...]

    @property
    def every(self) -> list[MeasuredCase]:
        """All of them, from few nodes to many."""
        every = [self.best, *(one.second.case for one in self.others)]
        return sorted(every, key=lambda case: case.number("nodes"))

    @property
    def first(self) -> list[MeasuredCase]:
        """The fastest, and all that are not shown to be slower."""
        return [self.best, *(one.second.case for one in self.others if one.verdict != "slower")]

    @property
    def undecided(self) -> str:
        """Why several are first."""
        alike = all(one.verdict in ("equal", "slower") for one in self.others)
        return "tie" if alike else "can't be told apart"

    def pattern(self, case: MeasuredCase) -> str:
        """How its tasks lie on nodes, as in tables: they have those that were tried in vain."""
        return pattern_of(case, self.tried)

    def over_best(self, case: MeasuredCase) -> float:
        """How many times as long as the fastest it takes."""
        return case.time_s / self.best.time_s


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of each comparison: on how many nodes its tasks are fastest, and with which ranks on each.

    Where something else was published of the same cluster, that is said too, as a warning.
    """
    for part, _ in spreads(cases):
        timed = [case for case in part.cases if case.time]
        where = place(*timed)
        races = _node_races(part.cases, context.seed)
        if races:
            told = f"{_nodes(races)}{_packed(part)}"
            published = _published(races, context)
            tone: Tone = "warning" if any("otherwise" in words for words in published) else ""
            sentences = [told, *(f"{words}: {'; '.join(of)}" for words, of in published.items())]
            yield Finding(f"{named(part)}{where}: {'. '.join(sentences)}.", tone)
        if ranks := _ranks(timed, context.seed):
            yield Finding(f"{named(part)}{where}: {ranks}.")


def _packed(part: Facet) -> str:
    """That the ranks of a node share a socket while another is free, where they may."""
    several = any(case.number("ppn") > 1 for case in part.cases)
    close = several and part.settings.get("bind") == "close"
    return ", where a node's ranks fill one socket before the next (bind = close)" if close else ""


def _published(races: Sequence[_Race], context: Context) -> dict[str, list[str]]:
    """What was published of this cluster, by how it stands to the race of as many tasks, nearly.

    What agrees is told of as many tasks alone; what is contrary, of other numbers of tasks too.
    """
    best = races[0].best
    cluster = best.cluster or str((context.machine or {}).get("host"))
    found: dict[str, list[str]] = {_ALIKE: [], _CONTRARY: [], _CONTRARY_ELSEWHERE: []}
    for effect in effects(context.library, cluster, best.kernel):
        race = _nearest(races, effect.tasks or races[-1].best.ranks)
        where = effect.source.replace(" (", ", ").removesuffix(")")
        told = f"{effect.program}, {effect.tasks_text} tasks, {effect.text} ({where})"
        as_many = effect.is_of(race.best.ranks)
        if (PATTERNS[0] in _winners(race)) != effect.concentrated:
            found[_CONTRARY if as_many else _CONTRARY_ELSEWHERE].append(told)
        elif as_many:
            found[_ALIKE].append(told)
    return {words: told for words, told in found.items() if told}


_ALIKE_TIMES = number(1.0)
"""A ratio of times that differ by less than three digits tell."""
_ALIKE = "Published likewise of this cluster"
_CONTRARY = "Published otherwise of this cluster"
_CONTRARY_ELSEWHERE = "Published otherwise of this cluster with other numbers of tasks"


def _nearest(races: Sequence[_Race], tasks: int) -> _Race:
    """The race of so many tasks, or of hardly more; else that of the most."""
    return next((race for race in races if race.best.ranks >= tasks), races[-1])


def _node_races(cases: Sequence[MeasuredCase], seed: int) -> list[_Race]:
    """A race for each number of tasks: each number of nodes as fast as its best mapping is."""
    timed = [case for case in cases if case.time]
    rivals = [
        [
            min((c for c in own if c.number("nodes") == nodes), key=lambda case: case.time_s)
            for nodes in sorted({case.number("nodes") for case in own})
        ]
        for tasks in sorted({case.ranks for case in timed})
        if (own := [case for case in timed if case.ranks == tasks])
    ]
    return _races(rivals, seed, cases)


def _nodes(races: Sequence[_Race]) -> str:
    """Which pattern is fastest with how many tasks."""
    clauses = []
    for (winners, _), group in groupby(races, lambda race: (_winners(race), _loser(race))):
        alike = list(group)
        with_tasks = f"with {_from_to([f'{race.best.ranks:,}' for race in alike])} tasks"
        if len(winners) > 1:
            clauses.append(f"{with_tasks} {listed(_first(alike))} {alike[0].undecided}")
            continue
        losers = [_told_loser(race) for race in alike]
        longer = [race.over_best(loser) for race, loser in zip(alike, losers, strict=True)]
        clauses.append(
            f"{with_tasks} {_named([race.best for race in alike], alike)} is fastest, "
            f"{_named(losers, alike)} takes "
            f"{_from_to([number(ratio) for ratio in sorted(longer)])} times as long"
        )
    return "; ".join(clauses)


def _winners(race: _Race) -> list[str]:
    """The patterns that are first, from few nodes to many."""
    found = {race.pattern(case) for case in race.first}
    return sorted(found, key=PATTERNS.index)


def _first(races: Sequence[_Race]) -> list[str]:
    """Those that are first of several races: their nodes where there is one race, else patterns."""
    if len(races) > 1:
        return _winners(races[0])
    first = sorted(races[0].first, key=lambda case: case.number("nodes"))
    return [_named([case], races) for case in first]


def _told_loser(race: _Race) -> MeasuredCase:
    """The one on the fewest nodes; where that is the fastest, the one on the most."""
    few, *_, many = race.every
    return many if race.best is few else few


def _loser(race: _Race) -> str:
    """The pattern of the loser that is told, where one is."""
    return race.pattern(_told_loser(race)) if len(_winners(race)) == 1 else ""


def _named(cases: Sequence[MeasuredCase], races: Sequence[_Race]) -> str:
    """How cases of races lie on nodes, each of one race, with how many where that is one number."""
    nodes = {case.number("nodes") for case in cases}
    told = f" ({count(min(nodes), 'node')})" if len(nodes) == 1 else ""
    return f"{races[0].pattern(cases[0])}{told}"


def _ranks(cases: Sequence[MeasuredCase], seed: int) -> str:
    """Which mapping is fastest where the choice matters most."""
    places = sorted({(case.ranks, case.number("nodes")) for case in cases})
    rivals = [[c for c in cases if (c.ranks, c.number("nodes")) == place] for place in places]
    races = _races(rivals, seed, cases)
    if not races:
        return ""
    race = max(races, key=lambda race: max(race.over_best(one.second.case) for one in race.others))
    first = list(map(mapping_of, race.first))
    slower = [one.second.case for one in race.others if one.verdict == "slower"]
    if not slower:
        return f"which ranks share a node makes no difference: {listed(first)} {race.undecided}"
    last = max(slower, key=lambda case: case.time_s)
    longer = number(race.over_best(last))
    tasks, nodes = count(last.ranks, "task"), count(last.number("nodes"), "node")
    ahead = f"{listed(first)} {race.undecided}" if len(first) > 1 else f"{first[0]} is fastest"
    choice = (
        "which ranks share a node"
        if last.ranks > last.number("nodes")
        else "which node has which rank"
    )
    if longer == _ALIKE_TIMES:
        return f"{choice} makes hardly a difference: 0.5 % at most, with {tasks} on {nodes}"
    return (
        f"{choice} matters most with {tasks} on {nodes}: {ahead}, "
        f"{mapping_of(last)} takes {longer} times as long"
    )


def _races(
    rivals: Sequence[Sequence[MeasuredCase]], seed: int, tried: Sequence[MeasuredCase]
) -> list[_Race]:
    """Every group's fastest case against its others, tested as one family; none of one alone."""
    ordered = [sorted(group, key=lambda case: case.time_s) for group in rivals if len(group) > 1]
    pairs = [(step(best), step(other)) for best, *others in ordered for other in others]
    found = iter(contrasts(pairs, seed))
    return [
        _Race(
            best,
            tuple(next(found) for _ in others),
            tuple(case for case in tried if case.ranks == best.ranks),
        )
        for best, *others in ordered
    ]


def _from_to(words: Sequence[str]) -> str:
    """ "16 to 256": the first and the last of ordered words; one word where all are alike."""
    return words[0] if len(set(words)) == 1 else f"{words[0]} to {words[-1]}"
