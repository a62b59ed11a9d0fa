# SPDX-License-Identifier: BSD-3-Clause
"""Ways to exchange, to overlap messages with work, to transpose, to bind, against the reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log
from statistics import median

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import UNTESTABLE, Contrast
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
from haloscope.quantities import count, listed, number
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import enough_launches, on_emulated, on_steps, place, spread, times
from haloscope.study.settings import Settings, common, describe, varying

ORDER = 110
ANSWERS = ("exchange", "overlap", "operator", "bind", "fft", "heat")
MANY = 2
"""MANY is the largest number of settings whose ends say as much as a median does."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Every way against the reference of its kernel: where it is faster or slower, by how much."""
    for ways in (EXCHANGES, FACES, OVERLAPS, TRANSPOSES, LINES, OPERATORS, BINDINGS):
        yield from compared(ways, cases, context)


def compared(
    ways: Ways, cases: Sequence[MeasuredCase], context: Context, *, untold: bool = True
) -> Iterator[Finding]:
    """Ways against their reference, a sentence each, over all settings that have both.

    untold: whether to say so of a way that launches are too few to tell of in every setting.
    """
    by_pair: dict[tuple[str, str], list[Contrast]] = {}
    for _, found in groups(cases, context.seed, ways):
        for contrast in (one for one in found if one.verdict != "not measured"):
            pair = [measure.case.settings for measure in (contrast.second, contrast.first)]
            other, reference = (str(settings[ways.setting]) for settings in pair)
            by_pair.setdefault((other, reference), []).append(contrast)
    for (other, reference), alike in by_pair.items():
        by_verdict: dict[str, list[Contrast]] = {}
        for contrast in alike:
            by_verdict.setdefault(contrast.verdict, []).append(contrast)
        if set(by_verdict) == {UNTESTABLE} and not untold:
            continue
        ordered = sorted(by_verdict.values(), key=len, reverse=True)
        told = listed([_told(own, alike, ways, context) for own in ordered])
        if set(by_verdict) == {UNTESTABLE}:
            told = enough_launches(alike[0].family)
        case = alike[0].second.case
        where = place(case) + on_emulated(case)
        yield Finding(
            f"{ways.setting.capitalize()} {other} against {reference}"
            f"{_of(alike, ways)}{where}: {told}."
        )


def _of(alike: Sequence[Contrast], ways: Ways) -> str:
    """How many settings have both, with what they have in common."""
    same = common([_but(ways.setting, contrast.second.case.settings) for contrast in alike])
    if len(alike) == 1:
        return f" ({same})" if same else ""
    return f", {count(len(alike), 'setting')}{same and f' ({same})'}"


def _told(own: Sequence[Contrast], alike: Sequence[Contrast], ways: Ways, context: Context) -> str:
    """In how many settings, where there are several; of those that differ by how much, and where.

    Of the one that differs most, how sure that is, and whether it is near a step of the model.
    """
    verdict = own[0].verdict
    ratios = [contrast.ratio.value for contrast in own if contrast.ratio]
    counted = f"{verdict} in {len(own)}" if len(alike) > 1 else str(verdict)
    if verdict not in ("faster", "slower") or not ratios:
        return counted
    most = max(own, key=lambda one: abs(log(one.ratio.value)) if one.ratio else 0.0)
    assert most.ratio is not None
    where = _where(most, alike, ways)
    most_with = f", {'most ' if len(own) > 1 else ''}with {where}" if where else ""
    sure = spread(most.ratio if verdict == "faster" else most.ratio.rate(1.0)).strip(" ()")
    sure = sure and f"{': ' if most_with else ', '}{sure}"
    pair = [(str(one.case.settings[ways.setting]), one.case) for one in (most.second, most.first)]
    but = on_steps(pair, context.machine)
    return f"{counted} ({_times(verdict, ratios)}{most_with}{sure}{but})"


def _but(name: str, settings: Settings) -> Settings:
    return {key: value for key, value in settings.items() if key != name}


def _times(verdict: str, ratios: Sequence[float]) -> str:
    """By how much, with the median of many settings."""
    faster = verdict == "faster"
    told = list(ratios) if faster else [1 / ratio for ratio in ratios]
    middle = f", median {number(median(told))}" if len(told) > MANY else ""
    if faster:
        return f"{times(told)} times as fast{middle}"
    return f"takes {times(told)} times as long{middle}"


def _where(one: Contrast, alike: Sequence[Contrast], ways: Ways) -> str:
    """What sets a setting apart from the others that have both ways."""
    names = varying([contrast.second.case.settings for contrast in alike])
    kept = [name for name in names if name not in (ways.setting, *ways.follows)]
    return describe(one.second.case.settings, kept)
