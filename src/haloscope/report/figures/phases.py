# SPDX-License-Identifier: BSD-3-Clause
"""Share of each phase in the time of a step, as stacked bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from haloscope.analysis.cases import MeasuredCase, facets, row_name
from haloscope.analysis.context import Context
from haloscope.analysis.phases import REST, shares
from haloscope.quantities import count, seconds
from haloscope.report.figures.model import Bars, Figure
from haloscope.report.words import shares_between

MOST_BARS = 30
"""MOST_BARS is the largest number of bars that can be told apart: of more, those inside a grid of
nodes and processes per node are left out."""


BARS_A_PANEL = 18
"""BARS_A_PANEL is the largest number of bars in one panel, because a page of paper must make more
of them smaller than can be read."""


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Stacked bars: each phase's share of a step, a bar a case, a figure a kernel."""
    found = []
    for kernel in dict.fromkeys(case.kernel for case in cases):
        own = [case for case in cases if case.kernel == kernel and len(shares(case)) > 1]
        if own:
            found.append(bars_of(own, f"Time by phase, {kernel}", "phases", context))
    return found


def _at_the_edges(cases: Sequence[MeasuredCase]) -> list[MeasuredCase]:
    """Those on one node, and those with the most processes per node."""
    kept = []
    for part in facets(cases, ("nodes", "ppn")):
        most = max(case.number("ppn") for case in part.cases)
        kept += [c for c in part.cases if c.number("nodes") == 1 or c.number("ppn") == most]
    return kept


def bars_of(every: Sequence[MeasuredCase], title: str, kind: str, context: Context) -> Figure:
    """A bar a case, with the shares of its phases; of several kernels, each named."""
    cases = _at_the_edges(every) if len(every) > MOST_BARS else every
    left_out = len(every) - len(cases)
    by_case = [{phase.name: phase for phase in shares(case)} for case in cases]
    names = list(dict.fromkeys(name for own in by_case for name in own))
    names.sort(key=lambda name: name == REST)
    parts = tuple(
        (name, tuple(own[name].share.value if name in own else 0.0 for own in by_case))
        for name in names
    )
    largest = max(parts, key=lambda part: sum(part[1]))
    return Figure(
        id=kind,
        kind=kind,
        title=context.title(title),
        panels=tuple(_panels(cases, parts)),
        alt=f"Share of a step by phase for {count(len(cases), 'case')}. "
        f"Largest{' over all together' * (len(cases) > 1)}: {largest[0]}, "
        f"{shares_between(largest[1])}.",
        notes=(
            "Mean over ranks, median over launches. After each name: the time of a step.",
            *([_UNEVEN] if any(abs(1 - sum(own)) > UNSEEN for own in _bars(parts)) else []),
            *([_left_out(left_out)] if left_out else []),
        ),
    )


_Parts = Sequence[tuple[str, tuple[float, ...]]]
"""Each phase with its share of every bar."""


def _panels(cases: Sequence[MeasuredCase], parts: _Parts) -> Iterator[Bars]:
    """As many panels as it takes, about equally long."""
    names = [row_name(case, cases) for case in cases]
    totals = [seconds(case.time.value) if case.time else "" for case in cases]
    number = -(-len(cases) // BARS_A_PANEL)
    ends = [len(cases) * part // number for part in range(number + 1)]
    for index, (begin, end) in enumerate(pairwise(ends), start=1):
        yield Bars(
            "shares" if number == 1 else f"shares-{index}",
            "" if number == 1 else f"{index} of {number}",
            tuple(names[begin:end]),
            tuple((name, values[begin:end]) for name, values in parts),
            tuple(totals[begin:end]),
        )


UNSEEN = 0.01
"""UNSEEN is the share of a bar that nobody sees to be missing, or too much."""
_UNEVEN = "Medians of shares, each by itself, need not add up to 100 %."


def _bars(parts: _Parts) -> list[tuple[float, ...]]:
    """The shares of each case."""
    return list(zip(*(values for _, values in parts), strict=True))


def _left_out(number: int) -> str:
    what = "with fewer processes per node than the most on several nodes"
    return f"Not drawn: {count(number, 'case')} {what}."
