# SPDX-License-Identifier: BSD-3-Clause
"""haloscope paper: show published tables and check statements."""

from __future__ import annotations

import argparse
import csv
import io
from pathlib import Path

from rich.padding import Padding
from rich.table import Table as Rows
from rich.text import Text

from haloscope.commands.options import flag
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError, printable
from haloscope.papers.assessment import assessed
from haloscope.papers.known_cells import published_cells
from haloscope.papers.statements import statements
from haloscope.papers.tables import Grid, Paper, PaperTable, list_papers, load
from haloscope.report.draw import csv_files, terminal
from haloscope.report.predictions import statements as statement_tables
from haloscope.topics.common.table import Column, Table, label

_DESCRIPTION = """\
Show published performance tables. If a study names a paper, its report compares your measurements
with these tables.

A dot marks a cell whose value is missing in the paper, or cannot be read with certainty (see the
notes below the table). A wall time of 00:00:00 means that the run was shorter than the printed
resolution.
"""
_EPILOG = """\
examples:
  haloscope paper list                            list papers and their tables
  haloscope paper show hpcf-2018-10 4.1           wall times on Stampede2, as printed
  haloscope paper show hpcf-2010-6 5.2 --csv      CSV, one row per cell
  haloscope paper check hpcf-2010-6               check its statements against its tables
"""
_MISSING = "·"


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `paper list` and `paper show`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help="list papers and their tables", description=_DESCRIPTION)
    show = actions.add_parser(
        "show",
        help="print a table in its published form",
        description="Print a table in its published form, with its conditions and notes.",
    )
    show.add_argument("id", metavar="ID", help="id of the paper, for example hpcf-2018-10")
    show.add_argument("table", metavar="TABLE", help="number of a table, for example 4.1")
    flag(show, "--csv", "print CSV with one row per table cell")
    check = actions.add_parser(
        "check",
        help="check a paper's statements against its own tables",
        description="Check every statement of a paper against the cells of its own tables. The "
        'verdict is "yes", "no", "mixed", or "no cells". Comparisons that the printed digits '
        "cannot decide are not counted.",
    )
    check.add_argument("id", metavar="ID", help="id of the paper, for example hpcf-2018-10")
    check.add_argument("--csv", metavar="FILE", help="write statements and verdicts to FILE as CSV")


def execute(arguments: argparse.Namespace) -> int:
    """Execute the action. Raise UserError for an unknown paper or table."""
    console = Screen()
    if arguments.action == "list":
        for paper in list_papers():
            _list(console, paper)
        return 0
    if arguments.action == "check":
        return _check(console, load(arguments.id).id, arguments.csv)
    table = load(arguments.id).table(arguments.table)
    if arguments.csv:
        _write_csv(table)
    else:
        _show(console, table)
    return 0


def _check(console: Screen, paper: str, file: str | None) -> int:
    found = statements(paper)
    if not found:
        what = "this paper has no recorded statements"
        remedy = "choose a paper whose folder contains the file statements.csv"
        raise UserError(Problem(f"paper check {paper}", what, remedy))
    checked = [(one, assessed(one, published_cells(paper, one))) for one in found]
    every, summary = statement_tables.own_cells(checked, paper)
    if file:
        csv_files.write_table(every, Path(file))
    console.print(terminal.tables([every, summary]))
    return 0


def _list(console: Screen, paper: Paper) -> None:
    who = f"  {', '.join(paper.authors)} ({paper.year})"
    console.print(Text.assemble((paper.id, "bold"), who))
    console.print(Padding(paper.title, (0, 0, 0, 2)), style="dim")
    tables = Rows.grid(padding=(0, 2))
    for table in paper.tables.values():
        tables.add_row(table.id, table.caption)
    console.print(Padding(tables, (0, 0, 1, 2)))


def _write_csv(table: PaperTable) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table.columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table.texts)
    print(printable(text.getvalue()), end="")


def _show(console: Screen, table: PaperTable) -> None:
    name = f"{table.paper}, table {table.id}"
    console.print(Text.assemble((name, "bold"), f": {table.caption}"))
    facts = ", ".join(f"{name} {value}" for name, value in table.facts.items())
    console.print(facts, style="dim")
    for grid in table.grids():
        console.print()
        if grid.title:
            console.print(grid.title, style="bold")
        console.print(terminal.Blocks(_as_table(grid)))
    console.print()
    for name, column in table.columns.items():
        unit = f" [{column.unit}]" if column.unit else ""
        console.print(f"{name}{unit}: {column.meaning}", style="dim")
    for note in table.notes:
        console.print(f"note: {note}")
    for omitted in table.omitted:
        console.print(f"omitted: {omitted}")


def _as_table(grid: Grid) -> Table:
    names = [*grid.corner, *grid.across]
    rows = ((*headings, *(cell or _MISSING for cell in cells)) for headings, cells in grid.rows)
    return Table(
        "grid",
        "paper",
        grid.title,
        tuple(Column(f"column-{number}", name) for number, name in enumerate(names)),
        tuple(tuple(map(label, row)) for row in rows),
        stub=len(grid.corner),
    )
