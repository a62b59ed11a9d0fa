# SPDX-License-Identifier: BSD-3-Clause
"""Reliability of findings: missing launches, conditions, noise, simulation, plausibility.

The bounds of messages are far outside published values (shared memory 0.2 to 2 µs, TCP within a
node 5 to 50 µs, networks 1 to 100 µs). What exceeds them is wrong or remarkable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from haloscope.analysis.cases import MeasuredCase, label_of, name_of
from haloscope.analysis.conditions import changes, differences
from haloscope.analysis.context import Context
from haloscope.analysis.fits import exchanges
from haloscope.analysis.sweeps import Swept, capacities, sweep
from haloscope.analysis.validation.published import Reference, called
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import (
    BANDWIDTH,
    LATENCY,
    Claim,
    Finding,
    FindingShape,
    Metric,
    Ratio,
)
from haloscope.grouped import grouped
from haloscope.papers.validated import Validated, validated
from haloscope.papers.validated import called as named
from haloscope.quantities import count, listed, parse_cpu_list, rate, seconds
from haloscope.records.points import is_of_several, most_apart, point_key, point_name
from haloscope.stats.estimates import Estimate
from haloscope.topics.common.making import warning
from haloscope.topics.memory import memory_triads, step_near

if TYPE_CHECKING:
    from haloscope.records.record import Record

SMALL_BYTES = 8
SOONEST_S = 20e-9
"""No cache line moves between cores in less time."""
LATEST_S = {"shm": 20e-6, "node": 100e-6, "network": 1e-3}
"""Longest one-way time of a small message: shared memory, any means within a node,
between nodes.
"""
LARGE_BYTES = 1 << 20
SLOWEST = 10e6
"""Bytes per second: below the oldest network in use, Ethernet with 100 Mbit/s."""
FASTEST = 400e9
"""Bytes per second and process: a core stores at most 64 bytes per clock cycle, at 6 GHz."""
NAMED = 3
OUTCOMES = {
    "wrong": "wrong",
    "failed": "failed",
    "timeout": "timed out",
    "misplaced": "misplaced",
    "absent": "unavailable here",
}


def incomplete(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Yield a warning if planned launches are in no table."""
    bad = Counter(record.outcome for case in cases for record in case.excluded)
    absent = bad.pop("absent", 0)  # expected in a study that requests everything possible
    good = sum(len(case.launches) for case in cases)
    planned = sum(max(case.planned or 0, len(case.launches) + len(case.excluded)) for case in cases)
    planned -= absent
    if planned > good:
        parts = [Claim({"outcome": OUTCOMES[name]}, count=n) for name, n in bad.items()]
        if rest := planned - good - bad.total():
            parts.append(Claim({"outcome": "not run"}, count=rest))
        own = [case for case in cases if case.excluded or len(case.launches) < (case.planned or 0)]
        yield _counted(Caveat.INCOMPLETE, own, planned - good, planned, "launches", parts)


def _counted(
    caveat: Caveat,
    cases: Sequence[MeasuredCase],
    some: int,
    every: int,
    noun: str = "cases",
    parts: Sequence[Claim] = (),
) -> Finding:
    return warning(caveat, cases, parts, question=f"{some:,} of {every:,} {noun}")


def mixed(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Yield warnings of launches measured with different libraries or machines, or
    after a change.
    """
    if found := differences(cases):
        parts = [Claim({"name": f"{what}: {listed(values)}"}) for what, values in found.items()]
        yield warning(Caveat.MIXED, cases, parts)
    if after := changes(cases):
        own = [case for case in cases if any(record.changed for record in case.launches)]
        launches = sum(bool(record.changed) for case in own for record in case.launches)
        parts = [Claim({"change": change}) for change in after]
        every = sum(len(case.launches) for case in cases)
        yield _counted(Caveat.CHANGED, own, launches, every, "launches", parts)


def marked(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Yield warnings of shared cores, unverified answers, emulated devices, and unvalidated
    clusters.
    """
    measured = [case for case in cases if case.launches and not case.simulated]
    for caveat, own in (
        (Caveat.OVERSUBSCRIBED, [case for case in cases if case.oversubscribed]),
        (Caveat.UNVERIFIED, [case for case in measured if not case.verified]),
        (Caveat.EMULATED, [case for case in cases if case.emulated]),
    ):
        if own:
            yield _counted(caveat, own, len(own), len(cases))


def simulation(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Yield the number of replicates, and the errors of such simulations."""
    simulated = [case for case in cases if case.simulated and case.launches]
    if own := [case for case in simulated if case.replicated]:
        yield _counted(Caveat.REPLICATES, own, len(own), len(simulated), "simulated cases")
    yield from validity(simulated)


def validity(simulated: Sequence[MeasuredCase]) -> Iterator[Finding]:
    """Yield errors of each kernel on its cluster relative to published times, by table."""
    parts = []
    for where in dict.fromkeys((case.cluster, case.kernel) for case in simulated):
        known = [one for one in validated() if (one.cluster, one.kernel) == where]
        by_paper = grouped(known, lambda one: (one.paper, one.variant, one.over))
        parts += [_validated(own) for own in by_paper.values()]
    if parts:
        yield Finding(
            question="Error of comparable simulations",
            shape=FindingShape.PUBLISHED,
            parts=tuple(parts),
            metric=Metric("relative error", ""),
            cases=tuple(case.id for case in simulated),
            kind="simulation_error",
        )


def _validated(own: Sequence[Validated]) -> Claim:
    one = own[0]
    median, worst = max(each.median for each in own), max(each.worst for each in own)
    over = f", relative to {one.over}" if one.over else ""
    cells = count(sum(each.cells for each in own), "cell")
    of = "median in the worst table" if len(own) > 1 else "median"
    text = f"{of}, {100 * worst:.1f} % maximum, in {cells}{over}"
    names = [called(each.table) for each in own]
    short = [name.removeprefix("table ") for name in names]
    tables = listed(names) if len(own) == 1 else f"tables {listed(short)}"
    reference = Reference(worst, text, 0.0, worst, f"{one.paper}, {tables}")
    return Claim({"name": named(one.kernel, one.variant)}, share=median, published=(reference,))


def core_kinds(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Yield a warning of cases whose ranks ran on several kinds of cores."""
    own = [case for case in cases if any(_kinds(record) > 1 for record in case.launches)]
    if own:
        yield _counted(Caveat.MIXED_CORES, own, len(own), len(cases))


def _kinds(record: Record) -> int:
    machine = record.machine or {}
    kinds = [{*parse_cpu_list(text)} for text in machine.get("topology", {}).get("kind", ())]
    used = {cpu for rank in record.layout.get("seen", ()) for cpu in rank["cpus"]}
    return sum(bool(kind & used) for kind in kinds)


def disturbed(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield warnings of other programs running before the study, and of launches that vary too
    much.
    """
    if busy := busy_processors(context.machine):
        part = Claim({"quantity": "load"}, estimate=_number(busy))
        yield warning(Caveat.BUSY, cases, [part], metric=Metric("load", ""))
    several = [case for case in cases if len(case.times_s) > 1]
    if own := uneven(several):
        yield _counted(Caveat.UNSTEADY, own, len(own), len(several))


def _number(value: float) -> Estimate:
    return Estimate(value, None, None, 1, "none")


def implausible(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield a warning for every ping-pong with an impossible latency or bandwidth."""
    triads = memory_triads(cases, context.machine).values()
    memory = max((triad.point.rate.value for triad in triads), default=None)
    for case in cases:
        if case.kernel != "pingpong" or case.simulated or case.oversubscribed or case.emulated:
            continue
        points = [point for point in sweep(case) if point.size_bytes]
        for point, expected, metric in (
            *_latency(case, points),
            *_bandwidth(case, points, memory, context.machine),
        ):
            estimate = point.one_way if metric is LATENCY else point.rate
            part = Claim(
                {"size": point.size_bytes, "name": f"expected {expected}, measured"},
                estimate=estimate,
            )
            name = name_of(case, cases)
            yield warning(Caveat.IMPLAUSIBLE, [case], [part], question=name, metric=metric)


_Implausible = tuple[Swept, str, Metric]


def _latency(case: MeasuredCase, points: Sequence[Swept]) -> Iterator[_Implausible]:
    if not points or points[0].size_bytes > SMALL_BYTES or not exchanges(case):
        return
    time = points[0].one_way.value
    place = "network" if case.layout.nodes > 1 else "node"
    way = "shm" if case.settings.get("transport") == "shm" and place == "node" else place
    if time > LATEST_S[way]:
        yield points[0], f"at most {seconds(LATEST_S[way], 2)}", LATENCY
    if time < SOONEST_S:
        yield points[0], f"at least {seconds(SOONEST_S, 2)}", LATENCY


def _bandwidth(
    case: MeasuredCase,
    points: Sequence[Swept],
    memory: float | None,
    machine: Mapping[str, Any] | None,
) -> Iterator[_Implausible]:
    if not points:
        return
    best, last = max(points, key=lambda point: point.rate.value), points[-1]
    if best.rate.value > FASTEST * case.ranks:
        yield best, f"at most {rate(FASTEST)} per process", BANDWIDTH
    if last.size_bytes >= LARGE_BYTES and last.rate.value < SLOWEST:
        yield last, f"at least {rate(SLOWEST)}", BANDWIDTH
    caches = capacities(case, machine)
    held = caches[-1][1] if caches else float("inf")
    in_memory = case.layout.nodes == 1 and last.size_bytes > 2 * held
    if memory and in_memory and last.rate.value > memory:
        yield last, f"at most the memory's {rate(memory)} (triad)", BANDWIDTH


def scattered(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Yield a warning for every external program whose pattern matches times of different
    operations.
    """
    for case in cases:
        apart = [most_apart(record) for record in case.launches if is_of_several(record)]
        if apart:
            most, where = max(apart)
            named = f"{where}, factor" if where else "factor"
            part = Claim({"name": named}, ratio=Ratio.of(_number(most)))
            name = name_of(case, cases)
            yield warning(Caveat.SEVERAL_OPERATIONS, [case], [part], question=name)


def untimed(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Yield a warning for every external program without a valid time for a size in
    some launches.
    """
    for case in cases:
        lines = Counter(
            point_key(one)
            for record in case.launches
            for one in (record.program or {}).get("untimed", ())
        )
        found = lines | Counter(case.lacking if case.external else {})  # the larger of both numbers
        if found:
            parts = [
                Claim({"name": f"x {point_name(key, case.size_unit)}"}, count=n)
                for key, n in found.items()
            ]
            if len(parts) > NAMED:
                rest = sum(part.count or 0 for part in parts[NAMED:])
                parts = [*parts[:NAMED], Claim({"name": "others"}, count=rest)]
            yield warning(Caveat.NO_TIME, [case], parts, question=name_of(case, cases))


def near_steps(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the simulated times near a step of the node model, which measurements do not have."""
    simulated = [case for case in cases if case.simulated]
    near = [(case, level) for case in simulated if (level := step_near(case, context.machine))]
    if near:
        parts = [
            Claim({"name": f"{label_of(case, simulated)} ({level})"}) for case, level in near[:1]
        ]
        if len(near) > 1:
            parts.append(Claim({"name": "more"}, count=len(near) - 1))
        own = [case for case, _ in near]
        yield _counted(
            Caveat.NEAR_CACHE_SIZE, own, len(own), len(simulated), "simulated cases", parts
        )


BUSY = 0.5
"""BUSY is the largest load before the study, in processors, without a warning."""
UNEVEN = 1.3
"""UNEVEN is the largest ratio of slowest to fastest launch of a case without a warning."""


def busy_processors(machine: Mapping[str, Any] | None) -> float:
    """Return how many processors other programs used when the run began; 0 if negligible."""
    busy = float((machine or {}).get("busy_processors") or 0.0)
    return busy if busy > BUSY else 0.0


def uneven(cases: Sequence[MeasuredCase]) -> list[MeasuredCase]:
    """Return the cases whose slowest launch took much longer than the fastest."""
    several = [case for case in cases if len(case.times_s) > 1]
    return [case for case in several if max(case.times_s) > UNEVEN * min(case.times_s)]
