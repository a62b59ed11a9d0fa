# SPDX-License-Identifier: BSD-3-Clause
"""Read the result file of HPCG: HPCG-Benchmark_VERSION_DATE.txt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from haloscope.outputs.printed import Output, PrintedRun, shown

TOOL = "hpcg"
_RATING = re.compile(r"Final Summary::\s*HPCG result is (?P<word>VALID|INVALID)")
_PHASES = ("DDOT", "WAXPBY", "SpMV", "MG")
_RESULTS = {
    "GFLOP/s Summary::Raw Total": ("raw_flops_per_s", "FLOP/s", 1e9),
    "GB/s Summary::Raw Total B/W": ("memory_bytes_per_s", "B/s", 1e9),
    "DDOT Timing Variations::Max DDOT MPI_Allreduce time": ("allreduce_max_s", "s", 1.0),
}
_DOMAIN = "Local Domain Dimensions"


@dataclass(frozen=True)
class _Report:
    """Keys and values of a report, each with its line number."""

    output: Output
    line: int
    found: Mapping[str, tuple[int, str]]

    def word(self, key: str) -> tuple[int, str]:
        if key not in self.found:
            last = max((line for line, _ in self.found.values()), default=self.line)
            expected = f"a line '{key}=VALUE'; the report may be truncated"
            raise self.output.error(last, f"'{key}' is missing", expected)
        return self.found[key]

    def number(self, key: str) -> float:
        line, word = self.word(key)
        return self.output.number(line, key, word)

    def whole(self, key: str) -> int:
        line, word = self.word(key)
        return self.output.whole(line, key, word)


def read(output: Output) -> list[PrintedRun]:
    """Return the reports of a file. Raise UserError with the line if there is none, or a key is
    missing.
    """
    reports: list[_Report] = []
    keys: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(output.lines, start=1):
        plain = line.strip().removeprefix("# ")
        if plain == "HPCG-Benchmark":
            reports.append(_Report(output, number, keys := {}))
        elif reports and "=" in plain:
            key, _, value = plain.rpartition("=")
            keys.setdefault(key.strip(), (number, value.strip()))
    if not reports:
        raise output.error(1, "the file has no HPCG report", "a line 'HPCG-Benchmark'")
    return [_run(report) for report in reports]


def _run(report: _Report) -> PrintedRun:
    rating = next((key for key in report.found if _RATING.match(key)), None)
    if rating is None:
        report.word("Final Summary::HPCG result is VALID with a GFLOP/s rating of")
        raise AssertionError("the key")
    valid = "INVALID" not in rating
    iterations = report.whole("Iteration Count Information::Total number of optimized iterations")
    line, _ = report.word("Benchmark Time Summary::Total")
    total = report.number("Benchmark Time Summary::Total")
    if not (iterations and total):
        what = f"{iterations} iterations in {total:g} s"
        raise report.output.error(line, what, "both above 0")
    results = {name: factor * report.number(key) for key, (name, _, factor) in _RESULTS.items()}
    if valid:
        results = {"rating_flops_per_s": 1e9 * report.number(rating), **results}
    units = {"rating_flops_per_s": "FLOP/s", **{name: u for name, u, _ in _RESULTS.values()}}
    phases = {name: report.number(f"Benchmark Time Summary::{name}") for name in _PHASES}
    return PrintedRun(
        TOOL,
        "HPCG",
        report.found.get("version", (0, None))[1],
        report.line,
        "mean over all iterations of the optimised solver",
        params={axis: report.whole(f"{_DOMAIN}::{axis}") for axis in ("nx", "ny", "nz")},
        ranks=report.whole("Machine Summary::Distributed Processes"),
        threads=report.whole("Machine Summary::Threads per processes"),
        time_s=total / iterations,
        results=results,
        units=units,
        phases={name: time / iterations for name, time in phases.items()},
        failure=None if valid else f"HPCG result: {shown(rating.removeprefix('Final Summary::'))}",
        verified=valid,
    )
