# SPDX-License-Identifier: BSD-3-Clause
"""The report of a comparison of two result folders: speedups and differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from haloscope.analysis.cases import own_settings
from haloscope.analysis.comparison import (
    FEW_ALLOCATIONS,
    NO_DIFFERENCE,
    OPEN,
    UNDECIDED,
    UNTESTABLE,
    Contrast,
)
from haloscope.analysis.dossier import Dossier
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Claim, Finding, FindingShape
from haloscope.findings.words import pace
from haloscope.grouped import grouped
from haloscope.quantities import count, number, percent
from haloscope.report.compared import Compared
from haloscope.report.composing import trusted
from haloscope.report.document import Document, Section
from haloscope.report.method import machine_facts, toolchain_facts
from haloscope.topics import arranged
from haloscope.topics.common.figure import (
    Axis,
    Curve,
    Figure,
    Lines,
    Mark,
    around_one,
    mark,
    second_ticks,
)
from haloscope.topics.common.making import (
    VERDICTS,
    band_within,
    extreme,
    needed_of,
    ratio_of,
)
from haloscope.topics.common.words import tests_of

_STYLES = {"faster": 2, "slower": 1, "equal": 4, **dict.fromkeys(OPEN, 3)}
"""Colours for faster, slower, and equal; the first colour if no difference is shown."""


def document(
    first: Dossier, second: Dossier, compared: Compared, found: Sequence[Finding]
) -> Document:
    """Return the report with its figure and tables. found: see `findings`."""
    details = [replace(compared.details, folded=True)] if compared.details else []
    tables = [*compared.tables, *details]
    figures = [one for one in [_figure(compared.contrasts, compared.names)] if one.shows_enough]
    section = Section(
        "compared", f"{' and '.join(compared.names)} compared", tuple(figures), tuple(tables)
    )
    return Document(
        title=" against ".join(reversed(compared.names)),
        summary=f"{compared.names[0]}: {first.title}. {compared.names[1]}: {second.title}.",
        findings=tuple(found),
        sections=(section,),
        left_out=compared.notes,
        machine=machine_facts(second.machine),
        toolchains=toolchain_facts([*first.records, *second.records]),
        method=(
            "Cases are matched by kernel, parameters, and layout. Tests compare medians "
            f"over launches ({tests_of(compared.contrasts)}), with Holm's correction. "
            "Ratios have bootstrap intervals for 6 or more launches, otherwise the range. On a "
            "batch system, confidence intervals are computed over allocations.",
        ),
        provenance=(
            (compared.names[0], str(first.path.resolve())),
            (compared.names[1], str(second.path.resolve())),
            ("records", f"{len(first.records)} and {len(second.records)}"),
        ),
        imported=all(record.imported for record in (*first.records, *second.records)),
        **trusted([*first.cases, *second.cases]),
    )


def findings(compared: Compared, warnings: Sequence[Finding] = ()) -> list[Finding]:
    """Return how many comparisons are faster or slower, and the largest differences."""
    among = [one.first.case for one in compared.contrasts]
    by_verdict = grouped(compared.contrasts, lambda one: one.verdict)
    order = (*VERDICTS, "not measured")
    parts = []
    for verdict, own in sorted(by_verdict.items(), key=lambda item: order.index(item[0])):
        shown = verdict in ("faster", "slower", NO_DIFFERENCE)
        most = extreme(own)
        where = {**own_settings(most.first.case, among), "point": most.first.what}
        parts.append(
            Claim(
                {"folder": compared.names[1]},
                {"folder": compared.names[0]},
                count=len(own),
                ratio=ratio_of(own, where) if shown else None,
                verdict=VERDICTS.get(verdict),
                needed=needed_of(own),
                band=band_within(own),
            )
        )
    caveats = [
        caveat
        for caveat, verdict in (
            (Caveat.TOO_FEW, UNTESTABLE),
            (Caveat.ONE_ALLOCATION, UNDECIDED),
            (Caveat.FEW_ALLOCATIONS, FEW_ALLOCATIONS),
        )
        if verdict in by_verdict
    ]
    result = Finding(
        question="Comparison",
        shape=FindingShape.COMPARISON,
        parts=tuple(parts),
        topic="compared",
        of=len(compared.contrasts),
        caveats=tuple(caveats),
        cases=tuple(dict.fromkeys(case.id for case in among)),
        kind="comparison",
    )
    return arranged([result, *warnings])


def _figure(contrasts: Sequence[Contrast], names: tuple[str, str]) -> Figure:
    """Return a figure of speedup by time of the first folder, with one colour per verdict."""
    comparable = [
        one for one in contrasts if one.ratio and one.first.time and one.first.time.value > 0
    ]
    curves = [
        Curve(verdict, tuple(map(_mark, own)), joined=False, style=_STYLES.get(verdict, 0))
        for verdict, own in grouped(comparable, lambda one: one.verdict).items()
    ]
    marks = [one for curve in curves for one in curve.marks]
    x = [one.x for one in marks]
    same = [Curve("equal", (Mark(min(x), 1.0), Mark(max(x), 1.0)), bound=True)] if x else []
    return Figure(
        kind="compared",
        title=f"Speedup of {names[1]} over the baseline {names[0]}",
        panels=(
            Lines(
                "ratio",
                "",
                Axis("median time of the baseline", "log", second_ticks(x))
                if x
                else Axis("median time of the baseline (s)", "log"),
                around_one(
                    "speedup",
                    [one.y for one in marks],
                    [end for one in marks for end in (one.low, one.high, *_error(one)) if end],
                ),
                (*same, *curves),
            ),
        ),
        alt=f"Speedup by time of {names[0]}, {count(len(comparable), 'comparison')}: "
        + "; ".join(_in_words(curve) for curve in curves)
        + ".",
        notes=(
            "Bars: bootstrap interval of the ratio of medians, or its range if there are few "
            "launches.",
        )
        * any(one.low is not None for one in marks),
    )


def _mark(one: Contrast) -> Mark:
    assert one.ratio is not None and one.first.time is not None
    return mark(one.first.time.value, one.ratio)


def _error(one: Mark) -> tuple[float, ...]:
    """Return the ends of the error of a simulated ratio."""
    return (one.y / one.band, one.y * one.band) if one.band else ()


def _in_words(curve: Curve) -> str:
    values = [one.y for one in curve.marks]
    return f"{len(values)} {curve.label}, {number(min(values))} to {number(max(values))}"


def larger(one: Contrast, share: float) -> bool:
    """Return whether a slower second takes longer by more than a share; True without a ratio."""
    return one.ratio is None or 1 / one.ratio.value - 1 > share


def describe(one: Contrast, second: str) -> str:
    """Describe a comparison in a line: verdict, ratio, and the relative difference of times."""
    verdict = f"{second} is {one.verdict}" if one.verdict in _SIGNS else one.verdict
    if one.ratio is None:
        return verdict
    longer = 1 / one.ratio.value - 1
    way = "longer" if longer > 0 else "shorter"
    return f"{verdict}: {pace(one.ratio.value, one.ratio.value)}, {percent(abs(longer))} {way}"


_SIGNS = ("faster", "slower")
