"""Which variant of the conjugate gradient method is fastest from how many ranks on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.iteration_rates import Paces, iteration, paces
from haloscope.analysis.phases import shares
from haloscope.analysis.races import Race, races
from haloscope.quantities import listed, percent
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import between, place

ORDER = 75
COMMUNICATION = ("reduce", "halo")
"""COMMUNICATION are the phases of a solve in which ranks wait for messages of others."""
FEWEST = 2
"""FEWEST is the smallest number of different ranks that a change by ranks can be told of."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of every mesh with several variants: the fastest by ranks, and what share is waiting."""
    for found in filter(_of_one_layout, paces(cases)):
        fields = {
            float(ranks): {name: iteration(case) for name, (case, _) in row.items()}
            for ranks, row in found.by_ranks.items()
        }
        run = races(fields, context.seed)
        if len(run) < FEWEST:
            continue
        mesh = found.part.label or f"N = {found.part.settings.get('n')}"
        where = place(found.part.cases[0])
        yield Finding(f"An iteration ({mesh}){where}: {_told(run, found)}.")
        if spent := _communicating(found):
            yield Finding(f"{spent} ({mesh}){where}.")


def _of_one_layout(found: Paces) -> bool:
    """Whether as many ranks are laid out in one way alone: ranks are all that differs then."""
    layouts = {(case.ranks, case.number("nodes")) for case in found.part.cases}
    return len(layouts) == len(found.by_ranks)


def _told(run: Sequence[Race[str]], found: Paces) -> str:
    """Runs of ranks with the same variants first, from few to many."""
    clauses = []
    for first, group in groupby(run, lambda race: tuple(sorted(race.first))):
        alike = list(group)
        ends = [f"{int(race.at):,}" for race in (alike[0], alike[-1])]
        ranks = " to ".join(dict.fromkeys(ends))
        lacking = [name for name in found.variants if any(_lacks(race, name) for race in alike)]
        without = f", {listed(lacking)} not measured" if lacking else ""
        if len(first) > 1:
            why = "tie" if all(race.tied for race in alike) else "can't be told apart"
            if any(race.too_few for race in alike):
                why += " by so few launches"
            clauses.append(f"with {ranks} ranks {listed(first)} {why}{without}")
        else:
            clauses.append(f"with {ranks} ranks {first[0]} is fastest ({_ahead(alike)}{without})")
    return "; ".join(clauses)


def _lacks(race: Race[str], name: str) -> bool:
    return name != race.best and name not in race.against


def _ahead(alike: Sequence[Race[str]]) -> str:
    """By how much, of the next and of textbook."""
    others = {name for race in alike for name in race.against}
    told = []
    if "textbook" in others:
        over = [race.over("textbook") for race in alike if "textbook" in race.against]
        told.append(f"{between(over)} times as fast as textbook")
    leads = [race.lead for race in alike if race.lead]
    named = sorted({name for name, _ in leads if name != "textbook"})
    if named:
        over = [times for name, times in leads if name != "textbook"]
        told.append(f"{between(over)} as the next, {' or '.join(named)}")
    return listed(told)


def _communicating(found: Paces) -> str:
    """The share of each variant's iteration in sums and halos, on the most ranks that all have."""
    shared = [ranks for ranks, row in found.by_ranks.items() if set(row) == set(found.variants)]
    if not shared or shared[-1] == 1:
        return ""
    spent = {
        name: [one.share.value for one in shares(case) if one.name in COMMUNICATION]
        for name, (case, _) in found.by_ranks[shared[-1]].items()
    }
    if not all(spent.values()):
        return ""
    total = {name: sum(parts) for name, parts in spent.items()}
    told = [f"{percent(total[name])} of {name}'s" for name in sorted(total, key=lambda n: total[n])]
    return f"With {shared[-1]:,} ranks, sums and halos take {listed(told)} iteration"
