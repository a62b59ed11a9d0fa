# SPDX-License-Identifier: BSD-3-Clause
"""Whether cases ran on cores of several kinds, of which the slower ones hold the faster ones up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from haloscope.analysis.cases import MeasuredCase
from haloscope.host.cpulist import parse_cpu_list
from haloscope.quantities import count, listed
from haloscope.report.context import Context
from haloscope.report.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from haloscope.records.record import Record

ORDER = 25


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """A warning of cases whose ranks ran on cores of more than one kind."""
    mixed = [case for case in cases if any(_kinds(record) > 1 for record in case.launches)]
    if mixed:
        ranks = sorted({int(one.layout["ranks"]) for case in mixed for one in case.launches})
        yield Finding(
            f"{count(len(mixed), 'case')} ran on cores of several kinds, of "
            f"{listed([str(one) for one in ranks])} processes: the slowest core sets the time, and "
            "speedup and efficiency mix the kinds.",
            "warning",
        )


def _kinds(record: Record) -> int:
    """On how many kinds of cores a launch's ranks were bound; 0 where that is not known."""
    machine = record.machine or {}
    kinds = [{*parse_cpu_list(text)} for text in machine.get("topology", {}).get("kind", ())]
    used = {cpu for rank in record.layout.get("seen", ()) for cpu in rank["cpus"]}
    return sum(bool(kind & used) for kind in kinds)
