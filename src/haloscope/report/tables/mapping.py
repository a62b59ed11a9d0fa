"""How long tasks take on few nodes and on many, beside what was published of the same cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from haloscope.analysis.cases import Facet, MeasuredCase
from haloscope.analysis.mappings import (
    Spread,
    most_over_fewest,
    named,
    same_name,
    spreads,
    stands_for,
)
from haloscope.analysis.published import source
from haloscope.quantities import number
from haloscope.report.context import Context
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook
from haloscope.study.case import PATTERNS

if TYPE_CHECKING:
    from haloscope.papers.tables import PaperTable, PublishedValue

_COLUMNS = (
    Column("tasks", "tasks", align="left"),
    Column("mapping", "ranks", align="left"),
    *(
        column
        for pattern in PATTERNS
        for column in (
            Column(f"{pattern}_nodes", "nodes", pattern),
            Column(f"{pattern}_s", "step", pattern),
        )
    ),
    Column("most_over_fewest_nodes", "most nodes over fewest"),
)


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """A table for every combination of the other settings."""
    return [_table(part, found, context) for part, found in spreads(cases)]


def _table(part: Facet, found: Sequence[Spread], context: Context) -> Table:
    notebook = Notebook(part.cases, context.all_cases)
    rows = [row for one in found for row in _rows(one, notebook)]
    published = list(_published(part.cases[0].kernel, context))
    rows += [row for _, row in published]
    notebook.note(
        "Concentrated: on as few nodes as share the tasks out evenly; distributed: one each. "
        "block fills nodes in turn, round robin deals ranks out, random shuffles them (its seed). "
        f"A node's ranks: bind = {part.settings.get('bind')}."
    )
    for table, _ in published:
        _note_published(table, notebook)
    return Table(
        id="mapping",
        kind="mapping",
        title=context.title("Tasks on few nodes and on many", named(part)),
        columns=_COLUMNS,
        rows=tuple(rows),
        notes=notebook.notes(),
        stub=2,
    )


def _note_published(table: PaperTable, notebook: Notebook) -> None:
    """Of what program, on which nodes, and how percentages were read."""
    notebook.note(f"Published, of other programs on this cluster: {source(table)}.")
    if any("difference_percent" in row for row in table.rows):
        notebook.note("Published in percent: taken as of the shorter time; the paper doesn't say.")
    else:
        notebook.note("Published times are on the fewest nodes, between, and on the most there.")


def _rows(one: Spread, notebook: Notebook) -> Iterator[tuple[Cell, ...]]:
    """All patterns in one row; each further number of nodes in between in a row of its own."""
    ratio = one.most_over_fewest
    name = (label(str(one.tasks), one.tasks), label(one.name))
    first, *more = one.between or (None,)
    ends = (one.cases.get(PATTERNS[0]), first, one.cases.get(PATTERNS[2]))
    cells = [cell for case in ends for cell in _time(case, notebook)]
    yield (*name, *cells, missing() if ratio is None else _times(ratio))
    for case in more:
        yield _further(name, _time(case, notebook))


def _further(name: tuple[Cell, Cell], middle: tuple[Cell, Cell]) -> tuple[Cell, ...]:
    """A row that adds one more number of nodes in between to the one above it."""
    return (*name, *(missing(""),) * 2, *middle, *(missing(""),) * 3)


def _times(ratio: float) -> Cell:
    return plain(ratio, f"{number(ratio)} ×")


def _time(case: MeasuredCase | None, notebook: Notebook) -> tuple[Cell, Cell]:
    """On how many nodes, and how long."""
    return (plain(case.number("nodes")), notebook.time(case)) if case else (missing(), missing())


def _published(kernel: str, context: Context) -> Iterator[tuple[PaperTable, tuple[Cell, ...]]]:
    """What the study's paper says of this cluster: times by nodes, and comparisons in words.

    Of programs that communicate as the kernel does.
    """
    here = (context.machine or {}).get("host")
    for table in context.library.tables(("mapping",)):
        like = stands_for(kernel, table.facts["kernel"])
        if like and same_name(table.facts.get("cluster"), here):
            for tasks in dict.fromkeys(row["ranks"] for row in table.rows):
                own = [row for row in table.rows if row["ranks"] == tasks]
                yield from ((table, row) for row in _timed(str(table.facts["kernel"]), own))
    for table in context.library.tables(("mapping_effect",)):
        for row in table.rows:
            if same_name(row["cluster"], here) and stands_for(kernel, row["kernel"]):
                yield table, _told(row)


def _timed(kernel: str, rows: Sequence[Mapping[str, PublishedValue]]) -> Iterator[tuple[Cell, ...]]:
    """Published times of one number of tasks on the fewest nodes, between, and on the most."""
    first, *middle, last = sorted(rows, key=lambda row: int(str(row["nodes"])))
    tasks = int(str(first["ranks"]))
    name = (label(str(tasks), tasks), label(f"{kernel}, published"))
    between = [_published_time(row) for row in middle] or [(missing(), missing())]
    ratio = float(str(last["time_s"])) / float(str(first["time_s"]))
    ends = _published_time(first), _published_time(last)
    yield (*name, *ends[0], *between[0], *ends[1], _times(ratio))
    yield from (_further(name, cells) for cells in between[1:])


def _published_time(row: Mapping[str, PublishedValue]) -> tuple[Cell, Cell]:
    return plain(row["nodes"], _places(row)), plain(row["time_s"], f"{row['time_s']:g} s")


def _places(row: Mapping[str, PublishedValue]) -> str:
    """Its nodes, and the tasks on each: the paper's patterns are not as ours are."""
    return f"{row['nodes']}, {row['ppn_text']} each"


def _told(row: Mapping[str, PublishedValue]) -> tuple[Cell, ...]:
    times = partial(most_over_fewest, str(row["faster"]))
    percents = str(row["difference_text"])
    told = re.sub(r"\d+", lambda found: number(times(float(found[0]))), percents)
    said = Cell(times(float(str(row["difference_percent"]))), told.replace("%", "×"))
    name = label(f"{row['kernel']}, published")
    empty = (missing() for _ in (*PATTERNS, *PATTERNS))
    return (label(str(row["ranks_text"])), name, *empty, said)
