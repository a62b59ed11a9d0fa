# SPDX-License-Identifier: BSD-3-Clause
"""What a benchmark printed of one run, in SI units: a table of sizes, or one time with results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite

from haloscope.errors import Problem, UserError
from haloscope.study.case import Value

_LABEL = re.compile(r"^(?: *\d+:(?: |$)|\[\d+\] |\[[^\]\s]*\d+,\d+\]<stdout>: ?)")
"""_LABEL is the rank before a line: of srun --label, of Hydra's -l, of Open MPI's --tag-output."""


@dataclass(frozen=True)
class SizeRow:
    """One line of a table of sizes.

    size_bytes: 0 where nothing is sent. time_s: of one operation as the benchmark prints it; None
    where it prints a bandwidth only. results: all that it prints of the size, in SI units.
    """

    size_bytes: int
    time_s: float | None
    results: Mapping[str, float]
    repetitions: int | None = None


@dataclass(frozen=True)
class PrintedRun:
    """One run of a benchmark.

    benchmark: its name, as printed. params: what it says of its settings.
    ranks, threads, nodes: None where it does not say. rows: of a table of sizes.
    time_s: without such a table, of one step. statistic: what its times are over repetitions and
    ranks. results: of the run, in SI units; units: of results, where they have one.
    phases: parts of a step, in seconds. failure: why its result does not count, if it does not.
    verified: whether it verified its answer. at: seconds since 1970 at its end, if known.
    line: where it begins in its file.
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
    """The text of a file, by lines, for errors that name a line. name: of the file.

    left_out: lines without a valid time, each with the reason, as a reader found them.
    """

    name: str
    text: str
    left_out: list[str] = field(default_factory=list)

    @cached_property
    def lines(self) -> list[str]:
        """Its lines without a launcher's labels; a form feed or the like ends none."""
        return [_LABEL.sub("", line) for line in re.split(r"\r\n|\n|\r", self.text)]

    @property
    def cut_off_in(self) -> int | None:
        """The number of the last line, where it has no end; None where it has."""
        return len(self.lines) if self.lines[-1] else None

    def error(self, line: int, what: str, expected: str) -> UserError:
        """What is wrong in a line, and what was expected there."""
        return UserError(Problem(f"{self.name}:{line}", what, f"expected {expected}"))

    def leave_out(self, line: int, what: str) -> None:
        """Leave a line out that has no valid time; the others count."""
        self.left_out.append(f"{self.name}:{line}: {what}")

    def number(self, line: int, name: str, word: str) -> float:
        """A number that is not below 0. UserError where a word is none."""
        try:
            value = float(word)
        except ValueError:
            value = -1.0
        if not (isfinite(value) and value >= 0):
            raise self.error(line, f"{name} is {shown(word)}", "a number of at least 0")
        return value

    def whole(self, line: int, name: str, word: str) -> int:
        """A whole number that is not below 0. UserError where a word is none."""
        if not re.fullmatch(r"\d{1,18}", word):
            raise self.error(line, f"{name} is {shown(word)}", "an integer of at least 0")
        return int(word)


def shown(text: str) -> str:
    """A piece of a file, in quotes, no longer than a message should have."""
    return f"'{text[:40]}...'" if len(text) > 40 else f"'{text}'"


def columns(line: str) -> list[str]:
    """The column heads in a line, which blanks keep apart: two or more, or a tab."""
    return [one for one in re.split(r"\s{2,}|\t", line.strip()) if one]


def slug(name: str) -> str:
    """A benchmark's name as part of a kernel's."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
