# SPDX-License-Identifier: BSD-3-Clause
"""Tables and figures that compare alternatives: one row each, with a test over launches.

For every setting that was run with several: the time of each, its speedup relative to the reference
(the first in the order of `EXCHANGES`), and a test over launches with Holm's correction for the
number of comparisons in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import (
    ALPHA,
    FEW_ALLOCATIONS,
    OPEN,
    UNTESTABLE,
    Contrast,
    launches_needed,
)
from haloscope.analysis.context import Context
from haloscope.analysis.validation.published import WALL_TIMES, source
from haloscope.grouped import grouped
from haloscope.layout import CORES
from haloscope.papers.file import PublishedValue
from haloscope.papers.tables import PaperTable
from haloscope.quantities import count, number, printed_seconds, probability, within
from haloscope.study.settings import common, describe, varying
from haloscope.topics.common.figure import (
    OVER_PROCESSES,
    Axis,
    Curve,
    Figure,
    Lines,
    Mark,
    bars,
    counts,
    mark,
    ratio_ticks,
)
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import Cell, Column, Table, Tone, label, missing, plain
from haloscope.topics.common.words import tests_of
from haloscope.topics.contrast import (
    BINDINGS,
    EXCHANGES,
    FACES,
    LINES,
    OPERATORS,
    OVERLAPS,
    PRINTED_OVERLAPS,
    TRANSPOSES,
    Ways,
    groups,
)

COLUMNS = (
    Column("times_as_fast", "speedup"),
    Column("p_adjusted", "p"),
    Column("verdict", "verdict", align="left"),
)
ALONE = "nothing to compare with"
"""ALONE is the verdict if the reference was not measured."""
_TONES: Mapping[str, Tone] = {"faster": "good", "slower": "bad", "not measured": "warning"}


def cells(contrast: Contrast, notebook: Notebook) -> tuple[Cell, Cell, Cell]:
    """Return the ratio with its interval, the corrected p-value of a possible test, and the
    verdict.
    """
    alone = contrast.verdict == "not measured" and contrast.second.time is not None
    text = ALONE if alone else contrast.verdict
    verdict = Cell(text, text, tone=_TONES.get(contrast.verdict, ""))
    p = plain(contrast.adjusted, probability(contrast.adjusted))
    if contrast.adjusted is None or contrast.verdict in OPEN:
        p = missing()
    return ratio_cell(contrast, notebook), p, verdict


def ratio_cell(contrast: Contrast, notebook: Notebook) -> Cell:
    """Return the ratio of a contrast with its interval and, for simulated times, its error."""
    ratio = contrast.ratio
    if ratio is None:
        return missing()
    cell = notebook.estimate(ratio, contrast.second.case)
    if ratio.band is None:
        return cell
    notebook.note("speedup of simulated times: ± is the error of the ratio of the two times.")
    error = within(ratio.band)
    if ratio.low is not None:
        return replace(cell, spread=f"{cell.spread} {error}")
    return replace(cell, low=ratio.value / ratio.band, high=ratio.value * ratio.band, spread=error)


def explain(shown: Sequence[Contrast], notebook: Notebook) -> None:
    """Add notes on the test and its correction."""
    tests = [contrast for contrast in shown if contrast.comparison]
    if tests:
        if tests[0].family > 1:
            number_of = count(tests[0].family, "comparison")
            notebook.note(f"The p-values are corrected for {number_of} by Holm's method.")
        notebook.note(
            "The speedup is a ratio of medians.",
            f"Test for p: {tests_of(tests)}; a difference is significant at p ≤ {ALPHA}.",
        )
    if any(map(_apart_alone, tests)):
        notebook.note(
            "An interval may exclude 1 without a significant difference, because only p is "
            "corrected for all comparisons."
        )
    if any(contrast.verdict == UNTESTABLE for contrast in shown):
        notebook.note(f"With so few launches, no difference can be significant (p ≤ {ALPHA}).")
    if any(contrast.verdict == FEW_ALLOCATIONS for contrast in shown):
        needed = launches_needed(tests[0].family)
        notebook.note(
            f"A significant difference requires {needed} allocations of each case "
            f"(--allocations {needed})."
        )


def _apart_alone(contrast: Contrast) -> bool:
    """Return whether an interval excludes 1 though the corrected test shows no difference."""
    ratio = contrast.ratio
    if contrast.verdict in ("faster", "slower") or ratio is None or ratio.confidence is None:
        return False
    return ratio.excludes(1.0)


def contrasted(cases: Sequence[MeasuredCase], context: Context, ways: Ways) -> Iterator[Table]:
    """Return one table of a kernel's alternatives over all settings, one row each.

    [] without several, or if none was measured.
    """
    compared = groups(cases, context.seed, ways)
    if not compared:
        return
    shown = [
        measure.case
        for _, contrasts in compared
        for measure in (contrasts[0].first, *(contrast.second for contrast in contrasts))
    ]
    if not any(case.launches for case in shown):
        return
    notebook = Notebook(shown, context.all_cases)
    rows: list[tuple[Cell, ...]] = []
    for name, contrasts in compared:
        reference = contrasts[0].first.case
        blank = (missing("reference"), missing(""), missing(""))
        rows.append((label(name), *_named(reference, ways, notebook, context), *blank))
        for contrast in contrasts:
            head = (label("", name), *_named(contrast.second.case, ways, notebook, context))
            rows.append((*head, *cells(contrast, notebook)))
    explain([contrast for _, contrasts in compared for contrast in contrasts], notebook)
    yield notebook.table(
        ways.setting,
        context.title(ways.title, common([case.settings for case in shown])),
        (
            Column("setting", "setting", align="left"),
            Column(ways.setting, ways.setting, align="left"),
            Column("time_s", "wall time"),
            *COLUMNS,
        ),
        rows,
        stub=2,
    )


def _named(
    case: MeasuredCase, ways: Ways, notebook: Notebook, context: Context
) -> tuple[Cell, Cell]:
    published = context.library.find(case, "time_s", WALL_TIMES)
    first, *second = ways.way(case).values()
    own = ", ".join([str(first), *(f"threads {one}" for one in second)])
    return label(own), notebook.time(case, published)


def overlap_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Comparison of ways to overlap messages with the sparse matrix-vector product."""
    # emulated times are not compared with those of a GPU
    emulated = any(case.emulated for case in cases)
    published = context.library.tables(("overlap",))
    notes = () if emulated else tuple(_published_overlap(table) for table in published)
    tables = contrasted(cases, context, OVERLAPS)
    return [replace(table, notes=(*table.notes, *notes)) for table in tables]


def _published_overlap(table: PaperTable) -> str:
    def seconds(row: Mapping[str, PublishedValue]) -> float:
        return float(str(row["time_s"]))

    base = table.rows[0]
    times = [
        f"{PRINTED_OVERLAPS[str(row['overlap'])]} ({row['overlap']}) "
        f"{printed_seconds(seconds(row), table.resolution_s)}"
        + ("" if row is base else f" ({number(seconds(base) / seconds(row), 3)}x)")
        for row in table.rows
    ]
    facts = table.facts
    return (
        f"Published for another matrix: {source(table)}: {', '.join(times)}; "
        f"{facts['matrix']}, {facts['ranks']} processes, {facts['memory']} memory. "
        f"{' '.join(table.notes)}"
    )


_COLOURS = 8
_SIZE = (*CORES, "places")


def contrast_figures(
    cases: Sequence[MeasuredCase], context: Context, ways: Ways
) -> Iterator[Figure]:
    """Return one figure of all settings that have several alternatives; [] without any."""
    found = [
        contrast
        for _, several in groups(cases, context.seed, ways)
        for contrast in several
        if contrast.ratio is not None
    ]
    if not found:
        return
    curves = _curves(found, ways)
    cores = [contrast.second.case.cores for contrast in found]
    first = min(found, key=lambda contrast: ways.position(contrast.first.case))
    reference = next(iter(ways.apart(first.first.case, first.second.case)[0].values()))
    errors = sorted({one.ratio.band for one in found if one.ratio and one.ratio.band})
    level = tuple(Mark(at, 1.0) for at in sorted({*cores}))
    even = [Curve(f"as fast as {reference}", level, bound=True)] if len(level) > 1 else []
    every = [one.y for curve in curves for one in curve.marks]
    panel = Lines(
        "times_as_fast",
        "",
        Axis("cores", "log2", counts(cores)),
        Axis(f"speedup over {reference}", "log", ratio_ticks(every)),
        (*even, *curves),
        bands=tuple((1 / factor, factor) for factor in errors[:1]),
    )
    shown = [measure.case for one in found for measure in (one.first, one.second)]
    yield Figure(
        kind=ways.setting,
        title=context.title(ways.title, common([case.settings for case in shown])),
        panels=(panel,),
        fewest=1 if len(found) > OVER_PROCESSES else OVER_PROCESSES,
        alt=f"Speedup over {reference}: {number(min(every))} to {number(max(every))}.",
        notes=(
            f"One point per setting: time with {reference} / time with the other.",
            *_shaded(errors),
            *bars(shown, [panel]),
        ),
        cases=tuple(dict.fromkeys(case.id for case in shown)),
    )


def _shaded(errors: Sequence[float]) -> list[str]:
    """Describe the shading: the smallest error of the points, and the size of others."""
    if not errors:
        return []
    up_to = f", for some points up to {within(errors[-1])}" if errors[-1] > errors[0] else ""
    return [f"Shaded: within the simulation's error, {within(errors[0])}{up_to}."]


def _curves(found: Sequence[Contrast], ways: Ways) -> list[Curve]:
    every = [contrast.second.case.settings for contrast in found]
    names = [name for name in varying(every) if name not in (*_SIZE, *ways.follows)]
    names.sort(key=lambda name: name != ways.setting)
    while len({describe(one, names) for one in every}) > _COLOURS:
        names.pop()

    def named(contrast: Contrast) -> str:
        settings = contrast.second.case.settings
        return describe(settings, names) or str(settings[ways.setting])

    return [
        Curve(label, tuple(sorted(map(_mark, own), key=lambda one: one.x)), joined=False)
        for label, own in grouped(found, named).items()
    ]


def _mark(contrast: Contrast) -> Mark:
    assert contrast.ratio is not None
    # the error is shaded for all points
    return replace(mark(contrast.second.case.cores, contrast.ratio), band=None)


_Item = TypeVar("_Item", Table, Figure)


def _of(
    build: Callable[[Sequence[MeasuredCase], Context, Ways], Iterator[_Item]],
    summary: str,
    *every: Ways,
) -> Callable[[Sequence[MeasuredCase], Context], Iterator[_Item]]:
    """Return a builder for these alternatives. summary: what the documentation lists, of tables."""

    def built(cases: Sequence[MeasuredCase], context: Context) -> Iterator[_Item]:
        return (one for ways in every for one in build(cases, context, ways))

    built.__doc__ = summary
    return built


exchange_tables = _of(
    contrasted, "Comparison of blocking and non-blocking halo exchanges.", EXCHANGES, FACES
)
bind_tables = _of(
    contrasted,
    "Comparison of bindings of processes and threads: close, spread, and none.",
    BINDINGS,
)
layout_tables = _of(
    contrasted,
    "Comparison of orders in which the lines of a Fourier transform are processed.",
    LINES,
)
operator_tables = _of(
    contrasted, "Comparison of assembled and matrix-free finite elements.", OPERATORS
)
transpose_tables = _of(
    contrasted,
    "Comparison of ways to transpose an array that is distributed over processes.",
    TRANSPOSES,
)
exchange_figures = _of(contrast_figures, "", EXCHANGES, FACES)
transpose_figures = _of(contrast_figures, "", TRANSPOSES)
overlap_figures = _of(contrast_figures, "", OVERLAPS)
bind_figures = _of(contrast_figures, "", BINDINGS)
