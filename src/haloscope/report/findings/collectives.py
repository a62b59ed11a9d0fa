# SPDX-License-Identifier: BSD-3-Clause
"""How collective operations grow with the message and with processes, and where times leap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import Facet, MeasuredCase
from haloscope.analysis.collectives import (
    FLAT,
    Growth,
    Leap,
    flat_to,
    growth,
    ladders,
    law_named,
    leaps,
    parts,
    undisturbed,
)
from haloscope.analysis.sweeps import Swept
from haloscope.quantities import count, ends, listed, number, percent, seconds, size
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import between, few, place
from haloscope.stats.estimates import Estimate

ORDER = 124
ANSWERS = ("guidelines",)
LEAPS_TOLD = 6
"""LEAPS_TOLD is the largest number of leaps that are named: of more, the greatest."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of the most processes by size, then from the fewest to the most, then the leaps."""
    for part in parts(cases):
        many = max(part.cases, key=lambda case: (case.ranks, case.number("nodes")))
        label = f" ({part.label})" if part.label else ""
        label += place(many)
        if sized := _with_size(many, context.seed):
            yield Finding(f"Collectives, {_where(many)}{label}{few(many)}: {sized}.")
        for least, *_, most in ladders(part):
            grown = _with_ranks(least, most, context.seed)
            yield Finding(
                f"Collectives, {_from_to(least, most)}{label}{few(least, most)}: {grown}."
            )
        for case in _tops(part):
            if leaping := leaps(case, context.seed):
                yield Finding(f"Collectives, {_where(case)}{label}: {_leaping(leaping, case)}.")


def _tops(part: Facet) -> list[MeasuredCase]:
    """The most processes on one node, and on several."""
    nodes = [[c for c in part.cases if (c.number("nodes") > 1) == several] for several in (0, 1)]
    return [max(own, key=lambda case: (case.ranks, case.number("nodes"))) for own in nodes if own]


def _from_to(few: MeasuredCase, most: MeasuredCase) -> str:
    """From so many ranks to so many, and where they are."""
    nodes = most.number("nodes")
    where = f"{few.number('nodes')} to {nodes} nodes" if nodes > 1 else "one node"
    return f"from {few.ranks} to {most.ranks} processes on {where}"


def _where(case: MeasuredCase) -> str:
    nodes = case.number("nodes")
    return f"{case.processes} on {count(nodes, 'node') if nodes > 1 else 'one node'}"


def _with_size(case: MeasuredCase, seed: int) -> str:
    """The cheapest and the dearest operation at both ends, and how far each is flat.

    Without the first size where that takes longer than the second: it was not warm yet.
    """
    sized = {name: points for name, points in undisturbed(case).items() if len(points) > 1}
    falls = {(one.operation, one.below_bytes) for one in leaps(case, seed) if one.factor < 1}
    cold = any((name, points[0].size_bytes) in falls for name, points in sized.items())
    first = int(cold and not case.simulated)
    swept = {name: points[first:] for name, points in sized.items() if len(points) > 1 + first}
    if not swept:
        return ""
    ends = [_ends({name: points[at] for name, points in swept.items()}) for at in (0, -1)]
    flat: dict[int, list[str]] = {}
    for name, points in swept.items():
        flat.setdefault(flat_to(points), []).append(name)
    told = [f"{size(at)} ({listed(names)})" for at, names in sorted(flat.items())]
    least = size(next(iter(swept.values()))[0].size_bytes)
    return (
        f"{'; '.join(ends)}. No more than {FLAT:.0f} times as long as {least} up to {listed(told)}"
    )


def _ends(points: dict[str, Swept]) -> str:
    """The fastest and the slowest operation at one end of their sizes."""
    first, *_, last = [*sorted(points, key=lambda name: points[name].time.value)] * 2
    at = size(points[first].size_bytes)
    if len(points) == 1:
        return f"{at} take {seconds(points[first].time.value)} ({first})"
    fast, slow = (seconds(points[name].time.value) for name in (first, last))
    return f"{at} take {fast} ({first}) to {slow} ({last})"


def _with_ranks(few: MeasuredCase, many: MeasuredCase, seed: int) -> str:
    """At the smallest and at the largest size: operations by what their growth is nearest to."""
    found = growth(few, many, seed)
    sizes = sorted({one.size_bytes for one in found if one.size_bytes})
    clauses = [
        f"{size(at)} take {_by_order([one for one in found if one.size_bytes == at])}"
        for at in (sizes[:1] + sizes[1:][-1:])
    ]
    return f"{'; '.join(clauses)}{_how_sure([one for one in found if one.size_bytes])}"


def _by_order(found: Sequence[Growth]) -> str:
    by: dict[str, list[Growth]] = {}
    for one in sorted(found, key=lambda one: one.times.value):
        by.setdefault(law_named(one), []).append(one)
    return ", ".join(
        f"{between([one.times.value for one in own], 2)} times as long ({law}"
        f"{': ' if law else ''}{listed([one.operation for one in own])})"
        for law, own in by.items()
    )


def _how_sure(found: Sequence[Growth]) -> str:
    """The widest of the 95 % intervals, as a share of its growth; nothing without intervals."""
    widths = [one.times.relative_half_width for one in found if one.times.confidence]
    return f" (95 % intervals: at most ± {percent(max(widths))})" if widths else ""


def _leaping(found: Sequence[Leap], case: MeasuredCase) -> str:
    """The leaps, of many the greatest, the greatest first."""
    greatest = sorted(found, key=lambda one: -max(one.factor, 1 / one.factor))[:LEAPS_TOLD]
    told = [
        f"{one.operation} at {size(one.above_bytes)} takes {number(one.factor, 2)} times as long "
        f"as at {size(one.below_bytes)}{_interval(one.times)}"
        for one in greatest
    ]
    rest = f" (the greatest of {len(found)} such leaps)" if len(found) > len(greatest) else ""
    what = "changes its algorithm or protocol"
    if case.simulated:
        held = ", or messages leave a cache" * (case.number("ppn") > 1)
        return f"{listed(told)}{rest}: there the simulated library probably {what}{held}"
    sizes = [points[0].size_bytes for points in undisturbed(case).values() if points]
    cold = any(one.factor < 1 and one.below_bytes == min(sizes) for one in greatest)
    warm = ", or the first size was not warm yet" if cold else ""
    return (
        f"{listed(told)}{rest}, 95 % intervals in brackets: there the library probably {what}, or "
        f"a cache is full{warm}"
    )


def _interval(times: Estimate) -> str:
    """ " (2.1 to 2.4)"; nothing of simulated times."""
    if times.low is None or times.high is None:
        return ""
    return f" ({' to '.join(ends(times.value, times.low, times.high))})"
