"""Ways to exchange, to overlap messages with work, to transpose, to bind, against the reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Contrast
from haloscope.analysis.exchanges import (
    BINDINGS,
    EXCHANGES,
    FACES,
    LINES,
    OPERATORS,
    OVERLAPS,
    TRANSPOSES,
    Ways,
    groups,
)
from haloscope.quantities import count, listed
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import between, place
from haloscope.study.settings import common, describe, varying

ORDER = 110


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Every way against the reference of its kernel: where it is faster or slower, by how much."""
    for ways in (EXCHANGES, FACES, OVERLAPS, TRANSPOSES, LINES, OPERATORS, BINDINGS):
        yield from _compared(ways, cases, context)


def _compared(ways: Ways, cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    by_pair: dict[tuple[str, str], list[Contrast]] = {}
    for _, compared in groups(cases, context.seed, ways):
        for contrast in (one for one in compared if one.verdict != "not measured"):
            pair = [measure.case.settings for measure in (contrast.second, contrast.first)]
            other, reference = (str(settings[ways.setting]) for settings in pair)
            by_pair.setdefault((other, reference), []).append(contrast)
    for (other, reference), alike in by_pair.items():
        by_verdict: dict[str, list[Contrast]] = {}
        for contrast in alike:
            by_verdict.setdefault(contrast.verdict, []).append(contrast)
        ordered = sorted(by_verdict.values(), key=len, reverse=True)
        told = [_told(own, alike, ways) for own in ordered]
        same = common([contrast.second.case.settings for contrast in alike])
        yield Finding(
            f"{ways.setting.capitalize()} {other} against {reference}, "
            f"{count(len(alike), 'setting')}{same and f' ({same})'}{place(alike[0].second.case)}: "
            f"{listed(told)}."
        )


def _told(own: Sequence[Contrast], alike: Sequence[Contrast], ways: Ways) -> str:
    """In how many settings; of those that differ by how much, and where most."""
    verdict = own[0].verdict
    ratios = [contrast.ratio.value for contrast in own if contrast.ratio]
    if verdict not in ("faster", "slower") or not ratios:
        return f"{verdict} in {len(own)}"
    names = varying([contrast.second.case.settings for contrast in alike])
    most = max(own, key=lambda one: abs(log(one.ratio.value)) if one.ratio else 0.0)
    where = describe(
        most.second.case.settings,
        [name for name in names if name not in (ways.setting, *ways.follows)],
    )
    times = (
        f"{between(ratios)} times as fast"
        if verdict == "faster"
        else f"takes {between([1 / ratio for ratio in ratios])} times as long"
    )
    greatest = "most " if len(own) > 1 else ""
    return f"{verdict} in {len(own)} ({times}{where and f', {greatest}with {where}'})"
