# SPDX-License-Identifier: BSD-3-Clause
"""Cases of a result folder as cells of a task-mapping paper, to evaluate its statements.

Its figures have no numbers, so most of its statements have no published cells. Its tables contain
the tasks and nodes of the runs, and a study with these (task-mapping-NAME) provides the cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from haloscope.analysis.cases import MeasuredCase
from haloscope.papers.known_cells import KnownCell, keys_of
from haloscope.papers.tables import PaperTable, PublishedValue, load
from haloscope.topics.mapping import PROGRAMS, same_name

_CLUSTER = "cluster"
_VARIABILITY = "variability"


def plan_cells(paper: str, cases: Sequence[MeasuredCase], cluster: str) -> Iterator[KnownCell]:
    """Yield the cells of a paper's tables that cases on a cluster have; the last of
    each is used.
    """
    found: dict[tuple[object, ...], KnownCell] = {}
    tables = load(paper).tables.values()
    named = {str({**table.facts, **row}.get(_CLUSTER)) for table in tables for row in table.rows}
    cluster = next((name for name in named if same_name(name, cluster)), cluster)
    for table in tables:
        for row in table.rows:
            said = {**table.facts, **row}
            if not {"kernel", "ranks"} <= said.keys():
                continue
            own = [case for case in cases if case.launches and _is(case, said, cluster)]
            for cell in _cells(table, row, own, cluster):
                found[cell.identity] = cell
    yield from found.values()


def _is(case: MeasuredCase, said: Mapping[str, PublishedValue], cluster: str) -> bool:
    if not same_name(str(said.get(_CLUSTER, cluster)), cluster):
        return False
    nodes = said.get(f"nodes_{cluster.lower()}", said.get("nodes"))
    return (
        case.kernel in PROGRAMS[str(said["kernel"])]
        and case.ranks == said["ranks"]
        and nodes in (None, case.layout.nodes)
        and case.settings.get("mapping") == "block"
    )


def _cells(
    table: PaperTable, row: Mapping[str, PublishedValue], cases: Sequence[MeasuredCase], name: str
) -> Iterator[KnownCell]:
    """Yield the values of cases for a row: their time, or the largest deviation of a launch."""
    keys = keys_of(table, row)
    telling = table.keys if _CLUSTER in keys else (*table.keys, _CLUSTER)
    keys[_CLUSTER] = name
    if table.kind == _VARIABILITY:
        apart = [found for case in cases if (found := deviation_percent(case)) is not None]
        values = [max(apart)] if apart else []
    else:
        values = [case.time.value for case in cases if case.time]
    for value in values[-1:]:
        yield KnownCell(keys, telling, value, value)


def deviation_percent(case: MeasuredCase) -> float | None:
    """Return the largest deviation of a launch from the mean, in per cent; None if all are
    identical.
    """
    if case.alike or len(case.times_s) < 2:
        return None
    mean = fmean(case.times_s)
    return 100 * max(abs(time / mean - 1) for time in case.times_s)
