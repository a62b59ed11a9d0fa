# SPDX-License-Identifier: BSD-3-Clause
"""Layouts of the same work on as many cores: which of them is the fastest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import contrasts, step
from haloscope.analysis.context import Context
from haloscope.analysis.facets import facets
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric, Ratio, Verdict
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import LAYOUT, Settings, varying
from haloscope.topics.common.making import (
    band_of_verdict,
    band_within,
    made,
    node_hours,
    verdict_of,
)
from haloscope.topics.scaling.work import GRIDS, is_same_work, of_kernels, section_of


def layouts(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of each kernel and program: which layout to use on the most cores that several share."""
    for own in of_kernels(cases):
        by_cores: dict[tuple[int, int, int], list[MeasuredCase]] = {}
        for index, part in enumerate(facets(own, (*LAYOUT, *GRIDS))):
            for case in part.cases:
                key = (case.cores, case.number("nodes"), index)
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
    """Whether there are several, which differ in more than how they are bound."""
    return not {*varying([case.settings for case in group])} <= {"bind", "thread_bind", *GRIDS}


def layout_of(case: MeasuredCase, apart: Sequence[str]) -> Settings:
    """What sets a layout apart, with the numbers that name its processes."""
    names = [*apart, *(["nodes"] if "ppn" in apart else [])]
    return {name: case.settings.get(name) for name in dict.fromkeys(names)}


def fastest_layout(
    group: Sequence[MeasuredCase], context: Context
) -> tuple[MeasuredCase, Claim, list[str]]:
    """The fastest of some layouts, what is said of it, and the settings that set them apart."""
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
        estimate = Estimate(min(over), None, None, 0, "none", band=band)
        ratio = Ratio(estimate, min(over), max(over), min(over))
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
