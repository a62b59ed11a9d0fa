# SPDX-License-Identifier: BSD-3-Clause
"""Findings on phases of heat conduction, and on sections of molecular dynamics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric
from haloscope.topics.common.making import made
from haloscope.topics.phases.analysis import in_sections, shares

LONGEST = 3
LEAST = 0.03
SOLVE, STEP = Metric("time of a solve"), Metric("time of a step")


def heat(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the longest phases of each operator, on the most processes and the most nodes with
    these.
    """
    own = [case for case in cases if case.kernel == "fe_heat" and case.launches and shares(case)]
    if not own:
        return
    most = max(own, key=lambda case: (case.ranks, case.layout.nodes))
    for case in own:
        alike = (case.ranks, case.cores, case.settings["nodes"])
        if alike == (most.ranks, most.cores, most.settings["nodes"]):
            yield _longest(case, case, "A solve of heat conduction", "heat", context)


def sections(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the sections of each kernel for the fewest and the most tasks, on the fewest nodes."""
    own = [case for case in cases if case.time and (known := in_sections(case)) and shares(known)]
    for kernel in dict.fromkeys(case.kernel for case in own):
        ordered = sorted(
            (case for case in own if case.kernel == kernel),
            key=lambda case: (case.ranks, case.layout.nodes),
        )
        most = next(case for case in ordered if case.ranks == ordered[-1].ranks)
        for case in dict.fromkeys((ordered[0], most)):
            known = in_sections(case)
            assert known is not None
            yield _longest(case, known, f"A step of {kernel}", "phases", context)


def _longest(
    case: MeasuredCase, phased: MeasuredCase, question: str, topic: str, context: Context
) -> Finding:
    longest = sorted(shares(phased), key=lambda phase: -phase.share.value)[:LONGEST]
    worth = [phase for phase in longest if phase.share.value >= LEAST] or longest[:1]
    parts = [Claim({"phase": phase.name}, share=phase.share.value) for phase in worth]
    return made(
        context, [case], question, FindingShape.BREAKDOWN, [Claim(estimate=case.time), *parts],
        topic=topic, metric=SOLVE if topic == "heat" else STEP,
    )  # fmt: skip
