# SPDX-License-Identifier: BSD-3-Clause
"""Results that external programs print, one row per case, in their declared units."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.context import Context
from haloscope.analysis.results import names, number_of, scale, texts_of
from haloscope.report.tables.model import Cell, Column, Table, label, plain
from haloscope.report.tables.notebook import Notebook


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table a program."""
    own = [case for case in cases if case.external]
    kernels = dict.fromkeys(case.kernel for case in own)
    parts = ([case for case in own if case.kernel == kernel] for kernel in kernels)
    return [_table(part, context) for part in parts if names(part)]


def _table(cases: Sequence[MeasuredCase], context: Context) -> Table:
    notebook = Notebook(cases, context.all_cases)
    found = names(cases)
    rows = tuple(
        (
            label(label_of(case, cases), case=case.id),
            *(_cell(case, name, notebook) for name in found),
        )
        for case in cases
    )
    return Table(
        id="results",
        kind="results",
        title=context.title(f"Results of {cases[0].kernel}"),
        columns=(
            Column("case", "case", align="left"),
            *(Column(name, name.replace("_", " ")) for name in found),
        ),
        rows=rows,
        notes=notebook.notes(),
    )


def _cell(case: MeasuredCase, name: str, notebook: Notebook) -> Cell:
    """The median over launches of a number; a text, or each of several that launches printed."""
    if not case.launches:
        return notebook.absent(case)
    if sample := number_of(case, name):
        return notebook.estimate(case.estimate(sample), case, scale(case, name))
    return plain("; ".join(texts_of(case, name)) or None, "; ".join(texts_of(case, name)) or "–")
