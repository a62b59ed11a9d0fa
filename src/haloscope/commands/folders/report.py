# SPDX-License-Identifier: BSD-3-Clause
"""haloscope report: write the report of a result folder, again at any time, without MPI."""

from __future__ import annotations

import argparse
from pathlib import Path

from haloscope.errors import printable
from haloscope.report.draw import json_document
from haloscope.report.writing import composed, write_report

_DESCRIPTION = """\
Write the report of a result folder into it: report.html (one file, no network needed), report.md,
report.tex, latex/*.tex (a file for each table and figure, to \\input, and their common notes),
tables/*.csv, and figures/*.svg and *.pdf.

Everything is computed again from records.jsonl, so a folder can be copied to another machine and
reported there, or reported while it is still being measured.
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
        help=f"formats to write: some of {', '.join(_FORMATS)} (default: all)",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print findings, tables, and cases as JSON (docs/findings.md) and write nothing",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Write, and say where; or print the report as JSON."""
    if arguments.json:
        print(json_document.text(composed(Path(arguments.directory))))
        return 0
    print(printable(str(write_report(Path(arguments.directory), arguments.format))))
    return 0
