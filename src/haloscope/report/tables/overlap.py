# SPDX-License-Identifier: BSD-3-Clause
"""Overlaps of messages with the sparse matrix-vector product compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.exchanges import OVERLAPS, PRINTED_OVERLAPS
from haloscope.analysis.published import source
from haloscope.quantities import number, printed_seconds
from haloscope.report.tables.exchange import contrasted
from haloscope.report.tables.model import Table

if TYPE_CHECKING:
    from haloscope.papers.file import PublishedValue
    from haloscope.papers.tables import PaperTable


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """The schemes of the sparse matrix-vector product, a row a scheme."""
    emulated = any(case.emulated for case in cases)  # which is set beside no time of a GPU
    published = context.library.tables(("overlap",))
    notes = () if emulated else tuple(_published_overlap(table) for table in published)
    tables = contrasted(cases, context, OVERLAPS)
    return [replace(table, notes=(*table.notes, *notes)) for table in tables]


def _published_overlap(table: PaperTable) -> str:
    """What was published, in a note: of another matrix, and as ratios alone comparable."""
    base = table.rows[0]
    times = [
        f"{PRINTED_OVERLAPS[str(row['overlap'])]} ({row['overlap']}) "
        f"{printed_seconds(float(str(row['time_s'])), table.resolution_s)}"
        + ("" if row is base else f" ({number(_ratio(base, row), 3)} times as fast)")
        for row in table.rows
    ]
    facts = table.facts
    return (
        f"Published, of another matrix: {source(table)}: {', '.join(times)}; {facts['matrix']}, "
        f"{facts['ranks']} processes, {facts['memory']} memory. {' '.join(table.notes)}"
    )


def _ratio(base: Mapping[str, PublishedValue], row: Mapping[str, PublishedValue]) -> float:
    return float(str(base["time_s"])) / float(str(row["time_s"]))
