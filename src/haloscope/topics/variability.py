# SPDX-License-Identifier: BSD-3-Clause
"""Variability between launches of a case: values, table, and figure.

Source: the task-mapping paper, section 5.4, figure 2 and table 4: means over 30 runs, and the
largest deviation of a run from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean, stdev

from haloscope.analysis.cases import MeasuredCase, name_of
from haloscope.analysis.context import Context
from haloscope.analysis.validation.published import source
from haloscope.quantities import MINUS, count, number, percent, seconds
from haloscope.topics.common.figure import Axis, Curve, Figure, Lines, Mark
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import Cell, Column, Table, label, plain, shown
from haloscope.topics.mapping import stands_for

FEWEST_LAUNCHES = 10
"""With fewer launches, the largest deviation mainly depends on their number."""
SETTLED = 0.01
"""SETTLED is the largest relative deviation of a running mean from the mean of all launches."""


@dataclass(frozen=True)
class Variability:
    """The launches of a case in the order in which they ran, relative to their mean.

    running: mean of the first n over the mean of all, for n from 1. settled: number of launches
    from which it stays within SETTLED; the last ones always do, so it is only meaningful if it is
    much smaller than their number.
    """

    case: MeasuredCase
    mean_s: float
    fastest: float
    slowest: float
    spread: float
    running: Sequence[float]

    @property
    def settled(self) -> int:
        """The number of launches from which the running mean stays within SETTLED of the last."""
        apart = [n for n, ratio in enumerate(self.running, start=1) if abs(ratio - 1) > SETTLED]
        return max(apart, default=0) + 1


def variabilities(cases: Sequence[MeasuredCase]) -> list[Variability]:
    """Return the variability of each case with enough launches that are not identical
    simulations.
    """
    return [_of(case) for case in cases if not case.alike and len(case.times_s) >= FEWEST_LAUNCHES]


def _of(case: MeasuredCase) -> Variability:
    times = case.times_s
    mean = fmean(times)
    sums = enumerate(accumulate(times), start=1)
    return Variability(
        case,
        mean,
        min(times) / mean,
        max(times) / mean,
        stdev(times) / mean,
        tuple(total / n / mean for n, total in sums),
    )


_COLUMNS = (
    Column("case", "case", align="left"),
    Column("launches", "launches"),
    Column("mean_s", "mean"),
    Column("standard_deviation", "standard deviation"),
    Column("fastest", "fastest"),
    Column("slowest", "slowest"),
    Column("settled", "settled after"),
)


def variability_tables(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Table]:
    """Variability between launches of each case: extremes, standard deviation, and convergence."""
    found = variabilities(cases)
    if not found:
        return
    own = [one.case for one in found]
    notebook = Notebook(own, context.all_cases)
    notebook.note(
        "Values are over whole launches, relative to their arithmetic mean, as in the literature. "
        "Other tables contain medians.",
        "fastest, slowest: launches farthest from the mean.",
        "settled after: number of launches after which the mean stays within "
        f"{percent(SETTLED)} of the final mean.",
    )
    for text in dict.fromkeys(text for case in own for text in _published(case.kernel, context)):
        notebook.note(text)
    yield notebook.table(
        "variability",
        context.title("Variability between launches"),
        _COLUMNS,
        (_row(one, own) for one in found),
    )


def why_no_variability_table(cases: Sequence[MeasuredCase], _: Context) -> str | None:
    """Return how many launches would be needed."""
    real = [len(case.times_s) for case in cases if case.launches and not case.alike]
    if not real:
        return None
    return f"requires {FEWEST_LAUNCHES} launches of a case; no case has more than {max(real)}"


def _row(one: Variability, among: Sequence[MeasuredCase]) -> tuple[Cell, ...]:
    return (
        label(name_of(one.case, among), case=one.case.id),
        plain(len(one.running)),
        shown(one.mean_s, seconds),
        shown(one.spread, percent),
        plain(one.fastest - 1, _deviation(one.fastest)),
        plain(one.slowest - 1, _deviation(one.slowest)),
        plain(one.settled),
    )


def _deviation(ratio: float) -> str:
    return f"{MINUS if ratio < 1 else '+'}{percent(abs(ratio - 1))}"


def _published(kernel: str, context: Context) -> Iterator[str]:
    for table in context.library.tables(("variability",)):
        if not stands_for(kernel, table.facts["kernel"]):
            continue
        program = str(table.facts["kernel"])
        for release in dict.fromkeys(row["release"] for row in table.rows):
            own = [row for row in table.rows if row["release"] == release]
            values = [f"±{row['variability_percent']:g} % with {row['ranks']} tasks" for row in own]
            yield (
                f"Published for {program}, release {release}: {', '.join(values)}: {source(table)}."
            )


MOST_CURVES = 8
"""MOST_CURVES is the maximum number of cases per figure: those with the largest scatter."""


def variability_figures(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Figure]:
    """Convergence of the mean with launches, relative to the mean of all, one curve per case."""
    every = variabilities(cases)
    found = sorted(every, key=lambda one: one.spread, reverse=True)[:MOST_CURVES]
    if not found:
        return
    own = [one.case for one in found]
    left_out = len(every) - len(found)
    notes = [
        "Relative to the mean of all launches, in order of execution.",
        "Bars at the last launch: fastest to slowest launch.",
    ]
    if left_out:
        notes.append(f"Cases with less variation are only in the table: {left_out}.")
    yield Figure(
        kind="variability",
        title=context.title("Convergence of the mean"),
        panels=(
            Lines(
                "variability",
                "Mean of the first launches",
                Axis("launches"),
                Axis("running mean / final mean", from_zero=False),
                tuple(_curve(one, own) for one in found),
            ),
        ),
        fewest=FEWEST_LAUNCHES,
        alt="Mean of the first launches / mean of all launches. " + " ".join(map(_in_words, found)),
        notes=tuple(notes),
    )


def _curve(one: Variability, among: Sequence[MeasuredCase]) -> Curve:
    marks = [Mark(n, ratio) for n, ratio in enumerate(one.running, start=1)]
    marks[-1] = Mark(marks[-1].x, marks[-1].y, one.fastest, one.slowest)
    return Curve(name_of(one.case, among) or "mean", tuple(marks))


def _in_words(one: Variability) -> str:
    return (
        f"{count(len(one.running), 'launch', 'launches')}: the first {number(one.running[0])}, "
        f"from {number(one.fastest)} to {number(one.slowest)}."
    )
