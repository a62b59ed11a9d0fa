"""Ways to exchange halos, and to overlap messages with work, against the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import log

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Contrast
from haloscope.analysis.exchanges import EXCHANGES, OVERLAPS, Ways, groups
from haloscope.quantities import count, listed, number
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.study.settings import common, describe, varying

ORDER = 110


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Every way against the reference of its kernel: how many times it was faster or slower."""
    for ways in (EXCHANGES, OVERLAPS):
        yield from _compared(ways, cases, context)


def _compared(ways: Ways, cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    by_pair: dict[tuple[str, str], list[Contrast]] = {}
    for _, compared in groups(cases, context.seed, ways):
        for contrast in compared:
            pair = [measure.case.settings for measure in (contrast.second, contrast.first)]
            other, reference = (str(settings[ways.setting]) for settings in pair)
            by_pair.setdefault((other, reference), []).append(contrast)
    for (other, reference), alike in by_pair.items():
        verdicts = Counter(contrast.verdict for contrast in alike)
        words = [f"{verdict} in {number_of}" for verdict, number_of in verdicts.most_common()]
        same = common([contrast.second.case.settings for contrast in alike])
        yield Finding(
            f"{ways.setting.capitalize()} {other} against {reference}, "
            f"{count(len(alike), 'setting')}{same and f' ({same})'}: {listed(words)}"
            f"{_most(alike, ways)}."
        )


def _most(alike: Sequence[Contrast], ways: Ways) -> str:
    """Where the greatest of several differences is, and how great."""
    differ = [
        (contrast.ratio.value, contrast.second.case.settings)
        for contrast in alike
        if contrast.verdict in ("faster", "slower") and contrast.ratio
    ]
    if len(differ) < 2:
        return ""
    ratio, settings = max(differ, key=lambda each: abs(log(each[0])))
    names = varying([contrast.second.case.settings for contrast in alike])
    where = describe(settings, [name for name in names if name != ways.setting])
    return f"; most, {number(ratio)} times as fast, with {where}"
