# SPDX-License-Identifier: BSD-3-Clause
"""One run as printed by a benchmark, in SI units: a table of sizes, or one time with results."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite

from haloscope import __version__
from haloscope.errors import Problem, UserError
from haloscope.records.record import Record
from haloscope.study.case import Value

_LABEL = re.compile(r"^(?: *\d+:(?: |$)|\[\d+\] |\[[^\]\s]*\d+,\d+\]<stdout>: ?)")
"""_LABEL is the rank before a line: of srun --label, of Hydra's -l, of Open MPI's --tag-output."""


@dataclass(frozen=True)
class SizeRow:
    """One line of a table of sizes.

    size_bytes: 0 if nothing is sent. time_s: of one operation, as printed; None if only a bandwidth
    is printed. results: all values printed for the size, in SI units.
    """

    size_bytes: int
    time_s: float | None
    results: Mapping[str, float]
    repetitions: int | None = None


@dataclass(frozen=True)
class PrintedRun:
    """One run of a benchmark.

    benchmark: its name, as printed. params: its settings, as printed. ranks, threads, nodes: None
    if not printed. rows: of a table of sizes. time_s: of one step, without such a table. statistic:
    of its times over repetitions and ranks. results: of the run, in SI units; units: of results
    that have one. phases: parts of a step, in seconds. failure: why its result is invalid, or "".
    verified: whether it verified its result. at: its end in seconds since 1970, if known. line:
    where it begins in its file.
    """

    tool: str
    benchmark: str
    version: str | None
    line: int
    statistic: str
    params: Mapping[str, Value] = field(default_factory=dict)
    ranks: int | None = None
    threads: int | None = None
    nodes: int | None = None
    rows: Sequence[SizeRow] = ()
    time_s: float | None = None
    results: Mapping[str, Value] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    phases: Mapping[str, float] = field(default_factory=dict)
    failure: str | None = None
    verified: bool = False
    host: str | None = None
    toolchain: str | None = None
    at: float | None = None


@dataclass(frozen=True)
class Output:
    """The text of a file, by lines, for errors with line numbers. name: of the file.

    left_out: lines without a valid time, each with the reason.
    """

    name: str
    text: str
    left_out: list[str] = field(default_factory=list)

    @cached_property
    def lines(self) -> list[str]:
        """Lines without a launcher's labels; form feeds and similar characters do not
        end a line.
        """
        return [_LABEL.sub("", line) for line in re.split(r"\r\n|\n|\r", self.text)]

    @property
    def cut_off_in(self) -> int | None:
        """Number of the last line if it is incomplete; otherwise None."""
        return len(self.lines) if self.lines[-1] else None

    def error(self, line: int, what: str, expected: str) -> UserError:
        """Return an error about a line, with what was expected there."""
        return UserError(Problem(f"{self.name}:{line}", what, f"expected {expected}"))

    def leave_out(self, line: int, what: str) -> None:
        """Skip a line without a valid time; the others are kept."""
        self.left_out.append(f"{self.name}:{line}: {what}")

    def number(self, line: int, name: str, word: str) -> float:
        """Parse a number of at least 0. Raise UserError otherwise."""
        try:
            value = float(word)
        except ValueError:
            value = -1.0
        if not (isfinite(value) and value >= 0):
            raise self.error(line, f"{name} is {shown(word)}", "a number of at least 0")
        return value

    def whole(self, line: int, name: str, word: str) -> int:
        """Parse an integer of at least 0. Raise UserError otherwise."""
        if not re.fullmatch(r"\d{1,18}", word):
            raise self.error(line, f"{name} is {shown(word)}", "an integer of at least 0")
        return int(word)


@dataclass
class SizeTable:
    """A table of sizes that is being read. head: of its columns; None before they are read.

    left_out: whether a line without a valid time was skipped.
    """

    line: int
    name: str
    facts: dict[str, Value] = field(default_factory=dict)
    head: Sequence[str] | None = None
    rows: list[SizeRow] = field(default_factory=list)
    left_out: bool = False

    def words(self, output: Output, number: int, line: str, example: str) -> dict[str, str]:
        """Return the values of a line by column. Raise UserError unless there is one for each."""
        if self.head is None:
            what = f"the line {shown(line.strip())} has no column headings above it"
            raise output.error(number, what, f"a line such as '{example}'")
        words = line.split()
        if len(words) != len(self.head):
            what = f"{len(words)} values in a table of {len(self.head)} columns"
            raise output.error(number, what, f"one value for each of {', '.join(self.head)}")
        return dict(zip(self.head, words, strict=True))

    def add(
        self,
        output: Output,
        number: int,
        size: int,
        values: Mapping[str, float],
        repetitions: int | None,
    ) -> None:
        """Add a row, unless its time is 0. Raise UserError for a repeated size."""
        time_s = values.get("latency_max_s", values.get("latency_mean_s"))
        if size in [row.size_bytes for row in self.rows]:
            raise output.error(number, f"duplicate size {size} in the table", "each size once")
        why = ""
        if time_s is None and not (size and values.get("bandwidth_bytes_per_s")):
            why = f"{size} B has neither a time nor a bandwidth above 0"
        elif time_s == 0:
            why = f"the time of {size} B is 0"
        if why:
            self.left_out = True
            output.leave_out(number, why)
        else:
            self.rows.append(SizeRow(size, time_s, values, repetitions))


def shown(text: str) -> str:
    """Quote a part of a file, shortened to fit a message."""
    return f"'{text[:40]}...'" if len(text) > 40 else f"'{text}'"


def columns(line: str) -> list[str]:
    """Return the column headings in a line, separated by at least two blanks or a tab."""
    return [one for one in re.split(r"\s{2,}|\t", line.strip()) if one]


def slug(name: str) -> str:
    """Return a benchmark's name as part of a kernel's name."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


KERNEL = "pingpong"


def osu(record: Record) -> Iterator[str]:
    """Return the lines of osu_latency, or of osu_bw and osu_bibw if messages stream."""
    name, head, result, factor = {
        "stream": ("Bandwidth", "Bandwidth (MB/s)", "bandwidth_bytes_per_s", 1e-6),
        "bistream": ("Bi-Directional Bandwidth", "Bandwidth (MB/s)", "bandwidth_bytes_per_s", 1e-6),
    }.get(record.params["mode"], ("Latency", "Latency (us)", "latency_s", 1e6))
    yield f"# OSU MPI {name} Test"
    yield from _comments(record)
    yield f"# {'Size':<8}{head:>18}"
    for point in record.points:
        if value := point["result"][result]:
            yield f"{point['size_bytes']:<10}{factor * value:>18.2f}"


def imb(record: Record) -> Iterator[str]:
    """Return the lines of IMB-MPI1 PingPong, or of Uniband and Biband if messages stream."""
    mode = record.params["mode"]
    name = {"stream": "Uniband", "bistream": "Biband"}.get(mode, "PingPong")
    yield from _comments(record)
    yield "#" + 51 * "-"
    yield f"# Benchmarking {name} "
    yield f"# #processes = {record.layout['ranks']} "
    yield "#" + 51 * "-"
    heads = ("t[usec]", "Mbytes/sec") if name == "PingPong" else ("Mbytes/sec", "Msg/sec")
    yield "".join(f"{head:>13}" for head in ("#bytes", "#repetitions", *heads))
    for point in record.points:
        result = point["result"]
        speed = 1e-6 * (result["bandwidth_bytes_per_s"] or 0.0)
        latency = 1e6 * (result["latency_s"] or 0.0)
        values = (latency, speed) if name == "PingPong" else (speed, result["messages_per_s"] or 0)
        numbers = "".join(f"{value:>13.2f}" for value in values)
        yield f"{point['size_bytes']:>13}{point['steps']:>13}{numbers}"
    yield ""
    yield "# All processes entering MPI_Finalize"


def _comments(record: Record) -> Iterator[str]:
    """Yield the comments: origin, and that times are medians over repetitions, not means."""
    times = len(record.times_s)
    yield f"# Printed by haloscope {__version__}: {record.kernel} mode={record.params['mode']}"
    yield f"# Median of {times} repetitions; library: {record.toolchain.get('mpi', 'unknown')}"


PRINTERS: Mapping[str, Callable[[Record], Iterator[str]]] = {"osu": osu, "imb": imb}
