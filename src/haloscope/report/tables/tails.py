# SPDX-License-Identifier: BSD-3-Clause
"""Tails of repetitions: median, P95, and P99, each with an interval."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase, row_name
from haloscope.analysis.context import Context
from haloscope.analysis.tails import SHARES, Tail, most_repetitions, tails
from haloscope.quantities import SECONDS, count, listed, number, quantity
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook
from haloscope.stats.tails import needed


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table of all cases, and points of their sweeps, with repetitions enough for a P95."""
    found = [tail for case in cases for tail in tails(case)]
    if not found:
        return []
    shown = list(dict.fromkeys(tail.case for tail in found))
    notebook = Notebook(shown, context.all_cases)
    rows = tuple(_row(tail, cases, notebook) for tail in found)
    least = listed([f"{_name(share)} {needed(share)}" for share in SHARES])
    notebook.note(
        "Of repetitions, without warm-up; all other tables have medians of launches. Repetitions "
        f"that a percentile needs: {least}, of all launches together for its value and of each "
        "for its interval. Last over median: of the highest percentile that a row has."
    )
    return [
        Table(
            id="tails",
            kind="tails",
            title=context.title("Slow repetitions"),
            columns=(
                Column("case", "case", align="left"),
                Column("what", "of", align="left"),
                Column("repetitions", "repetitions"),
                Column("median_s", "median"),
                *(Column(f"p{100 * share:.0f}_s", _name(share)) for share in SHARES),
                Column("tail_over_median", "last over median"),
            ),
            rows=rows,
            notes=notebook.notes(),
            stub=2,
        )
    ]


def why_none(cases: Sequence[MeasuredCase], _: Context) -> str | None:
    """How many repetitions there would have to be."""
    real = [case for case in cases if case.launches and not case.simulated]
    if not real:
        return None
    least = min(SHARES)
    return (
        f"{_name(least)} takes {needed(least)} repetitions of all launches, and no case has more "
        f"than {max(map(most_repetitions, real))} without warm-up"
    )


def _name(share: float) -> str:
    return f"P{100 * share:.0f}"


def _row(tail: Tail, cases: Sequence[MeasuredCase], notebook: Notebook) -> tuple[Cell, ...]:
    known = [estimate for estimate in tail.at.values() if estimate is not None]
    ratio = known[-1].value / tail.median.value if tail.median.value > 0 else None
    launches = count(len(tail.case.launches), "launch", "launches")
    return (
        label(row_name(tail.case, cases), case=tail.case.id),
        label(tail.what or "step"),
        Cell(tail.repetitions, f"{tail.repetitions:,} in {launches}"),
        plain(tail.median.value, quantity(tail.median.value, SECONDS)),
        *(
            missing("too few repetitions")
            if estimate is None
            else notebook.estimate(estimate, tail.case, SECONDS)
            for estimate in tail.at.values()
        ),
        missing() if ratio is None else plain(ratio, f"{number(ratio)} ×"),
    )
