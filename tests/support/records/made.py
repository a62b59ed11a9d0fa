# SPDX-License-Identifier: BSD-3-Clause
"""Tables and figures of one kind, as a study would ask for them, from records."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any

from recorded import MACHINE, Raw, cases, poisson

from haloscope.analysis.context import Context
from haloscope.papers import tables as papers
from haloscope.papers.tables import Paper
from haloscope.study.kinds import Options
from haloscope.topics import figures, tables
from haloscope.topics.common.figure import Figure, Lines
from haloscope.topics.common.table import Table


def build(
    kind: str,
    raws: list[Raw],
    paper: str | None = None,
    *,
    machine: Raw | None = MACHINE,
    shelf: Sequence[Paper] = (),
    **options: Any,
) -> list[Table]:
    """Tables of these records; options as in Options."""
    measured = cases(raws)
    context = Context(
        options=Options(**options),
        paper=papers.load(paper) if paper else None,
        shelf=shelf,
        machine=machine,
        all_cases=measured,
    )
    return tables.build(kind, measured, context)


def draw(kind: str, raws: list[Raw]) -> list[Figure]:
    """Figures of these records, before anything is drawn."""
    return figures.build(kind, cases(raws), Context(machine=MACHINE))


def column(table: Table, key: str) -> list[Any]:
    """The cells of one column."""
    index = [column.key for column in table.columns].index(key)
    return [row[index] for row in table.rows]


def panels(figure: Figure) -> list[Lines]:
    """All panels of a figure that has lines alone."""
    assert all(isinstance(panel, Lines) for panel in figure.panels)
    return [panel for panel in figure.panels if isinstance(panel, Lines)]


def texts(table: Table) -> list[list[str]]:
    """What its cells say to people."""
    shown = [not column.only_csv for column in table.columns]
    return [[cell.text for cell in compress(row, shown)] for row in table.rows]


def launches(n: int, times: list[float], **settings: object) -> list[Raw]:
    """Launches of the Poisson solver that took these seconds."""
    return [
        poisson(n, launch=k, time_s=time, **settings)  # type: ignore[arg-type]
        for k, time in enumerate(times)
    ]
