# SPDX-License-Identifier: BSD-3-Clause
"""What a parallel region of threads costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.quantities import SECONDS, count, listed, seconds
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import place, spread

ORDER = 52


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Of the fewest threads and of the most."""
    own = [case for case in cases if case.kernel == "parallel_region" and case.launches]
    own.sort(key=lambda case: case.number("threads"))
    told = [_told(case) for case in dict.fromkeys((*own[:1], *own[-1:]))]
    if told:
        yield Finding(f"A parallel region{place(*own)} takes {listed(told)}.")


def _told(case: MeasuredCase) -> str:
    region = case.estimate(case.sample(lambda record: record.result["region_s"]))
    assert region is not None
    threads = count(case.number("threads"), "thread")
    return f"{seconds(region.value)} with {threads}{spread(region, SECONDS)}"
