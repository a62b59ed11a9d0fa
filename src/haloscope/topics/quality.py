# SPDX-License-Identifier: BSD-3-Clause
"""Reliability of findings: missing launches, conditions, noise, simulation, plausibility.

The bounds of messages are far outside published values (shared memory 0.2 to 2 µs, TCP within a
node 5 to 50 µs, networks 1 to 100 µs). What exceeds them is wrong or remarkable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from haloscope.analysis.cases import MeasuredCase, own_settings
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
from haloscope.quantities import listed, parse_cpu_list, percent
from haloscope.records.points import is_of_several, most_apart, point_key, point_name
from haloscope.records.record import Record
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Settings
from haloscope.topics.common.making import warning
from haloscope.topics.memory import memory_triads, step_near

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
    return warning(caveat, cases, [Claim({noun: some}), *parts], of=every)


def mixed(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Yield warnings of launches measured with different libraries or machines, or
    after a change.
    """
    if found := differences(cases):
        parts = [
            Claim({what: first}, also=tuple({what: value} for value in others))
            for what, (first, *others) in found.items()
        ]
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
    names = [called(each.table) for each in own]
    short = [name.removeprefix("table ") for name in names]
    tables = listed(names) if len(own) == 1 else f"tables {listed(short)}"
    return Claim(
        {
            **one.settings,
            **({"tables": len(own)} if len(own) > 1 else {}),
            **({"relative_to": one.over} if one.over else {}),
        },
        count=sum(each.cells for each in own),
        share=median,
        published=(Reference(worst, percent(worst), 0.0, worst, f"{one.paper}, {tables}"),),
    )


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
            part = Claim({"size": point.size_bytes}, expected, estimate=estimate)
            common = own_settings(case, cases)
            yield warning(Caveat.IMPLAUSIBLE, [case], [part], common=common, metric=metric)


_Implausible = tuple[Swept, Settings, Metric]


def _latency(case: MeasuredCase, points: Sequence[Swept]) -> Iterator[_Implausible]:
    if not points or points[0].size_bytes > SMALL_BYTES or not exchanges(case):
        return
    time = points[0].one_way.value
    place = "network" if case.layout.nodes > 1 else "node"
    way = "shm" if case.settings.get("transport") == "shm" and place == "node" else place
    if time > LATEST_S[way]:
        yield points[0], {"at_most": LATEST_S[way]}, LATENCY
    if time < SOONEST_S:
        yield points[0], {"at_least": SOONEST_S}, LATENCY


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
        yield best, {"at_most": FASTEST * case.ranks, "ranks": case.ranks}, BANDWIDTH
    if last.size_bytes >= LARGE_BYTES and last.rate.value < SLOWEST:
        yield last, {"at_least": SLOWEST}, BANDWIDTH
    caches = capacities(case, machine)
    held = caches[-1][1] if caches else float("inf")
    in_memory = case.layout.nodes == 1 and last.size_bytes > 2 * held
    if memory and in_memory and last.rate.value > memory:
        yield last, {"at_most": memory, "operation": "triad"}, BANDWIDTH


def scattered(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Yield a warning for every external program whose pattern matches times of different
    operations.
    """
    for case in cases:
        apart = [most_apart(record) for record in case.launches if is_of_several(record)]
        if apart:
            most, where = max(apart)
            part = Claim({"point": where} if where else {}, ratio=Ratio.of(_number(most)))
            common = own_settings(case, cases)
            yield warning(Caveat.SEVERAL_OPERATIONS, [case], [part], common=common)


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
                Claim({"point": point_name(key, case.size_unit)}, count=n)
                for key, n in found.items()
            ]
            if len(parts) > NAMED:
                rest = sum(part.count or 0 for part in parts[NAMED:])
                parts = [*parts[:NAMED], Claim({"others": rest})]
            yield warning(Caveat.NO_TIME, [case], parts, common=own_settings(case, cases))


def near_steps(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the simulated times near a step of the node model, which measurements do not have."""
    simulated = [case for case in cases if case.simulated]
    near = [(case, level) for case in simulated if (level := step_near(case, context.machine))]
    if near:
        case, level = near[0]
        parts = [Claim({**own_settings(case, simulated), "level": level})]
        if len(near) > 1:
            parts.append(Claim({"others": len(near) - 1}))
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
