# SPDX-License-Identifier: BSD-3-Clause
"""haloscope paper: show published tables and check statements."""

from __future__ import annotations

import argparse
import csv
import io
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError, printable
from haloscope.papers.assessment import assessed
from haloscope.papers.known_cells import published_cells
from haloscope.papers.statements import statements
from haloscope.papers.tables import Grid, Paper, PaperTable, list_papers, load
from haloscope.report.draw import csv_files, terminal
from haloscope.report.predictions import statements as statement_tables

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
    show.add_argument("id", metavar="ID", help="id of a paper, e.g. hpcf-2018-10")
    show.add_argument("table", metavar="TABLE", help="number of a table, e.g. 4.1")
    show.add_argument("--csv", action="store_true", help="print CSV with one row per cell")
    check = actions.add_parser(
        "check",
        help="check a paper's statements against its own tables",
        description="Check every statement of a paper against the cells of its own tables. The "
        "verdict is yes, no, mixed, or no cells. Comparisons that the printed digits cannot decide "
        "are not counted.",
    )
    check.add_argument("id", metavar="ID", help="id of a paper, e.g. hpcf-2018-10")
    check.add_argument("--csv", metavar="FILE", help="write all statements to FILE as CSV")


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


def _check(console: Console, paper: str, file: str | None) -> int:
    found = statements(paper)
    if not found:
        what = "this paper has no recorded statements"
        remedy = "choose a paper whose folder contains a statements.csv"
        raise UserError(Problem(f"paper check {paper}", what, remedy))
    checked = [(one, assessed(one, published_cells(paper, one))) for one in found]
    every, summary = statement_tables.own_cells(checked, paper)
    if file:
        csv_files.write_table(every, Path(file))
    console.print(terminal.tables([every, summary]))
    return 0


def _list(console: Console, paper: Paper) -> None:
    who = f"  {', '.join(paper.authors)} ({paper.year})"
    console.print(Text.assemble((paper.id, "bold"), who))
    console.print(Padding(paper.title, (0, 0, 0, 2)), style="dim")
    tables = Table.grid(padding=(0, 2))
    for table in paper.tables.values():
        tables.add_row(table.id, table.caption)
    console.print(Padding(tables, (0, 0, 1, 2)))


def _write_csv(table: PaperTable) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table.columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table.texts)
    print(printable(text.getvalue()), end="")


def _show(console: Console, table: PaperTable) -> None:
    name = f"{table.paper}, table {table.id}"
    console.print(Text.assemble((name, "bold"), f": {table.caption}"))
    facts = ", ".join(f"{name} {value}" for name, value in table.facts.items())
    console.print(facts, style="dim", markup=False)
    for grid in table.grids():
        console.print()
        _print_grid(console, grid)
    console.print()
    for name, column in table.columns.items():
        unit = f" [{column.unit}]" if column.unit else ""
        console.print(f"{name}{unit}: {column.meaning}", style="dim", markup=False)
    for note in table.notes:
        console.print(f"note: {note}", markup=False)
    for omitted in table.omitted:
        console.print(f"omitted: {omitted}", markup=False)


def _print_grid(console: Console, grid: Grid) -> None:
    """Print a grid, in several pieces if it is wider than the terminal."""
    if grid.title:
        console.print(grid.title, style="bold", markup=False)
    for piece in _pieces(grid, console.width):
        drawn = Table(box=SIMPLE)
        for name in grid.corner:
            drawn.add_column(name, justify="right", style="bold", no_wrap=True)
        for index in piece:
            drawn.add_column(grid.across[index], justify="right", no_wrap=True)
        for headings, cells in grid.rows:
            drawn.add_row(*headings, *(cells[index] or _MISSING for index in piece))
        console.print(drawn)


def _pieces(grid: Grid, width: int) -> list[range]:
    gap = 3  # what the box adds to each column
    heads = zip(
        grid.corner, zip(*(headings for headings, _ in grid.rows), strict=True), strict=True
    )
    bodies = zip(grid.across, zip(*(cells for _, cells in grid.rows), strict=True), strict=True)
    room = width - 1 - sum(gap + max(map(len, (name, *texts))) for name, texts in heads)
    widths = [gap + max(map(len, (name, *texts))) for name, texts in bodies]
    pieces: list[range] = []
    start = 0
    for stop in range(1, len(widths) + 1):
        if stop == len(widths) or sum(widths[start : stop + 1]) > room:
            pieces.append(range(start, stop))
            start = stop
    return pieces
