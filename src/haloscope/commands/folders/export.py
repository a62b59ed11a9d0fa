# SPDX-License-Identifier: BSD-3-Clause
"""haloscope export: write the records of a result folder as a table for other programs."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError
from haloscope.paths import in_a_shell, write_whole
from haloscope.quantities import count
from haloscope.records import rows as table
from haloscope.records.attempts import attempts
from haloscope.records.folder import ResultFolder, require_enclosed
from haloscope.records.rows import PER, Rows
from haloscope.report.draw import csv_files

_DESCRIPTION = """\
Write the records of a result folder as one table, for a spreadsheet, pandas, polars, or R.

Each row contains the settings of its case, so rows can be selected and grouped without other files.
With --rows launches, each row is one launch, with the median, minimum, and maximum over its
repetitions, and the kernel's results. With --rows repetitions, each row is one timed repetition. A
launch that measures several sizes has a separate row for each size. If a size has no valid time,
its row contains the reason instead. Launches that did not run, damaged records, and results that
are lists are omitted. A message on standard error lists them.

A Table Schema (frictionless data) describes the name, type, unit, and meaning of each column. In
JSON and Parquet, it is part of the file. For CSV, it is written to FILE.schema.json. In Python,
haloscope.load(DIR) returns the same table as a polars data frame. Parquet and haloscope.load
require additional packages: pip install 'haloscope[data]'.
"""
_EPILOG = """\
examples:
  haloscope export results/before --to csv -o before.csv
  haloscope export results/before --to csv --rows repetitions > raw.csv
  haloscope export results/before --to json | jq '.data[].time_s'
  haloscope export results/before --to parquet -o before.parquet

exit codes: 0 success; 2 usage error, no result folder, or a file that cannot be written
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `export`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add = parser.add_argument
    add("directory", metavar="DIR", type=Path, help="the result folder")
    add("--to", metavar="FORMAT", choices=_WRITERS, required=True, help=", ".join(_WRITERS))
    add("--rows", choices=PER, default=PER[0], help=f"what each row represents (default: {PER[0]})")
    add("-o", "--output", metavar="FILE", type=Path, help="output file (default: standard output)")


def execute(arguments: argparse.Namespace) -> int:
    """Write the table; return 0. Raise UserError without records, or if the file is not
    writable.
    """
    require_enclosed(arguments.directory)
    rows = table.rows(arguments.directory, arguments.rows)
    _WRITERS[arguments.to](rows, arguments.output)
    for line in (*_not_run(ResultFolder(arguments.directory)), *rows.left_out):
        Screen(stderr=True).lines(f"left out: {line}")
    return 0


def _not_run(folder: ResultFolder) -> Iterator[str]:
    if not folder.plan.exists():
        return
    try:
        planned = folder.load().launches()
    except UserError as error:  # records are written without it
        yield f"launches that did not run, if any: {error}"
        return
    tried = {one.key for one in attempts(folder.records)}
    if left := sum((one.case.id, one.number) not in tried for one in planned):
        run = f"haloscope run --resume {in_a_shell(folder.path)}"
        yield f"{count(left, 'launch', 'launches')} of the plan did not run: {run}"


def _csv(rows: Rows, output: Path | None) -> None:
    lines = ([column.name for column in rows.columns], *rows)
    if output is None:
        csv_files.print_rows(lines, sys.stdout)
        return
    text = io.StringIO(newline="")
    csv_files.print_rows(lines, text)
    _write(output, text.getvalue())
    _write(output.with_suffix(".schema.json"), json.dumps(rows.schema, indent=1) + "\n")


def _json(rows: Rows, output: Path | None) -> None:
    if output is None:
        sys.stdout.writelines(_json_lines(rows))
    else:
        _write(output, "".join(_json_lines(rows)))


def _json_lines(rows: Rows) -> Iterator[str]:
    """Yield a Table Schema and the rows, one per line; pandas reads it with orient="table"."""
    yield f'{{"schema": {json.dumps(rows.schema)},\n"data": ['
    names = [column.name for column in rows.columns]
    for number, row in enumerate(rows):
        yield f"{',' * (number > 0)}\n{json.dumps(dict(zip(names, row, strict=True)))}"
    yield "\n]}\n"


def _parquet(rows: Rows, output: Path | None) -> None:
    if output is None:
        raise UserError(Problem("--to parquet", "requires an output file", "add -o FILE"))
    data = io.BytesIO()
    table.frame(rows).write_parquet(data, metadata={"schema": json.dumps(rows.schema)})
    _write(output, data.getvalue())


_WRITERS: Mapping[str, Callable[[Rows, Path | None], None]] = {
    "csv": _csv,
    "json": _json,
    "parquet": _parquet,
}


def _write(path: Path, content: str | bytes) -> None:
    try:
        write_whole(path, content)
        Screen(stderr=True).lines(f"table: {path}")
    except OSError as error:
        remedy = "give a file in an existing, writable folder"
        raise UserError(Problem(f"-o {path}", error.strerror or str(error), remedy)) from error
