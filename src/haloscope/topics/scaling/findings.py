# SPDX-License-Identifier: BSD-3-Clause
"""Findings on strong scaling of kernels whose topics do not cover it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import NO_DIFFERENCE, Contrast, contrasts, step
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet, facets
from haloscope.analysis.sweeps import sweep
from haloscope.analysis.validation.cell_groups import PROBLEM
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric, Ratio, Verdict
from haloscope.grouped import grouped
from haloscope.layout import CORES, LAYOUT
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Settings, varying, with_nodes
from haloscope.topics.common.making import (
    band_of_verdict,
    band_within,
    made,
    needed_of,
    node_hours,
    verdict_of,
)
from haloscope.topics.scaling import cores_beside, times_as_fast

GRIDS = ("topology", "chunks")
_ELSEWHERE = ("poisson_cg", "spmv")
"""Kernels whose own topics cover their scaling."""
_SECTIONS = {"fft_pencil": "fft", "fe_heat": "heat", "jacobi3d": "jacobi"}
_ALIKE = 1.05
"""_ALIKE is the largest ratio of work between layouts: pencils and elements do not
divide evenly.
"""


def of_kernels(cases: Sequence[MeasuredCase]) -> Iterator[list[MeasuredCase]]:
    """Yield the measured cases of each kernel and program."""
    own = [
        case
        for case in cases
        if case.time and case.kernel not in _ELSEWHERE and not case.settings.get("tasks")
        if not sweep(case)
    ]
    yield from grouped(own, lambda case: case.kernel).values()


def is_same_work(cases: Sequence[MeasuredCase]) -> bool:
    """Return whether their work is equal; programs do not report it, and have equal arguments."""
    work = [float((case.launches[0].work or {}).get("flops") or 0) for case in cases]
    return cases[0].external or 0 < max(work) <= _ALIKE * min(work)


def section_of(case: MeasuredCase) -> str:
    """Return the section of its findings."""
    return _SECTIONS.get(case.kernel, "summary")


TIED = (NO_DIFFERENCE, "equal")


def strong(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the longest work of each kernel and program, on the most cores against the fewest."""
    for own in of_kernels(cases):
        ladders = [
            ladder
            for part in facets([case for case in own if not case.shares_cores], (*CORES, *GRIDS))
            if len(ladder := _ladder(part)) > 1
        ]
        if ladders:
            yield _speedup(_longest(ladders, context.seed), context)


def _ladder(part: Facet) -> list[MeasuredCase]:
    """Return the fastest layout by cores; [] for a kernel whose work grows with its processes."""
    if not is_same_work(part.cases):
        return []
    fastest: dict[int, MeasuredCase] = {}
    for case in sorted(part.cases, key=lambda case: -case.time_s):
        fastest[case.cores] = case
    return [fastest[cores] for cores in sorted(fastest)]


def _longest(ladders: Sequence[list[MeasuredCase]], seed: int) -> list[MeasuredCase]:
    """Return the first ladder of the longest work that is not shown to be slower than
    the fastest.
    """
    by_problem = grouped(
        ladders, lambda ladder: tuple(ladder[0].settings.get(name) for name in PROBLEM)
    )
    ways = max(by_problem.values(), key=lambda ways: min(one[-1].time_s for one in ways))
    best = min(ways, key=lambda ladder: ladder[-1].time_s)
    verdicts = (contrasts([(step(best[-1]), step(way[-1]))], seed)[0].verdict for way in ways)
    return next(
        way for way, verdict in zip(ways, verdicts, strict=True) if way is best or verdict in TIED
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
        but=(*CORES, *GRIDS),
        near=[base, fastest, top],
    )


def _claim(case: MeasuredCase, base: MeasuredCase, context: Context) -> Claim:
    contrast = contrasts([(step(base), step(case))], context.seed)[0]
    speedup = times_as_fast(base, case, context.seed)
    share = speedup.value * base.cores / case.cores if speedup else None
    return speedup_claim(contrast, share)


def speedup_claim(contrast: Contrast, efficiency: float | None) -> Claim:
    """Return a case, the second of a contrast, against its base."""
    base, case = contrast.first.case, contrast.second.case
    return Claim(
        cores_beside(case, base),
        cores_beside(base, case),
        estimate=case.time,
        ratio=Ratio.of(contrast.ratio) if contrast.ratio else None,
        share=efficiency,
        verdict=verdict_of(contrast),
        needed=needed_of([contrast]),
        node_hours=node_hours([(case, base)]),
    )


def layouts(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the layout to use on the most cores that several layouts share, for each kernel."""
    for own in of_kernels(cases):
        by_cores: dict[tuple[int, int, int], list[MeasuredCase]] = {}
        for index, part in enumerate(facets(own, (*LAYOUT, *GRIDS))):
            for case in part.cases:
                key = (case.cores, case.layout.nodes, index)
                by_cores.setdefault(key, []).append(case)
        several = [
            (*key[:2], min(case.time_s for case in group), group)
            for key, group in by_cores.items()
            if differ_in_layout(group) and is_same_work(group)
        ]
        if several:
            *_, group = max(several, key=lambda one: one[:3])
            best, layout, apart = fastest_layout(group, context)
            yield made(
                context, group, "Fastest layout", FindingShape.BEST, [layout],
                topic=section_of(best), metric=Metric("time of a step"), but=(*apart, *GRIDS),
                near=[best],
            )  # fmt: skip


def differ_in_layout(group: Sequence[MeasuredCase]) -> bool:
    """Return whether there are several that differ in more than binding."""
    return not {*varying([case.settings for case in group])} <= {"bind", "thread_bind", *GRIDS}


def layout_of(case: MeasuredCase, apart: Sequence[str]) -> Settings:
    """Return what distinguishes a layout, with the numbers of its processes."""
    return {name: case.settings.get(name) for name in with_nodes(apart)}


def fastest_layout(
    group: Sequence[MeasuredCase], context: Context
) -> tuple[MeasuredCase, Claim, list[str]]:
    """Return the fastest layout, the claim about it, and the settings that distinguish layouts."""
    best, *others = (step(case) for case in sorted(group, key=lambda case: case.time_s))
    apart = [name for name in varying([case.settings for case in group]) if name not in GRIDS]
    found = contrasts([(best, other) for other in others], context.seed)
    slower = [one for one in found if one.verdict == "slower"]
    also = [one for one in found if one.verdict != "slower"]
    ratio = None
    reference: Settings = {}
    if slower:
        over = [one.second.case.time_s / best.case.time_s for one in slower]
        band = band_of_verdict(slower, "slower")
        estimate = Estimate.alone(min(over), band=band)
        ratio = Ratio(estimate, min(over), max(over), median(over))
        alone = layout_of(slower[0].second.case, apart)
        reference = alone if len(slower) == 1 else {"others": len(slower)}
    verdict = Verdict.FASTER
    if also:
        verdicts = {verdict_of(one) for one in also}
        verdict = next(
            (v for v in (Verdict.UNDECIDED, Verdict.NO_DIFFERENCE) if v in verdicts), Verdict.EQUAL
        )
    layout = Claim(
        layout_of(best.case, apart),
        reference,
        also=tuple(layout_of(one.second.case, apart) for one in also),
        estimate=best.time,
        ratio=ratio,
        verdict=verdict,
        node_hours=node_hours([(best.case, one.second.case) for one in slower]),
        band=band_within(also),
    )
    return best.case, layout, apart
