# SPDX-License-Identifier: BSD-3-Clause
"""Messages faster or slower than machines are: a wrong unit, a wrong clock, or a disturbed machine.

The bounds are far outside what is published (shared memory 0.2 to 2 µs, TCP within a node 5 to
50 µs, networks 1 to 100 µs), so that what they catch is wrong or worth knowing, not merely slow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from haloscope.analysis.cases import MeasuredCase, name_of
from haloscope.analysis.fits import exchanges
from haloscope.analysis.memory_use import memory_triads
from haloscope.analysis.sweeps import Swept, capacities, sweep
from haloscope.quantities import rate, seconds, size
from haloscope.report.context import Context
from haloscope.report.findings import Finding

ORDER = 40

SMALL_BYTES = 8
SOONEST_S = 20e-9
"""No cache line goes from one core to another in less."""
LATEST_S = {"shm": 20e-6, "node": 100e-6, "network": 1e-3}
"""A small message one way: by shared memory, by any means within a node, between nodes."""
LARGE_BYTES = 1 << 20
SLOWEST = 10e6
"""Bytes a second: below the oldest network that is still in use, Ethernet of 100 Mbit/s."""
FASTEST = 400e9
"""Bytes a second and process: a core stores 64 bytes a clock at most, at 6 GHz."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Warnings of messages as no machine has them."""
    yield from (Finding(text, "warning") for text in _implausible(cases, context.machine))


def _implausible(cases: Sequence[MeasuredCase], machine: Mapping[str, Any] | None) -> Iterator[str]:
    """A sentence for every ping-pong whose latency or bandwidth no machine has."""
    triads = memory_triads(cases, machine).values()
    memory = max((triad.point.rate.value for triad in triads), default=None)
    for case in cases:
        if case.kernel != "pingpong" or case.simulated or case.oversubscribed or case.emulated:
            continue
        points = [point for point in sweep(case) if point.size_bytes]
        told = [*_latency(case, points), *_bandwidth(case, points, memory, machine)]
        yield from (f"{name_of(case, cases)}: {text}" for text in told)


def _latency(case: MeasuredCase, points: Sequence[Swept]) -> Iterator[str]:
    """Of the smallest message, where it is small."""
    if not points or points[0].size_bytes > SMALL_BYTES or not exchanges(case):
        return
    time, what = points[0].one_way.value, size(points[0].size_bytes)
    place = "network" if case.number("nodes") > 1 else "node"
    where = {"shm": "by shared memory", "node": "within a node", "network": "between nodes"}
    way = "shm" if case.settings.get("transport") == "shm" and place == "node" else place
    if time > LATEST_S[way]:
        yield (
            f"{what} take {seconds(time)} one way; more than {seconds(LATEST_S[way], 2)} is not "
            f"usual {where[way]}: do processes share a core, or sleep while they wait?"
        )
    if time < SOONEST_S:
        yield (
            f"{what} take {seconds(time)} one way, less than a cache line needs between cores "
            f"({seconds(SOONEST_S, 2)}): the clock or the count of messages is wrong."
        )


def _bandwidth(
    case: MeasuredCase,
    points: Sequence[Swept],
    memory: float | None,
    machine: Mapping[str, Any] | None,
) -> Iterator[str]:
    """Of the fastest message, and of the largest where no cache can hold it."""
    if not points:
        return
    best, last = max(points, key=lambda point: point.rate.value), points[-1]
    if best.rate.value > FASTEST * case.ranks:
        yield (
            f"{rate(best.rate.value)} at {size(best.size_bytes)}, more than cores can store "
            f"({rate(FASTEST)} each): the clock or the count of messages is wrong."
        )
    if last.size_bytes >= LARGE_BYTES and last.rate.value < SLOWEST:
        yield (
            f"{rate(last.rate.value)} at {size(last.size_bytes)}, below any network in use "
            f"({rate(SLOWEST)}): was the machine busy, or the network a wrong one?"
        )
    caches = capacities(case, machine)
    held = caches[-1][1] if caches else float("inf")
    in_memory = case.number("nodes") == 1 and last.size_bytes > 2 * held
    if memory and in_memory and last.rate.value > memory:
        yield (
            f"{rate(last.rate.value)} at {size(last.size_bytes)}, which no cache holds, more than "
            f"the memory gives (triad: {rate(memory)}), and each byte is read and written."
        )
