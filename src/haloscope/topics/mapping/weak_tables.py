# SPDX-License-Identifier: BSD-3-Clause
"""Tables of weak scaling."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet
from haloscope.quantities import count, number
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import Cell, Column, Table, label, missing, plain
from haloscope.topics.mapping import PATTERNS, Spread, WeakScaling, named, weak_scalings


def weak_scaling_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Weak scaling by communication pattern: time relative to the fewest tasks on one node."""
    return [_weak_table(part, scaling, context) for part, scaling in weak_scalings(cases)]


def _weak_table(part: Facet, scaling: WeakScaling, context: Context) -> Table:
    notebook = Notebook(part.cases, context.all_cases)
    shown = [name for name in PATTERNS if any(name in one.patterns for one in scaling.spreads)]
    rows = tuple(_row(one, shown, scaling, notebook, context.seed) for one in scaling.spreads)
    between = "intermediate: between these; " if PATTERNS[1] in shown else ""
    notebook.note(
        f"reference: {count(scaling.reference.ranks, 'task')} on one node. work per task: "
        "operations relative to a task of the reference. Concentrated: the fewest nodes "
        f"that were measured with these tasks; distributed: the most; {between}block "
        "mapping."
    )
    return notebook.table(
        "weak_scaling", context.title("Weak scaling, by tasks", named(part)), _columns(shown), rows
    )


def _columns(patterns: Sequence[str]) -> tuple[Column, ...]:
    return (
        Column("tasks", "tasks", align="left"),
        Column("work_over_reference", "work per task"),
        *(
            column
            for pattern in patterns
            for column in (
                Column(f"{pattern}_nodes", "nodes", pattern),
                Column(f"{pattern}_s", "step", pattern),
                Column(f"{pattern}_over_reference", "/ reference", pattern),
            )
        ),
    )


def _row(
    one: Spread, patterns: Sequence[str], scaling: WeakScaling, notebook: Notebook, seed: int
) -> tuple[Cell, ...]:
    timed = next((case for case in one.cases.values() if case.launches), None)
    work = None if timed is None else scaling.work_over_reference(timed)
    cells = [cell for name in patterns for cell in _case(one, name, scaling, notebook, seed)]
    ratio = missing() if work is None else plain(work, f"{number(work)} ×")
    return (label(str(one.tasks), one.tasks), ratio, *cells)


def _case(
    one: Spread, pattern: str, scaling: WeakScaling, notebook: Notebook, seed: int
) -> tuple[Cell, ...]:
    case = one.patterns.get(pattern)
    if case is None:
        return (missing(), missing(), missing())
    ratio = scaling.over_reference(case, seed)
    over = notebook.estimate(ratio, case, ((1.0, "×"),)) if ratio else missing()
    return (plain(case.layout.nodes), notebook.time(case), over)
