# SPDX-License-Identifier: BSD-3-Clause
"""Findings on alternatives and their reference: exchanges, overlaps, bindings, variants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Contrast
from haloscope.analysis.context import Context
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric, Ratio, Verdict
from haloscope.grouped import grouped
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Setting, Settings, varying, with_nodes
from haloscope.topics.common.making import (
    extreme,
    made,
    needed_of,
    ratio_of,
    verdict_of,
)
from haloscope.topics.contrast import (
    BINDINGS,
    EXCHANGES,
    FACES,
    LINES,
    OPERATORS,
    OVERLAPS,
    TRANSPOSES,
    VARIANTS,
    Ways,
    both,
    groups,
)
from haloscope.topics.poisson import by_ranks

_TOPICS = {
    "exchange": ("exchange", "Halo exchange"),
    "overlap": ("spmv", "Overlap"),
    "transpose": ("fft", "Transpose"),
    "layout": ("fft", "Layout of lines"),
    "operator": ("heat", "Operator"),
    "bind": ("walltime", "Binding"),
    "thread_bind": ("walltime", "Binding of threads"),
    "variant": ("iterations", "Variant"),
}
_APART = (Verdict.FASTER, Verdict.SLOWER)


def ways(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield every alternative against the reference of its kernel: where it is faster or slower."""
    for own in (EXCHANGES, FACES, OVERLAPS, TRANSPOSES, LINES, OPERATORS, BINDINGS):
        yield from compared(own, cases, context)


def published(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield differences between published times of the same exchanges, over all cells with both.

    Beside cases of one cluster and variant, because a ratio depends on the program, too.
    """
    several = [one for _, found in groups(cases, context.seed, EXCHANGES) for one in found]
    pairs = {
        (str(one.second.case.settings["exchange"]), str(one.first.case.settings["exchange"])): one
        for one in several
    }
    for (other, reference), one in pairs.items():
        for found in both(context.library, one.second.case, other, reference):
            by_verdict = grouped(found.ratios, lambda one: _verdict(one[0]))
            ordered = sorted(by_verdict.items(), key=lambda item: len(item[1]), reverse=True)
            parts = [
                Claim(
                    {"exchange": other},
                    {"exchange": reference},
                    count=len(own),
                    ratio=_over(own),
                    verdict=verdict,
                )
                for verdict, own in ordered
            ]
            yield Finding(
                f"Halo exchange as published: {found.source}",
                FindingShape.COMPARISON,
                tuple(parts),
                topic="exchange",
                kind="published",
                of=len(found.ratios),
            )


def _verdict(ratio: float) -> Verdict:
    if ratio == 1:
        return Verdict.EQUAL
    return Verdict.FASTER if ratio > 1 else Verdict.SLOWER


def _over(ratios: Sequence[tuple[float, Settings]]) -> Ratio:
    _, where = max(ratios, key=lambda one: abs(log(one[0])))
    return Ratio.over([Estimate.alone(ratio) for ratio, _ in ratios], where)


def variants(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield variants of the solver over all settings that have several, except those by ranks.

    Nothing with too few launches: a study may have two variants only for comparison of one with
    published times.
    """
    reported = {case for found, _ in by_ranks(cases, context.seed) for case in found.part.cases}
    others = [case for case in cases if case not in reported]
    for finding in compared(VARIANTS, others, context):
        if {part.verdict for part in finding.parts} != {Verdict.UNDECIDED}:
            yield finding


def compared(own: Ways, cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield alternatives against their reference over all settings with both, one finding each."""

    def pair(one: Contrast) -> tuple[tuple[tuple[str, Setting], ...], ...]:
        return tuple(tuple(own.way(side.case).items()) for side in (one.second, one.first))

    every = [one for _, found in groups(cases, context.seed, own) for one in found]
    measured = [one for one in every if one.verdict != "not measured"]
    for alike in sorted(grouped(measured, pair).values(), key=lambda alike: -_decided(alike)):
        other, reference = own.apart(alike[0].second.case, alike[0].first.case)
        by_verdict = grouped(alike, verdict_of)
        ordered = sorted(by_verdict.items(), key=lambda it: (it[0] not in _APART, -len(it[1])))
        parts = [
            Claim(
                other,
                reference,
                count=len(these),
                ratio=ratio_of(these, _where(extreme(these), alike, own)),
                verdict=verdict,
                needed=needed_of(these),
            )
            for verdict, these in ordered
        ]
        most = extreme(alike)
        topic, question = _TOPICS[next(iter(other))]
        yield made(
            context,
            [measure.case for one in alike for measure in (one.first, one.second)],
            question,
            FindingShape.COMPARISON,
            parts,
            topic=topic,
            kind=next(iter(other)),
            metric=Metric("time of a step"),
            of=len(alike),
            but=(*other, *own.follows),
            near=[most.first.case, most.second.case],
        )


def _decided(alike: Sequence[Contrast]) -> int:
    return sum(verdict_of(one) in _APART for one in alike)


def _where(one: Contrast, alike: Sequence[Contrast], own: Ways) -> Settings:
    names = varying([contrast.second.case.settings for contrast in alike])
    kept = with_nodes(name for name in names if name not in own.parts)
    return {name: one.second.case.settings.get(name) for name in kept}
