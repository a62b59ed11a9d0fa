# SPDX-License-Identifier: BSD-3-Clause
"""haloscope report: write the report of a result folder, again at any time, without MPI."""

from __future__ import annotations

import argparse
from pathlib import Path

from haloscope.commands.options import flag
from haloscope.errors import printable
from haloscope.report.composing import compose
from haloscope.report.draw import json_document
from haloscope.report.writing import write_report

_DESCRIPTION = """\
Write a report to the result folder: report.html (a single file that needs no network access),
report.md, report.tex, tables/*.csv, and figures in SVG and PDF. The folder latex/ contains one file
per table and figure, to include in a document with \\input.

All results are recomputed from records.jsonl. The command therefore also works on a copy of the
folder on another machine, and while the measurement is still running.
"""
_EPILOG = """\
examples:
  haloscope report results/quick-20261121-010203
  haloscope report results/before --format html csv
  haloscope report results/before --json | jq .answer

exit codes: 0 success; 2 usage error, or no result folder or record
"""
_FORMATS = ("html", "md", "tex", "csv")


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `report`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("directory", metavar="DIR", help="result folder")
    parser.add_argument(
        "--format",
        metavar="FORMAT",
        nargs="+",
        choices=_FORMATS,
        default=_FORMATS,
        help=f"one or more formats to write: {', '.join(_FORMATS)} (default: all)",
    )
    flag(
        parser,
        "--json",
        "print findings, tables, and cases as JSON (see docs/findings.md) without writing files",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Write, and say where; or print the report as JSON."""
    if arguments.json:
        print(json_document.text(compose(Path(arguments.directory))))
        return 0
    print(printable(str(write_report(Path(arguments.directory), arguments.format))))
    return 0
