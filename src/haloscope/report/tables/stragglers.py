# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that compute longer than others, and the share of a step that the others wait."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, row_name
from haloscope.analysis.context import Context
from haloscope.analysis.tails import Waiting, waiting
from haloscope.quantities import PERCENT, SECONDS, count, number
from haloscope.report.tables.model import Cell, Column, Table, label, plain
from haloscope.report.tables.notebook import Notebook, spread_text

MOST = 4
"""MOST is the largest number of ranks of a case that are shown: those that compute longest."""


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table of all cases whose records say what each rank computed."""
    found = [one for case in cases if (one := waiting(case)) is not None]
    if not found:
        return []
    notebook = Notebook([one.case for one in found], context.all_cases)
    rows = tuple(row for one in found for row in _rows(one, cases, notebook))
    notebook.note(
        "waiting: by how much the rank that computes longest does so longer than the mean rank, of "
        "a step; messages that are late for other reasons are not in it. All are means over "
        "steps, of which a few may have been slow: a median step can take less."
    )
    if any(len(one.ranks) > MOST for one in found):
        notebook.note(f"Of each case the {MOST} ranks that compute longest.")
    return [
        Table(
            id="stragglers",
            kind="stragglers",
            title=context.title("Ranks that others wait for"),
            columns=(
                Column("case", "case", align="left"),
                Column("waiting_share", "waiting"),
                Column("rank", "rank"),
                Column("node", "node", align="left"),
                Column("computing_s", "computes"),
                Column("over_mean", "over the mean rank"),
                Column("slowest_launches", "slowest in"),
            ),
            rows=rows,
            notes=notebook.notes(),
        )
    ]


def _rows(
    one: Waiting, cases: Sequence[MeasuredCase], notebook: Notebook
) -> Iterator[tuple[Cell, ...]]:
    """The slowest ranks; the case is named once."""
    name = row_name(one.case, cases)
    launches = count(one.share.n, "launch", "launches")
    for place, rank in enumerate(one.ranks[:MOST]):
        first = place == 0
        yield (
            label(name if first else "", name, one.case.id),
            notebook.estimate(one.share, one.case, PERCENT)
            if first
            else plain(one.share.value, ""),
            label(str(rank.rank), rank.rank),
            label(rank.host or "–"),
            notebook.estimate(rank.seconds, one.case, SECONDS),
            Cell(
                rank.beyond.value,
                f"{number(rank.beyond.value)} ×",
                low=rank.beyond.low,
                high=rank.beyond.high,
                spread=spread_text(rank.beyond),
            ),
            plain(rank.slowest, f"{rank.slowest} of {launches}"),
        )
