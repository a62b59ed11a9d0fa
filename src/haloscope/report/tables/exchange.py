# SPDX-License-Identifier: BSD-3-Clause
"""Halo exchanges compared: blocking and non-blocking.

For every setting that was run with several: the time of each, how many times as fast it is as the
reference (the first in the order of `EXCHANGES`), and a test on launches with Holm's correction for
the number of comparisons in the table.
"""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.exchanges import EXCHANGES, FACES, Ways, groups
from haloscope.analysis.published import WALL_TIMES
from haloscope.report.tables.contrast import COLUMNS, cells, explain
from haloscope.report.tables.model import Cell, Column, Table, label, missing
from haloscope.report.tables.notebook import Notebook
from haloscope.study.settings import common


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Of the Poisson solver and of Jacobi: a table each over all settings, a row an exchange."""
    return [*contrasted(cases, context, EXCHANGES), *contrasted(cases, context, FACES)]


def contrasted(cases: Sequence[MeasuredCase], context: Context, ways: Ways) -> list[Table]:
    """The ways of a kernel: one table over all settings, a row a way; [] without several, or where
    none was measured.

    What all settings have in common stands in the title.
    """
    compared = groups(cases, context.seed, ways)
    if not compared:
        return []
    shown = [
        measure.case
        for _, contrasts in compared
        for measure in (contrasts[0].first, *(contrast.second for contrast in contrasts))
    ]
    if not any(case.launches for case in shown):
        return []
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
    return [
        Table(
            id=ways.setting,
            kind=ways.setting,
            title=context.title(ways.title, common([case.settings for case in shown])),
            columns=(
                Column("setting", "setting", align="left"),
                Column(ways.setting, ways.setting, align="left"),
                Column("time_s", "wall time"),
                *COLUMNS,
            ),
            rows=tuple(rows),
            notes=notebook.notes(),
            stub=2,
        )
    ]


def _named(
    case: MeasuredCase, ways: Ways, notebook: Notebook, context: Context
) -> tuple[Cell, Cell]:
    published = context.library.find(case, "time_s", WALL_TIMES)
    return label(str(case.settings[ways.setting])), notebook.time(case, published)
