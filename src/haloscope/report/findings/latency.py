# SPDX-License-Identifier: BSD-3-Clause
"""Which variant of the conjugate gradient method is fastest from how many ranks on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.iteration_rates import Paces, by_ranks
from haloscope.analysis.phases import shares
from haloscope.analysis.races import Race
from haloscope.quantities import listed, percent
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import between, few, on_steps, place

ORDER = 75
ANSWERS = ("iterations",)
MESHES = 2
"""MESHES is the largest number of meshes, or other settings, that are each told; of more, the
largest mesh."""
COMMUNICATION = ("reduce", "halo")
"""COMMUNICATION are the phases of a solve in which ranks wait for messages of others."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of every mesh with several variants: the fastest by ranks, and what share is waiting."""
    raced = by_ranks(cases, context.seed)
    for found, run in raced if len(raced) <= MESHES else _largest(raced):
        mesh = found.part.label or f"N = {found.part.settings.get('n')}"
        where = place(found.part.cases[0])
        yield Finding(f"An iteration ({mesh}){where}: {_told(run, found, context.machine)}.")
        if spent := _communicating(found, f" ({mesh}){where}", context.machine):
            yield Finding(f"{spent}.")


def _largest(
    raced: Sequence[tuple[Paces, list[Race[str]]]],
) -> Sequence[tuple[Paces, list[Race[str]]]]:
    """Those of the largest mesh."""
    largest = max(found.part.cases[0].number("n") for found, _ in raced)
    return [one for one in raced if one[0].part.cases[0].number("n") == largest]


def _told(run: Sequence[Race[str]], found: Paces, machine: Mapping[str, Any] | None) -> str:
    """Runs of ranks with the same variants first, from few to many.

    What rests on a case near a step of the model stands apart, and says so.
    """
    clauses = []
    near = {race.at: _on_steps(int(race.at), found, machine) for race in run}
    for (first, but), group in groupby(
        run, lambda race: (tuple(sorted(race.first)), near[race.at])
    ):
        alike = list(group)
        ends = [f"{int(race.at):,}" for race in (alike[0], alike[-1])]
        ranks = f"{' to '.join(dict.fromkeys(ends))} {'rank' if alike[-1].at == 1 else 'ranks'}"
        lacking = [name for name in found.variants if any(_lacks(race, name) for race in alike)]
        without = f", {listed(lacking)} not run" if lacking else ""
        if len(first) > 1:
            clauses.append(f"with {ranks} {_undecided(first, alike)}{without}{but}")
        else:
            ahead = f"{_ahead(alike)}{without}{but}"
            clauses.append(f"with {ranks} {first[0]} is fastest ({ahead})")
    return "; ".join(clauses)


def _on_steps(ranks: int, found: Paces, machine: Mapping[str, Any] | None) -> str:
    """Which variants are near a step of the model with so many ranks."""
    return on_steps([(name, case) for name, (case, _) in found.by_ranks[ranks].items()], machine)


def _undecided(first: Sequence[str], alike: Sequence[Race[str]]) -> str:
    """Which are first, why several are, and how far the others are behind."""
    why = "tie" if all(race.tied for race in alike) else "can't be told apart"
    few_launches = " by so few launches" if any(race.too_few for race in alike) else ""
    told = f"{listed(first)} {why}{few_launches}"
    behind = sorted({name for race in alike for name in race.against} - set(first))
    if not behind:
        return told
    over = [race.over(name) for race in alike for name in behind if name in race.against]
    take = "takes" if len(behind) == 1 else "take"
    return (
        f"{told}, and are faster than {listed(behind)}, which {take} {between(over)} times as long"
    )


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


def _communicating(found: Paces, of: str, machine: Mapping[str, Any] | None) -> str:
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
    own = [case for case, _ in found.by_ranks[shared[-1]].values()]
    but = f"{few(*own)}{_on_steps(shared[-1], found, machine)}"
    return f"With {shared[-1]:,} ranks, sums and halos take {listed(told)} iteration{of}{but}"
