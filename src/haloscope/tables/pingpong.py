"""Half round trip and bandwidth by message size."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.evidence import Facet, MeasuredCase, facets
from haloscope.points import Swept, sweep
from haloscope.quantities import BYTES_PER_SECOND, SECONDS, size
from haloscope.stats import Estimate
from haloscope.tables.context import Context
from haloscope.tables.model import Column, Table, label
from haloscope.tables.notebook import Notebook


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table a case: toolchains, transports and placements stand apart."""
    own = [case for case in cases if case.kernel == "pingpong"]
    return [_table(part, context) for part in facets(own, ())]


def half_round_trip(point: Swept) -> Estimate:
    """Seconds for one message one way: half of a step, which is there and back."""
    return point.time.times(0.5)


def one_way_rate(point: Swept) -> Estimate:
    """Bytes a second one way: the message over half a round trip."""
    return half_round_trip(point).rate(point.size_bytes)


def _table(part: Facet, context: Context) -> Table:
    notebook = Notebook(part.cases, context.all_cases)
    rows = tuple(
        (
            label(size(point.size_bytes), point.size_bytes),
            notebook.estimate(half_round_trip(point), case, SECONDS),
            notebook.estimate(one_way_rate(point), case, BYTES_PER_SECOND)
            if point.size_bytes
            else label("–"),
        )
        for case in part.cases
        for point in sweep(case)
    )
    return Table(
        id="pingpong",
        kind="pingpong",
        title=context.title("Ping-pong between two processes", part.label),
        columns=(
            Column("size_bytes", "message", align="left"),
            Column("half_round_trip_s", "half round trip"),
            Column("bandwidth_bytes_per_s", "bandwidth"),
        ),
        rows=rows,
        notes=notebook.notes(),
    )
