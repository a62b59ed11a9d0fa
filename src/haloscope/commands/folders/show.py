# SPDX-License-Identifier: BSD-3-Clause
"""haloscope show: print the tables of a result folder."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from haloscope.commands.options import flag
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, nearest, reject
from haloscope.report.composing import compose
from haloscope.report.draw import json_document, terminal
from haloscope.topics.common.table import Table

_DESCRIPTION = (
    "Print the findings and the main tables of a result folder. Detailed and very long "
    "tables are printed only on request: give their ids or kinds, which --list prints.\n"
)
_EPILOG = """\
examples:
  haloscope show results/quick-20261121-010203
  haloscope show results/quick-20261121-010203 scaling pingpong
  haloscope show results/quick-20261121-010203 --list

exit codes: 0 success; 2 usage error, no result folder, or unknown table
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `show`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("directory", metavar="DIR", help="result folder")
    parser.add_argument(
        "tables",
        metavar="TABLE",
        nargs="*",
        default=[],
        help="ids or kinds of the tables to print (default: the main tables)",
    )
    what = parser.add_mutually_exclusive_group()
    flag(what, "--list", "print only the ids and titles of all tables")
    flag(what, "--json", "print findings, tables, and cases as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Print findings and tables, or the requested ones."""
    document = compose(Path(arguments.directory))
    if arguments.json:
        print(json_document.text(document))
        return 0
    console = Screen()
    if arguments.list:
        console.lines(*(f"{table.id}: {table.title}" for table in document.tables))
        return 0
    chosen = _chosen(document.tables, arguments.tables)
    if not arguments.tables:
        console.print(terminal.everything(document))
        console.print()
    console.print(terminal.tables(chosen, ids=True))
    if not arguments.tables and (folded := [t.id for t in document.tables if t.folded]):
        console.lines(f"Details and long tables, shown by name: {', '.join(folded)}")
    return 0


def _chosen(tables: Sequence[Table], names: Sequence[str]) -> list[Table]:
    known = [name for table in tables for name in (table.id, table.kind)]
    reject(
        Problem(f"table '{name}'", "not found in this folder", nearest(name, sorted(set(known))))
        for name in names
        if name not in known
    )
    if not names:
        return [table for table in tables if not table.folded]
    return [table for name in names for table in tables if name in (table.id, table.kind)]
