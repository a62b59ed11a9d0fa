# SPDX-License-Identifier: BSD-3-Clause
"""Speedup of sparse products on the most processes, matrix by matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.scaling import Ladder, scalings
from haloscope.analysis.sweeps import level_of
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric, Ratio
from haloscope.topics.common import made, verdict_of
from haloscope.topics.poisson import efficiency_caveats

SHOWN = 6
"""SHOWN is the largest number of settings that have a finding each; of more, the ends."""


def products(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of each matrix, and whatever else differs: its most processes against its fewest."""
    found = []
    for scaling in scalings([case for case in cases if case.kernel == "spmv"]):
        for ladder in scaling.ladders:
            good = [case for case in ladder.steps.values() if case.launches]
            if len(good) > 1 and (finding := _speedup(ladder, good[-1], context)):
                found.append(finding)
    found.sort(key=_ratio, reverse=True)
    yield from found if len(found) <= SHOWN else (found[0], found[-1])


def _ratio(finding: Finding) -> float:
    ratio = finding.parts[0].ratio
    assert ratio is not None
    return ratio.estimate.value


def _speedup(ladder: Ladder, case: MeasuredCase, context: Context) -> Finding | None:
    contrast = ladder.against_base(case, context.seed)
    share, base = ladder.efficiency(case, context.seed), ladder.base
    if contrast is None or contrast.ratio is None or share is None or base is None:
        return None
    few, many = (level_of(_moved_bytes(each), each, context.machine) for each in (base, case))
    return made(
        context,
        [case, base],
        "Speedup of a sparse product",
        FindingShape.TREND,
        [
            Claim(
                {"cores": case.cores},
                {"cores": base.cores},
                ratio=Ratio.of(contrast.ratio),
                share=share.value,
                verdict=verdict_of(contrast),
            )
        ],
        topic="spmv",
        metric=Metric("time of a product"),
        caveats=efficiency_caveats(base, share, few != many),
        but=("nodes", "ppn", "threads"),
    )


def _moved_bytes(case: MeasuredCase) -> float:
    """What all processes read and write in a product, each once."""
    work = case.launches[0].work or {}
    return float(work.get("bytes") or 0)
