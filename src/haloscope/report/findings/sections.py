# SPDX-License-Identifier: BSD-3-Clause
"""Where LAMMPS' time goes: its longest sections, and those of the kernel that stands for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.phases import shares
from haloscope.analysis.sections import in_sections
from haloscope.quantities import SECONDS, count, listed, percent, seconds
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import place, spread

ORDER = 133
TOLD = 3
"""TOLD is the largest number of sections that are told of each case."""


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Of each kernel with sections the fewest and the most tasks, on the fewest nodes."""
    own = [case for case in cases if case.time and (known := in_sections(case)) and shares(known)]
    for kernel in dict.fromkeys(case.kernel for case in own):
        ordered = sorted(
            (case for case in own if case.kernel == kernel),
            key=lambda case: (case.ranks, case.number("nodes")),
        )
        most = next(case for case in ordered if case.ranks == ordered[-1].ranks)
        told = [_told(case) for case in dict.fromkeys((ordered[0], most))]
        yield Finding(f"A step of {kernel}{place(*own)}: {'; '.join(told)}.")


def _told(case: MeasuredCase) -> str:
    """ "2 tasks on one node take 221 ms: Pair 68 %, Neigh 14 % and Kspace 11 %"."""
    known = in_sections(case)
    assert known is not None and case.time is not None
    longest = sorted(shares(known), key=lambda one: -one.share.value)[:TOLD]
    nodes = case.number("nodes")
    where = count(nodes, "node") if nodes > 1 else "one node"
    parts = listed([f"{one.name} {percent(one.share.value)}" for one in longest])
    time = f"{seconds(case.time.value)}{spread(case.time, SECONDS)}"
    take = "takes" if case.ranks == 1 else "take"
    return f"{count(case.ranks, 'task')} on {where} {take} {time}, {parts}"
