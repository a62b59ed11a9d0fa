# SPDX-License-Identifier: BSD-3-Clause
"""Read the output of the Intel MPI Benchmarks: tables of IMB-MPI1, IMB-NBC, IMB-RMA, and others."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from dataclasses import dataclass

from haloscope.outputs.printed import Output, PrintedRun, SizeTable, shown

TOOL = "imb"
_VERSION = re.compile(
    r"#\s+Intel ?\(R\) MPI Benchmark(?:s| Suite) V?(?P<version>[\w. ]+?)"
    r"(?:, (?P<part>.*) part)?\s*$"
)
_DATE = re.compile(r"# Date\s+: (?P<date>\w{3} \w{3} +\d+ [\d:]+ \d{4})\s*$")
_HEADING = re.compile(r"# Benchmarking (?P<name>\S.*?)\s*$")
_RANKS = re.compile(r"# #processes = (?P<ranks>\d+)(?: \(threads: (?P<threads>\d+)\)|;.*)?\s*$")
_GROUPS = re.compile(r"# \( ?(?P<groups>\d+) groups of (?P<ranks>\d+) processes")
_MODE = re.compile(r"#\s+MODE: (?P<mode>\S+)\s*$")
_END = "# All processes entering MPI_Finalize"
_HEADS = {
    "#bytes": ("size", 1.0),
    "#repetitions": ("repetitions", 1.0),
    "t[usec]": ("latency_mean_s", 1e-6),
    "t_min[usec]": ("latency_min_s", 1e-6),
    "t_max[usec]": ("latency_max_s", 1e-6),
    "t_avg[usec]": ("latency_mean_s", 1e-6),
    "t_ovrl[usec]": ("latency_mean_s", 1e-6),
    "t_pure[usec]": ("pure_communication_s", 1e-6),
    "t_CPU[usec]": ("compute_s", 1e-6),
    "overlap[%]": ("overlap_share", 0.01),
    "Mbytes/sec": ("bandwidth_bytes_per_s", 0.0),
    "Msg/sec": ("messages_per_s", 1.0),
    "defects": ("defects", 1.0),
}
_DECIMAL_SINCE = 2018
"""_DECIMAL_SINCE is the first version in which a Mbyte has 10^6 bytes; before it had 2^20."""
_NOT_MEASURED = re.compile(r"\s*(?P<size>\d+)\s+(\d+\s+)?(?P<why>int-overflow|out-of-mem|time-out)")


@dataclass
class _Table(SizeTable):
    """A table that is being read."""

    ranks: int | None = None
    threads: int | None = None
    defects: bool = False
    at: float | None = None


def read(output: Output) -> list[PrintedRun]:
    """Return every table of a file. Raise UserError with the line if there is none, or it is
    truncated.
    """
    version: str | None = None
    tables: list[_Table] = []
    ended, at = False, None
    for number, line in enumerate(output.lines, start=1):
        if found := _VERSION.match(line):
            version, at = found["version"], None
            ended = found["part"] == "MT"  # IMB-MT prints no line at its end
        elif found := _DATE.match(line):
            at = _seconds(found["date"])
        elif found := _HEADING.match(line):
            tables.append(_Table(number, found["name"], at=at))
        elif line.startswith(_END):
            ended = True
        elif tables and (found := _NOT_MEASURED.match(line)):
            tables[-1].left_out = True
            output.leave_out(number, f"IMB did not measure {found['size']} B: {found['why']}")
        elif tables and line.strip():
            _read(output, number, line, tables[-1], version)
    if not tables:
        expected = "'# Benchmarking NAME' above a table of IMB-MPI1 or similar"
        raise output.error(1, "the file has no IMB benchmark", expected)
    if not ended:
        what = "the output is truncated"
        raise output.error(len(output.lines), what, f"'{_END}' at the end")
    measured = [table for table in tables if table.rows or not table.left_out]
    return [_run(output, table, version) for table in measured or tables[:1]]


def _seconds(date: str) -> float | None:
    """Return the seconds since 1970 of a date in this machine's time zone, as printed
    by asctime.
    """
    with suppress(ValueError, OverflowError):
        return time.mktime(time.strptime(date, "%a %b %d %H:%M:%S %Y"))
    return None


def _read(output: Output, number: int, line: str, table: _Table, version: str | None) -> None:
    if found := _RANKS.match(line):
        table.ranks = int(found["ranks"])
        table.threads = int(found["threads"]) if found["threads"] else None
    elif found := _GROUPS.match(line):
        table.facts["groups"] = int(found["groups"])
        table.ranks = int(found["groups"]) * int(found["ranks"])
    elif found := _MODE.match(line):
        table.name = f"{table.name} {found['mode'].lower()}"
    elif line.split()[0] in ("#bytes", "#repetitions", "Group"):
        table.head = _heads(output, number, line)
    elif re.match(r"\s*\d", line):
        _add(output, number, line, table, version)


def _heads(output: Output, number: int, line: str) -> list[str]:
    heads = line.split()
    for head in heads:
        if head not in _HEADS:
            known = ", ".join(_HEADS)
            raise output.error(number, f"unknown column {shown(head)}", f"one of {known}")
    return heads


def _add(output: Output, number: int, line: str, table: _Table, version: str | None) -> None:
    values: dict[str, float] = {}
    counts = {"size": 0, "repetitions": 0, "defects": 0}
    words = table.words(output, number, line, "#bytes #repetitions t[usec] Mbytes/sec")
    timed = any(_HEADS[head][0].startswith("latency") for head in words)
    for head, word in words.items():
        name, factor = _HEADS[head]
        if name == "defects":
            table.defects |= output.number(number, head, word) > 0
        elif name in counts:
            counts[name] = output.whole(number, head, word)
        elif factor or not timed:  # a bandwidth beside times follows from them
            factor = factor or _megabyte(output, number, version)
            values[name] = factor * output.number(number, head, word)
    if timed or (counts["size"] and values.get("bandwidth_bytes_per_s")):
        table.add(output, number, counts["size"], values, counts["repetitions"] or None)
    # otherwise the bandwidth of an empty message, which is meaningless


def _megabyte(output: Output, number: int, version: str | None) -> float:
    """Return the bytes of a Mbyte. Raise UserError if the version, which determines it,
    is unknown.
    """
    year = re.match(r"\d+", version or "")
    if year is None:
        expected = (
            "'# Intel(R) MPI Benchmarks VERSION' at the top, because the unit Mbyte "
            "depends on the version"
        )
        raise output.error(number, "unknown version of IMB", expected)
    return 1e6 if int(year[0]) >= _DECIMAL_SINCE else 2.0**20


def _run(output: Output, table: _Table, version: str | None) -> PrintedRun:
    if not table.rows:
        what = f"table '{table.name}' has no rows with a time or bandwidth above 0"
        raise output.error(table.line, what, "column headings and one row per size")
    over_ranks = "latency_max_s" in table.rows[0].results
    return PrintedRun(
        TOOL,
        table.name,
        version,
        table.line,
        f"mean over repetitions{', on the slowest rank' if over_ranks else ''}",
        params=table.facts,
        ranks=table.ranks,
        threads=table.threads,
        rows=table.rows,
        failure="IMB found defects in its messages" if table.defects else None,
        at=table.at,
    )
