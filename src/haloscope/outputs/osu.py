# SPDX-License-Identifier: BSD-3-Clause
"""Read the output of the OSU Micro-Benchmarks: tables of all versions, with -f and percentiles."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from haloscope.outputs.printed import Output, PrintedRun, SizeTable, columns, shown
from haloscope.study.case import Value

TOOL = "osu"
_HEADING = re.compile(r"#?\s*OSU (?P<name>.*?\S)(?: Test)?(?:\s+v(?P<version>\d\S*))?\s*$")
_EXPECTED_HEADING = "'# OSU MPI ... Test vX.Y' above a table"
_UNITS = {"us": ("s", 1e-6), "MB/s": ("bytes_per_s", 1e6), "%": ("share", 0.01)}
_PLAIN = {
    "Size": "size",
    "Iterations": "iterations",
    "Validation": "validation",
    "Transmit Size": "transmitted_bytes",
}
_RATES = {"MB/s": ("bandwidth_bytes_per_s", 1e6), "Messages/s": ("messages_per_s", 1.0)}
_NAMED = re.compile(r"(?P<name>[\w. -]*?\S) ?\((?P<unit>us|MB/s|%)\)")
_WORDS = {
    "latency": "latency_mean",
    "avg latency": "latency_mean",
    "min latency": "latency_min",
    "max latency": "latency_max",
    "bandwidth": "bandwidth",
    "overall": "latency_mean",
    "compute": "compute",
    "coll. init": "initialisation",
    "mpi_test": "test",
    "mpi_wait": "wait",
    "pure comm.": "pure_communication",
    "min comm.": "pure_communication_min",
    "max comm.": "pure_communication_max",
    "overlap": "overlap",
}
_TAIL = re.compile(r"p(?P<percent>\d+(\.\d+)?) tail (?P<what>lat|bw)")
_ABORTED = re.compile(
    r"exited on signal|non-zero exit|MPI_ABORT was|BAD TERMINATION|CANCELLED AT|step aborted"
)
_FACTS = {
    "pairs": re.compile(r"\[ pairs: (\d+) \]"),
    "window": re.compile(r"\[ window size: (\d+) \]"),
    "datatype": re.compile(r"# Datatype: (\w+)\.?\s*$"),
    "window_creation": re.compile(r"# Window creation: (\w+)\s*$"),
    "synchronization": re.compile(r"# Synchronization: (\w+)\s*$"),
    "buffers": re.compile(r"# Send Buffer on (\w+) .*Receive Buffer on \w+"),
}


@dataclass(frozen=True)
class _Column:
    """A column: the name of its result with its unit. factor: to SI units."""

    head: str
    name: str
    factor: float = 1.0


@dataclass
class _Table(SizeTable):
    """A table that is being read."""

    version: str | None = None
    columns: dict[str, _Column] = field(default_factory=dict)
    validated: list[bool] = field(default_factory=list)
    aborted: bool = False


def read(output: Output) -> list[PrintedRun]:
    """Return every table of a file. Raise UserError with the line if there is none, or it is
    truncated.

    Lines of other programs between the tables are skipped.
    """
    tables = [_run(output, table) for table in _tables(output)]
    if not tables:
        raise output.error(1, "the file has no heading of an OSU benchmark", _EXPECTED_HEADING)
    return tables


def _tables(output: Output) -> list[_Table]:
    tables: list[_Table] = []
    decimals: list[int] = []
    for number, line in enumerate(output.lines, start=1):
        table = tables[-1] if tables else None
        if heading := _HEADING.match(line.strip()):
            tables.append(_Table(number, heading["name"], version=heading["version"]))
        elif table is not None and (head := _head(output, number, line)):
            table.columns = {column.head: column for column in head}
            table.head = [*table.columns]
        elif line.lstrip().startswith("#"):
            if table is not None:
                table.facts |= _facts(line)
        elif re.match(r"\s*\d", line):
            decimals, before = [len(word.partition(".")[2]) for word in line.split()], decimals
            if number == output.cut_off_in and before and decimals != before:
                what = f"the line {shown(line.strip())} is truncated"
                raise output.error(number, what, f"{len(before)} values and the end of the line")
            _add(output, number, line, table or _Table(number, ""))
        elif table is not None:
            _note_abort(output, number, line, table)
    return tables


def _facts(line: str) -> dict[str, Value]:
    found = {name: one[1] for name, fact in _FACTS.items() if (one := fact.search(line))}
    return {name: int(value) if value.isdigit() else value for name, value in found.items()}


def _note_abort(output: Output, number: int, line: str, table: _Table) -> None:
    if not table.aborted and _ABORTED.search(line):
        table.aborted = True
        what = f"further sizes of '{table.name}': the run was aborted: {shown(line.strip())}"
        output.leave_out(number, what)


def _head(output: Output, number: int, line: str) -> list[_Column] | None:
    # OSU prints only one blank before a percentile of a bandwidth
    words = columns(re.sub(r" (?=P\d+ Tail )", "  ", line.strip().removeprefix("#")))
    if words[:1] != ["Size"] and not any(re.search(r"\((us|MB/s)\)|^MB/s$", w) for w in words):
        return None
    found = []
    for word in words:
        if (column := _column(word)) is None:
            known = ", ".join([*_PLAIN, *_RATES, "Avg Latency(us)", "P99 Tail Lat(us)", "..."])
            raise output.error(number, f"unknown column {shown(word)}", f"one of {known}")
        found.append(column)
    return found


def _column(head: str) -> _Column | None:
    if head in _PLAIN:
        return _Column(head, _PLAIN[head])
    if head in _RATES:
        return _Column(head, *_RATES[head])
    if (named := _NAMED.fullmatch(head)) is None:
        return None
    unit, factor = _UNITS[named["unit"]]
    words = named["name"].lower()
    if tail := _TAIL.fullmatch(words):
        what = "latency" if tail["what"] == "lat" else "bandwidth"
        return _Column(head, f"{what}_p{tail['percent'].replace('.', '_')}_{unit}", factor)
    return _Column(head, f"{_WORDS[words]}_{unit}", factor) if words in _WORDS else None


def _add(output: Output, number: int, line: str, table: _Table) -> None:
    values: dict[str, float] = {}
    counts: dict[str, int | None] = {"size": 0, "iterations": None}
    words = table.words(output, number, line, "# Size          Latency (us)")
    for head, word in words.items():
        column = table.columns[head]
        if column.name == "validation":
            table.validated.append(_validated(output, number, word))
        elif column.name in counts:
            counts[column.name] = output.whole(number, head, word)
        else:
            values[column.name] = column.factor * output.number(number, head, word)
    table.add(output, number, counts["size"] or 0, values, counts["iterations"])


def _validated(output: Output, number: int, word: str) -> bool:
    if word not in ("Pass", "Fail"):
        raise output.error(number, f"Validation is {shown(word)}", "Pass or Fail")
    return word == "Pass"


def _run(output: Output, table: _Table) -> PrintedRun:
    if not table.rows:
        what = f"table 'OSU {table.name}' has no rows with a time or bandwidth above 0"
        raise output.error(table.line, what, "column headings and one row per size")
    full = "latency_max_s" in table.rows[0].results
    wrong = not all(table.validated)
    return PrintedRun(
        TOOL,
        table.name,
        table.version,
        table.line,
        "mean over iterations, on the slowest rank" if full else "mean over iterations and ranks",
        params=table.facts,
        ranks=_ranks(table),
        rows=table.rows,
        failure="its validation failed" if wrong else None,
        verified=bool(table.validated) and not wrong,
    )


def _ranks(table: _Table) -> int | None:
    if isinstance(pairs := table.facts.get("pairs"), int):
        return 2 * pairs
    pair = re.fullmatch(
        r"(MPI(-\w+)? )?((Multi-(threaded|process) )?Latency|(Bi-Directional )?Bandwidth)",
        table.name,
    )
    one_sided = re.match(r"MPI_(Put|Get|Accumulate|Fetch|Compare)", table.name)
    return 2 if pair or one_sided else None
