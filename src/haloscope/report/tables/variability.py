# SPDX-License-Identifier: BSD-3-Clause
"""Variability between launches of each case: extremes, standard deviation, and convergence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, name_of
from haloscope.analysis.context import Context
from haloscope.analysis.mappings import stands_for
from haloscope.analysis.published import source
from haloscope.analysis.variability import (
    FEWEST_LAUNCHES,
    SETTLED,
    Variability,
    variabilities,
)
from haloscope.quantities import MINUS, SECONDS, percent, quantity
from haloscope.report.tables.model import Cell, Column, Table, label, plain
from haloscope.report.tables.notebook import Notebook

_COLUMNS = (
    Column("case", "case", align="left"),
    Column("launches", "launches"),
    Column("mean_s", "mean"),
    Column("standard_deviation", "standard deviation"),
    Column("fastest", "fastest"),
    Column("slowest", "slowest"),
    Column("settled", "settled after"),
)


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table of all cases with launches enough."""
    found = variabilities(cases)
    if not found:
        return []
    own = [one.case for one in found]
    notebook = Notebook(own, context.all_cases)
    notebook.note(
        "Of whole launches, and their arithmetic mean, as the field's papers have it; all other "
        "tables have medians. fastest, slowest: the launch farthest from the mean on either side. "
        f"settled after: from so many launches on, the mean stays within {percent(SETTLED)} of "
        "that of all."
    )
    for text in dict.fromkeys(text for case in own for text in _published(case.kernel, context)):
        notebook.note(text)
    return [
        Table(
            id="variability",
            kind="variability",
            title=context.title("How launches differ"),
            columns=_COLUMNS,
            rows=tuple(_row(one, own) for one in found),
            notes=notebook.notes(),
        )
    ]


def why_none(cases: Sequence[MeasuredCase], _: Context) -> str | None:
    """How many launches there would have to be."""
    real = [len(case.times_s) for case in cases if case.launches and not case.alike]
    if not real:
        return None
    return f"it takes {FEWEST_LAUNCHES} launches of a case, and none has more than {max(real)}"


def _row(one: Variability, among: Sequence[MeasuredCase]) -> tuple[Cell, ...]:
    return (
        label(name_of(one.case, among), case=one.case.id),
        plain(len(one.running)),
        plain(one.mean_s, quantity(one.mean_s, SECONDS)),
        plain(one.spread, percent(one.spread)),
        plain(one.fastest - 1, _deviation(one.fastest)),
        plain(one.slowest - 1, _deviation(one.slowest)),
        plain(one.settled),
    )


def _deviation(ratio: float) -> str:
    return f"{MINUS if ratio < 1 else '+'}{percent(abs(ratio - 1))}"


def _published(kernel: str, context: Context) -> Iterator[str]:
    """What a paper says of how runs of programs that are like the kernel differ."""
    for table in context.library.tables(("variability",)):
        if not stands_for(kernel, table.facts["kernel"]):
            continue
        program = str(table.facts["kernel"])
        for release in dict.fromkeys(row["release"] for row in table.rows):
            own = [row for row in table.rows if row["release"] == release]
            told = [f"±{row['variability_percent']:g} % with {row['ranks']} tasks" for row in own]
            yield f"Published of {program}, release {release}: {', '.join(told)}: {source(table)}."
