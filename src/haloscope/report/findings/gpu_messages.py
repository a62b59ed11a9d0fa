# SPDX-License-Identifier: BSD-3-Clause
"""Messages between GPUs: start-up, bandwidth by two points, and what a star forest adds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.star_forests import BetweenGpus, gpu_messages
from haloscope.quantities import rate, seconds, size
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import few, place

ORDER = 141
ANSWERS = ("sf_latency",)


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Table 1 of the report on Summit and what section 3 makes of it, by where two GPUs are."""
    found = gpu_messages(cases)
    if not found:
        return
    own = [one.case for one in found]
    where = f"{place(*own)}{few(*own)}"
    told = "; ".join(f"{_of(one)}{_message(one)}" for one in found)
    yield Finding(f"Messages between GPUs (pingpong){where}, bandwidth by two points: {told}.")
    if beside := [one for one in found if one.added_s]:
        told = "; ".join(f"{_of(one)}{_added(one)}" for one in beside)
        yield Finding(f"A star forest (sf_pingpong) adds to messages between GPUs{where}: {told}.")


def _of(one: BetweenGpus) -> str:
    return f"{one.of}: " if one.of else ""


def _message(one: BetweenGpus) -> str:
    least, most = one.sizes
    speed = f"{rate(one.bandwidth_bytes_per_s)} ({size(least)} and {size(most)})"
    return f"{size(least)} take {seconds(one.smallest_s)}, {speed}"


def _added(one: BetweenGpus) -> str:
    """At the least size, and the extremes over sizes where these are written differently."""
    at_least = seconds(round(one.added_s[min(one.added_s)], 12))
    low, high = (seconds(round(end(one.added_s.values()), 12)) for end in (min, max))
    return at_least if low == high else f"{at_least} at {size(min(one.added_s))} ({low} to {high})"
