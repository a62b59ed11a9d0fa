# SPDX-License-Identifier: BSD-3-Clause
"""Time of the same tasks on few and many nodes, compared with published times of the cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from haloscope.analysis.cases import Facet, MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.mappings import (
    Printed,
    Spread,
    most_over_fewest,
    named,
    printed,
    same_name,
    spreads,
    stands_for,
)
from haloscope.analysis.published import source
from haloscope.quantities import number
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook
from haloscope.toolchains.job import shares

if TYPE_CHECKING:
    from haloscope.papers.tables import PaperTable, PublishedValue

_PUBLISHED = (
    Column("program", "program", "published", "left"),
    Column("published_s", "run", "published"),
    Column("published_over_fewest", "over fewest", "published"),
)


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """A table for every combination of the other settings: a row for some tasks on some nodes.

    None of what can't run here at all: a program that is not simulated, beside the kernel that is.
    """
    return [_table(part, found, context) for part, found in spreads(cases) if not _absent(part)]


def _absent(part: Facet) -> bool:
    """Whether every launch of every case is known to be impossible here."""
    return all(
        not case.launches
        and case.excluded
        and all(record.outcome == "absent" for record in case.excluded)
        for case in part.cases
    )


def _table(part: Facet, found: Sequence[Spread], context: Context) -> Table:
    notebook = Notebook(part.cases, context.all_cases)
    here, kernel = str((context.machine or {}).get("host")), part.cases[0].kernel
    beside = list(printed(context.library, here, kernel))
    said = list(_statements(kernel, here, context))
    mappings = list(dict.fromkeys(one.name for one in found))
    places = {(one.tasks, nodes) for one in found for nodes in one.cases}
    places |= {(one.tasks, nodes) for one in beside for nodes in one.times_s}
    rows = [
        (*_ours(place, found, mappings, notebook), *_printed(place, beside))
        for place in sorted(places)
    ]
    rows += [_said(row, len(mappings)) for _, row in said]
    columns = (
        Column("tasks", "tasks", align="left"),
        Column("nodes", "nodes", align="left"),
        *(Column(f"{name.replace(' ', '_')}_s", name, "step") for name in mappings),
        Column("over_fewest_nodes", "over fewest"),
        *_PUBLISHED,
    )
    kept = len(columns) if beside or said else len(columns) - len(_PUBLISHED)
    notebook.note(
        "block fills nodes in turn, round robin deals ranks out, random shuffles them (its seed). "
        f"over fewest: {mappings[0]}, the time over that on the fewest nodes. "
        f"A node's ranks: bind = {part.settings.get('bind')}."
    )
    _note_published(beside, [table for table, _ in said], notebook)
    return Table(
        id="mapping",
        kind="mapping",
        title=context.title("Tasks on few nodes and on many", named(part)),
        columns=columns[:kept],
        rows=tuple(row[:kept] for row in rows),
        notes=notebook.notes(),
        stub=2,
    )


def _note_published(
    beside: Sequence[Printed], tables: Sequence[PaperTable], notebook: Notebook
) -> None:
    """Of what program, on which nodes, and how percentages were read."""
    for named_in in dict.fromkeys([*(one.source for one in beside), *map(source, tables)]):
        notebook.note(f"Published, whole runs of other programs on this cluster: {named_in}.")
    if beside:
        notebook.note("Published over fewest: over the fewest nodes of the published runs.")
    if tables:
        notebook.note("Published in percent: taken as of the shorter time; the paper doesn't say.")


def _ours(
    place: tuple[int, int], found: Sequence[Spread], mappings: Sequence[str], notebook: Notebook
) -> Iterator[Cell]:
    """Some tasks on some nodes: how many each has, the time in each mapping, and their ratio."""
    tasks, nodes = place
    own = {one.name: one for one in found if one.tasks == tasks}
    each = shares(tasks, nodes)
    many = f"{each[-1]} or {each[0]}" if each[-1] != each[0] else str(each[0])
    yield label(str(tasks), tasks)
    yield label(f"{nodes}, {many} each", nodes)
    for name in mappings:
        case = own[name].cases.get(nodes) if name in own else None
        yield notebook.time(case) if case else missing()
    first = own.get(mappings[0])
    ratio = first.over_fewest(nodes) if first else None
    yield missing() if ratio is None else _times(ratio)


def _printed(place: tuple[int, int], beside: Sequence[Printed]) -> tuple[Cell, ...]:
    """What was published of as many tasks on as many nodes."""
    tasks, nodes = place
    for one in beside:
        if one.tasks == tasks and nodes in one.times_s:
            run = plain(one.times_s[nodes], f"{one.times_s[nodes]:g} s")
            return label(one.program), run, _times(one.over_fewest(nodes))
    return (missing(), missing(), missing())


def _times(ratio: float) -> Cell:
    return plain(ratio, f"{number(ratio)} ×")


def _statements(
    kernel: str, here: str, context: Context
) -> Iterator[tuple[PaperTable, Mapping[str, PublishedValue]]]:
    """What a paper says in words of this cluster, of programs that communicate as the kernel."""
    for table in context.library.tables(("mapping_effect",)):
        for row in table.rows:
            if same_name(row["cluster"], here) and stands_for(kernel, row["kernel"]):
                yield table, row


def _said(row: Mapping[str, PublishedValue], mappings: int) -> tuple[Cell, ...]:
    """A statement: of how many tasks, and the time on the most nodes over that on the fewest."""
    times = partial(most_over_fewest, str(row["faster"]))
    percents = str(row["difference_text"])
    told = re.sub(r"\d+", lambda found: number(times(float(found[0]))), percents)
    said = Cell(times(float(str(row["difference_percent"]))), told.replace("%", "×"))
    empty = [missing()] * (mappings + 1)
    places = label(str(row["ranks_text"])), label("the most")
    return (*places, *empty, label(str(row["kernel"])), missing(), said)
