# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI library, or transport, is fastest at which sizes of a message, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.message_races import apart, message_races, seldom_of
from haloscope.analysis.races import Race
from haloscope.quantities import listed, size
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import between, enough_launches, place, spans

ORDER = 135
NAMED = 3
"""NAMED is the largest number of settings without a test that are named."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of every placement of two ranks: the fastest by size, over all sizes that all have."""
    for part, by_size in message_races(cases, context.seed):
        by = listed(apart(part)).replace("toolchain", "MPI library")
        label = f", {part.label}" if part.label else ""
        found = list(by_size.values())
        where = f"{size(found[0].at)} to {size(found[-1].at)}, one way{label}"
        told = f"{_told(found)}{_seldom(seldom_of(part))}"
        yield Finding(f"Fastest {by} ({where}){place(*part.cases)}: {told}.")


def _told(found: Sequence[Race[str]]) -> str:
    """Those that are alone first, by how many sizes; then where several are."""
    sizes = [race.at for race in found]
    alone: dict[str, list[Race[str]]] = {}
    for race in found:
        if len(race.first) == 1:
            alone.setdefault(race.best, []).append(race)
    clauses = [
        f"{name} at {spans([race.at for race in won], sizes, size)}, where {_lead(won)}"
        for name, won in sorted(alone.items(), key=lambda item: -len(item[1]))
    ]
    several = [race for race in found if len(race.first) > 1]
    for why, chosen in {
        "they tie": [race for race in several if race.tied],
        enough_launches(_family(found)): [race for race in several if race.too_few],
        "it is not shown which": [r for r in several if not r.tied and not r.too_few],
    }.items():
        if chosen:
            at = spans([race.at for race in chosen], sizes, size)
            clauses.append(f"at {'every size' if len(chosen) == len(found) else at} {why}")
    return "; ".join(clauses)


def _seldom(names: Sequence[str]) -> str:
    """Which are not in it, or how many."""
    if not names:
        return ""
    told = f"{len(names)} others" if len(names) > NAMED else listed(names)
    are = "is not in it, launched" if len(names) == 1 else "are not in it, launched"
    return f"; {told} {are} too seldom for a test"


def _family(found: Sequence[Race[str]]) -> int:
    """How many comparisons are tested together."""
    return max(one.family for race in found for one in race.against.values())


def _lead(won: Sequence[Race[str]]) -> str:
    """How many times as long the next takes."""
    leads = [race.lead for race in won if race.lead]
    names = list(dict.fromkeys(name for name, _ in leads))
    times = between([over for _, over in leads])
    return f"the next ({' or '.join(names)}) takes {times} times as long"
