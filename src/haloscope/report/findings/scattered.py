# SPDX-License-Identifier: BSD-3-Clause
"""Times of one launch of an external program that can't be repetitions of one step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, name_of
from haloscope.analysis.sweeps import sweep
from haloscope.quantities import number, size
from haloscope.report.context import Context
from haloscope.report.findings import Finding

ORDER = 45
TIMES = 10
"""TIMES is how many times its shortest repetition the longest of a launch may take."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """A warning for every case whose pattern finds times of several things."""
    for case in cases:
        if not case.external:
            continue
        most, where = max(_ratios(case), default=(1.0, ""))
        if most >= TIMES:
            mend = (
                "check that [points] does not find lines of several operations"
                if where
                else "if they are of several sizes, say so with [points] instead of [time]"
            )
            yield Finding(
                f"{name_of(case, cases)}: within one launch, repetitions{where} differ by a "
                f"factor of {number(most)}: {mend}.",
                "warning",
            )


def _ratios(case: MeasuredCase) -> Iterator[tuple[float, str]]:
    """The longest over the shortest repetition of each launch; of each size, where it has some."""
    if not sweep(case):
        yield from (
            (max(record.times_s) / min(record.times_s), "")
            for record in case.launches
            if record.times_s
        )
        return
    for record in case.launches:
        for point in record.points:
            of = " ".join(filter(None, (point.get("operation"), size(point["size_bytes"]))))
            yield max(point["times_s"]) / min(point["times_s"]), f" of {of}"
