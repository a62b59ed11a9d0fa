# SPDX-License-Identifier: BSD-3-Clause
"""Iterations per second of the variants of poisson_cg by ranks, with the fastest marked."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.iteration_rates import Paces, paces
from haloscope.analysis.races import Race
from haloscope.quantities import PER_SECOND, number
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """A table for every combination of the other settings."""
    return [_table(one, context) for one in paces(cases)]


def _table(found: Paces, context: Context) -> Table:
    notebook = Notebook(found.part.cases, context.all_cases)
    run = {int(race.at): race for race in found.races(context.seed)}
    rows = tuple(_row(found, ranks, run.get(ranks), notebook) for ranks in found.by_ranks)
    if "pipelined" in found.variants and any(case.simulated for case in found.part.cases):
        notebook.note(
            "pipelined, simulated: its sum travels by itself while ranks compute, as a network "
            "that adds up, or a thread of its own, makes it do; libraries without either do less."
        )
    steps = {case.settings.get("s") for case in found.part.cases} - {None}
    if len(steps) == 1:
        notebook.note(f"sstep: with s = {steps.pop()} (haloscope describe poisson_cg).")
    return Table(
        id="iterations",
        kind="iterations",
        title=context.title("Iterations a second by variant", found.part.label),
        columns=(
            Column("ranks", "ranks", align="left"),
            *(Column(f"{name}_per_s", name, "iterations a second") for name in found.variants),
            Column("fastest", "fastest"),
            Column("fastest_over_textbook", "over textbook"),
        ),
        rows=rows,
        notes=notebook.notes(),
    )


def _row(found: Paces, ranks: int, race: Race[str] | None, notebook: Notebook) -> tuple[Cell, ...]:
    row = found.by_ranks[ranks]
    cells = []
    for name in found.variants:
        if name in row:
            case, rate = row[name]
            cells.append(notebook.estimate(rate, case, PER_SECOND))
        else:
            cells.append(missing())
    return (label(str(ranks), ranks), *cells, *_fastest(race))


def _fastest(race: Race[str] | None) -> tuple[Cell, Cell]:
    """The variant that is shown to be fastest by a test, and its rate over textbook's."""
    if race is None:
        return missing(), missing()
    if len(race.first) > 1:
        return missing("tie" if race.tied else "not shown"), missing()
    over = race.over("textbook") if "textbook" in race.against else None
    gain = missing() if over is None else plain(over, f"{number(over)} ×")
    return plain(race.best), gain
