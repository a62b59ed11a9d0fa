# SPDX-License-Identifier: BSD-3-Clause
"""How the same work scales with nodes and cores: of kernels without a scaling of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.bands import PROBLEM
from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import NO_DIFFERENCE, contrasts, step
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet, facets
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric, Ratio
from haloscope.topics.common.making import made, node_hours, verdict_of
from haloscope.topics.scaling.analysis import cores_beside, times_as_fast
from haloscope.topics.scaling.work import GRIDS, is_same_work, of_kernels, section_of

_AXES = ("nodes", "ppn", "threads")
TIED = (NO_DIFFERENCE, "equal")


def strong(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of each kernel and program: its longest work on the most cores against the fewest."""
    for own in of_kernels(cases):
        ladders = [
            ladder
            for part in facets([case for case in own if not case.shares_cores], (*_AXES, *GRIDS))
            if len(ladder := _ladder(part)) > 1
        ]
        if ladders:
            yield _speedup(_longest(ladders, context.seed), context)


def _ladder(part: Facet) -> list[MeasuredCase]:
    """By cores the fastest layout; nothing of a kernel whose work grows with its processes."""
    if not is_same_work(part.cases):
        return []
    fastest: dict[int, MeasuredCase] = {}
    for case in sorted(part.cases, key=lambda case: -case.time_s):
        fastest[case.cores] = case
    return [fastest[cores] for cores in sorted(fastest)]


def _longest(ladders: Sequence[list[MeasuredCase]], seed: int) -> list[MeasuredCase]:
    """Of the longest work, the first way that is as fast as the fastest, as far as is shown."""
    by_problem: dict[tuple[object, ...], list[list[MeasuredCase]]] = {}
    for ladder in ladders:
        problem = tuple(ladder[0].settings.get(name) for name in PROBLEM)
        by_problem.setdefault(problem, []).append(ladder)
    ways = max(by_problem.values(), key=lambda ways: min(one[-1].time_s for one in ways))
    best = min(ways, key=lambda ladder: ladder[-1].time_s)
    verdicts = (contrasts([(step(best[-1]), step(way[-1]))], seed)[0].verdict for way in ways)
    return next(
        way for way, told in zip(ways, verdicts, strict=True) if way is best or told in TIED
    )


def _speedup(ladder: Sequence[MeasuredCase], context: Context) -> Finding:
    base, top = ladder[0], ladder[-1]
    fastest = min(ladder[1:], key=lambda case: case.time_s)
    return made(
        context,
        ladder,
        "Time of a run" if top.external else "Time of a step",
        FindingShape.TREND,
        [_claim(case, base, context) for case in dict.fromkeys((fastest, top))],
        topic=section_of(base),
        metric=Metric("time of a step"),
        but=(*_AXES, *GRIDS),
        near=[base, fastest, top],
    )


def _claim(case: MeasuredCase, base: MeasuredCase, context: Context) -> Claim:
    contrast = contrasts([(step(base), step(case))], context.seed)[0]
    speedup = times_as_fast(base, case, context.seed)
    return Claim(
        cores_beside(case, base),
        cores_beside(base, case),
        estimate=case.time,
        ratio=Ratio.of(contrast.ratio) if contrast.ratio else None,
        share=speedup.value * base.cores / case.cores if speedup else None,
        verdict=verdict_of(contrast),
        node_hours=node_hours([(case, base)]),
    )
