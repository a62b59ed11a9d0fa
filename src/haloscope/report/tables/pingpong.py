# SPDX-License-Identifier: BSD-3-Clause
"""Messages by size: half round trip and bandwidth, or bandwidth and message rate of streams."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.context import Context
from haloscope.analysis.fits import exchanges
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.quantities import BYTES_PER_SECOND, PER_SECOND, SECONDS, size
from haloscope.report.tables.model import Cell, Column, Table, label, missing
from haloscope.report.tables.notebook import Notebook


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table a case: modes, toolchains, transports and placements stand apart."""
    own = [case for case in cases if case.kernel == "pingpong" and case.launches]
    return [_table(part, context) for part in facets(own, ())]


def _table(part: Facet, context: Context) -> Table:
    (case,) = part.cases
    notebook = Notebook(part.cases, context.all_cases)
    timed = exchanges(case)
    rows = []
    for point in sweep(case):
        name = label(size(point.size_bytes), point.size_bytes, case.id)
        speed = _bandwidth(point, case, notebook)
        if timed:
            time = notebook.estimate(point.one_way, case, SECONDS)
            rows.append((name, time, speed))
        else:
            rows.append((name, speed, _messages(point, case, notebook)))
    speed_column = Column("bandwidth_bytes_per_s", "bandwidth")
    columns = (
        (Column("half_round_trip_s", "half round trip"), speed_column)
        if timed
        else (speed_column, Column("messages_per_s", "messages"))
    )
    return Table(
        id="pingpong",
        kind="pingpong",
        title=context.title("Messages between two processes", part.label),
        columns=(Column("size_bytes", "message", align="left"), *columns),
        rows=tuple(rows),
        notes=notebook.notes(),
    )


def _bandwidth(point: Swept, case: MeasuredCase, notebook: Notebook) -> Cell:
    """Bytes a second, over both directions where messages go both ways at once."""
    return notebook.estimate(point.rate, case, BYTES_PER_SECOND) if point.size_bytes else missing()


def _messages(point: Swept, case: MeasuredCase, notebook: Notebook) -> Cell:
    """Messages a second, told from bytes: how many empty ones there were is not known."""
    if not point.size_bytes:
        return missing()
    return notebook.estimate(point.time.rate(point.bytes / point.size_bytes), case, PER_SECOND)
