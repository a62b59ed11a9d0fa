"""How long tasks take on few nodes and on many, beside what was published of the same cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from haloscope.analysis.cases import Facet, MeasuredCase
from haloscope.analysis.mappings import Spread, named, spreads
from haloscope.analysis.published import source
from haloscope.quantities import count, number
from haloscope.report.context import Context
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook
from haloscope.study.case import PATTERNS

if TYPE_CHECKING:
    from haloscope.papers.tables import PaperTable, Value

_COLUMNS = (
    Column("tasks", "tasks", align="left"),
    Column("mapping", "ranks", align="left"),
    *(Column(f"{pattern}_s", pattern, "time of a step") for pattern in PATTERNS),
    Column("most_over_fewest_nodes", "most nodes over concentrated"),
)


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """A table for every combination of the other settings."""
    return [_table(part, found, context) for part, found in spreads(cases)]


def _table(part: Facet, found: Sequence[Spread], context: Context) -> Table:
    notebook = Notebook(part.cases, context.all_cases)
    rows = [_row(one, notebook) for one in found]
    published = list(_published(context))
    rows += [row for _, row in published]
    notebook.note(
        "Concentrated: on as few nodes as share the tasks out evenly; distributed: one each. "
        "block fills nodes in turn, round robin deals ranks out, random shuffles them (its seed)."
    )
    if any("difference_percent" in row for shown, _ in published for row in shown.rows):
        notebook.note("Published in percent: taken as of the shorter time; the paper doesn't say.")
    for name in dict.fromkeys(source(table) for table, _ in published):
        notebook.note(f"Published, of other programs on this cluster: {name}.")
    return Table(
        id="mapping",
        kind="mapping",
        title=context.title("Tasks on few nodes and on many", named(part)),
        columns=_COLUMNS,
        rows=tuple(rows),
        notes=notebook.notes(),
        stub=2,
    )


def _row(one: Spread, notebook: Notebook) -> tuple[Cell, ...]:
    times = [_time(one.cases.get(pattern), notebook) for pattern in PATTERNS]
    ratio = one.most_over_fewest
    over = missing() if ratio is None else _times(ratio)
    return (label(str(one.tasks), one.tasks), label(one.name), *times, over)


def _times(ratio: float) -> Cell:
    return plain(ratio, f"{number(ratio)} ×")


def _time(case: MeasuredCase | None, notebook: Notebook) -> Cell:
    if case is None:
        return missing()
    return replace(notebook.time(case), also=count(case.number("nodes"), "node"))


def _published(context: Context) -> Iterator[tuple[PaperTable, tuple[Cell, ...]]]:
    """What the study's paper says of this cluster: times by nodes, and comparisons in words."""
    here = str((context.machine or {}).get("host")).lower()
    for table in context.library.tables(("mapping",)):
        if str(table.facts.get("cluster")).lower() == here:
            for tasks in dict.fromkeys(row["ranks"] for row in table.rows):
                own = [row for row in table.rows if row["ranks"] == tasks]
                yield table, _timed(str(table.facts["kernel"]), own)
    for table in context.library.tables(("mapping_effect",)):
        for row in table.rows:
            if str(row["cluster"]).lower() == here:
                yield table, _told(row)


def _timed(kernel: str, rows: Sequence[Mapping[str, Value]]) -> tuple[Cell, ...]:
    """Published times of one number of tasks on the fewest and the most nodes, and in between."""
    ordered = sorted(rows, key=lambda row: int(str(row["nodes"])))
    first, last = float(str(ordered[0]["time_s"])), float(str(ordered[-1]["time_s"]))
    told = [ordered[0], ordered[len(ordered) // 2], ordered[-1]]
    times = [
        Cell(row["time_s"], f"{row['time_s']:g} s", also=count(int(str(row["nodes"])), "node"))
        for row in told
    ]
    tasks = int(str(rows[0]["ranks"]))
    name = label(f"{kernel}, published")
    return (label(str(tasks), tasks), name, *times, _times(last / first))


def _told(row: Mapping[str, Value]) -> tuple[Cell, ...]:
    def times(percent: float) -> float:
        """So much more than the shorter time, as the time on many nodes over that on few."""
        longer = 1 + percent / 100
        return longer if row["faster"] == PATTERNS[0] else 1 / longer

    percents = str(row["difference_text"])
    told = re.sub(r"\d+", lambda found: number(times(float(found[0]))), percents)
    said = Cell(times(float(str(row["difference_percent"]))), told.replace("%", "×"))
    name = label(f"{row['kernel']}, published")
    empty = (missing() for _ in PATTERNS)
    return (label(str(row["ranks_text"])), name, *empty, said)
