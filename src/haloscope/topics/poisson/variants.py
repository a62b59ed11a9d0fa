# SPDX-License-Identifier: BSD-3-Clause
"""Findings on the variants of the Poisson solver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.races import Race
from haloscope.findings.finding import Claim, Finding, FindingShape
from haloscope.topics.common.making import made, winners
from haloscope.topics.phases.analysis import shares
from haloscope.topics.poisson.analysis import Paces, by_ranks
from haloscope.topics.poisson.findings import COMMUNICATION, ITERATION, MESHES


def variants_by_ranks(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of every mesh with several variants: the fastest by ranks, and the share of communication."""
    raced = by_ranks(cases, context.seed)
    if len(raced) > MESHES:
        largest = max(found.part.cases[0].number("n") for found, _ in raced)
        raced = [one for one in raced if one[0].part.cases[0].number("n") == largest]
    for found, run in raced:
        yield made(
            context,
            found.part.cases,
            "Fastest variant, per iteration",
            FindingShape.BEST,
            _by_variant(run),
            topic="iterations",
            metric=ITERATION,
            axis="ranks",
            points=[int(race.at) for race in run],
            but=("nodes", "ppn", "variant", "s", "reorthogonalise"),
        )
        yield from _communicating(found, context)


def _by_variant(run: Sequence[Race[str]]) -> list[Claim]:
    return winners(run, lambda name: {"variant": name}, lambda race: int(race.at))


def _communicating(found: Paces, context: Context) -> Iterator[Finding]:
    shared = [ranks for ranks, row in found.by_ranks.items() if set(row) == set(found.variants)]
    if not shared or shared[-1] == 1:
        return
    row = found.by_ranks[shared[-1]]
    spent = {
        name: [one.share.value for one in shares(case) if one.name in COMMUNICATION]
        for name, (case, _) in row.items()
    }
    if all(spent.values()):
        total = {name: sum(parts) for name, parts in spent.items()}
        yield made(
            context,
            [case for case, _ in row.values()],
            "Share of communication in an iteration",
            FindingShape.BREAKDOWN,
            [
                Claim({"variant": name}, share=total[name])
                for name in sorted(total, key=lambda name: total[name])
            ],
            topic="iterations",
            metric=ITERATION,
            but=("variant", "s", "reorthogonalise"),
        )
