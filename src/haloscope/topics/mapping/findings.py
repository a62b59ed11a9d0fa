# SPDX-License-Identifier: BSD-3-Clause
"""Findings on tasks on few and many nodes: the fastest mapping, published effects, weak scaling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Race, front, races, step
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet
from haloscope.analysis.validation.published import Reference
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric, Ratio, Verdict
from haloscope.layout import PROCESSES
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Settings
from haloscope.topics.common.making import made, node_hours, winners
from haloscope.topics.mapping import (
    PATTERNS,
    PROGRAMS,
    effects,
    last,
    mapping_of,
    pattern_of,
    spreads,
    weak_scalings,
)

ITSELF = "lammps_rhodo"
_BUT = (*PROCESSES, "tasks", "mapping", "mapping_seed", "topology")
STEP = Metric("time of a step")


def mappings(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield for each comparison the fastest number of nodes, and the ranks on each."""
    for part, _ in spreads(cases):
        timed = [case for case in part.cases if case.time]
        by_tasks = _by_nodes(part.cases, context)
        if by_tasks:
            several = any(case.layout.ppn > 1 for case in part.cases)
            close = several and part.settings.get("bind") == "close"
            yield made(
                context,
                timed,
                "Few or many nodes",
                FindingShape.BEST,
                _patterns(by_tasks),
                topic="mapping",
                kind="nodes",
                metric=STEP,
                axis="tasks",
                points=list(by_tasks),
                caveats=[
                    *[Caveat.ONE_SOCKET] * close,
                    *[Caveat.STAND_IN] * _stands_in(part, context),
                ],
                but=_BUT,
            )
            yield from _published(by_tasks, timed, context)
        yield from _ranks(timed, context)
        yield from _front(timed, context)


def _stands_in(part: Facet, context: Context) -> bool:
    """Return whether a comparison's kernel represents other programs of the study's paper."""
    kernel = part.cases[0].kernel
    stood_for = any(kernel in stand_ins for stand_ins in PROGRAMS.values())
    return kernel != ITSELF and stood_for and bool(context.library.tables(("mapping_plan",)))


_Raced = tuple[Race[MeasuredCase], Sequence[MeasuredCase]]
"""A race, and all cases with the same number of tasks, which define the patterns."""


def _by_nodes(cases: Sequence[MeasuredCase], context: Context) -> dict[int, _Raced]:
    """Return a race for each number of tasks, with the best mapping of each number of nodes."""
    timed = [case for case in cases if case.time]
    fields = {}
    for tasks in sorted({case.ranks for case in timed}):
        own = [case for case in timed if case.ranks == tasks]
        best = [
            min((c for c in own if c.layout.nodes == nodes), key=lambda case: case.time_s)
            for nodes in sorted({case.layout.nodes for case in own})
        ]
        fields[float(tasks)] = {case: step(case) for case in best}
    return {
        int(race.at): (race, [case for case in cases if case.ranks == int(race.at)])
        for race in races(fields, context.seed)
    }


def _patterns(by_tasks: Mapping[int, _Raced]) -> list[Claim]:
    """Return the fastest pattern by number of tasks; nodes are named if they are one number."""
    groups: dict[tuple[tuple[str, ...], str], list[int]] = {}
    for tasks, (race, tried) in by_tasks.items():
        first = tuple(sorted({pattern_of(c, tried) for c in race.first}, key=PATTERNS.index))
        loser = pattern_of(_loser(race), tried) if len(first) == 1 else ""
        groups.setdefault((first, loser), []).append(tasks)
    found = []
    for (first, loser), alike in groups.items():
        raced = [by_tasks[one][0] for one in alike]
        ratio = None
        if loser:
            over = sorted(race.over(_loser(race)) for race in raced)
            least = Estimate.alone(over[0])
            ratio = Ratio(least, over[0], over[-1], median(over))
        tied = all(race.tied for race in raced)
        few = any(race.too_few for race in raced)
        verdict = Verdict.FASTER
        if len(first) > 1:
            verdict = Verdict.EQUAL if tied else Verdict.UNDECIDED if few else Verdict.NO_DIFFERENCE
        found.append(
            Claim(
                _pattern(first[0], [race.best for race in raced] if loser else []),
                _pattern(loser, [_loser(race) for race in raced]) if loser else {},
                also=tuple({"pattern": name} for name in first[1:]),
                at=tuple(alike),
                estimate=raced[0].against[_loser(raced[0])].second.time
                if loser and len(raced) == 1
                else None,
                ratio=ratio,
                verdict=verdict,
                node_hours=node_hours([(race.best, _loser(race)) for race in raced])
                if loser
                else None,
            )
        )
    return found


def _pattern(name: str, cases: Sequence[MeasuredCase]) -> Settings:
    nodes = {case.layout.nodes for case in cases}
    return {"pattern": name, **({"nodes": nodes.pop()} if len(nodes) == 1 else {})}


def _loser(race: Race[MeasuredCase]) -> MeasuredCase:
    """Return the case on the fewest nodes or, if that is the fastest, the one on the most."""
    every = sorted((race.best, *race.against), key=lambda case: case.layout.nodes)
    return every[-1] if race.best is every[0] else every[0]


def _published(
    by_tasks: Mapping[int, _Raced], timed: Sequence[MeasuredCase], context: Context
) -> Iterator[Finding]:
    """Yield published effects on this cluster, and whether they agree with the
    corresponding race.
    """
    best = next(iter(by_tasks.values()))[0].best
    cluster = best.cluster or context.host
    parts = []
    for effect in effects(context.library, cluster, best.kernel):
        asked = effect.tasks or max(by_tasks)
        race, tried = by_tasks[next((t for t in by_tasks if t >= asked), max(by_tasks))]
        first = {pattern_of(case, tried) for case in race.first}
        pattern, *others = sorted(first, key=PATTERNS.index)
        agrees = (PATTERNS[0] in first) == effect.concentrated
        if agrees and not effect.is_of(race.best.ranks):
            continue
        text = f"{effect.program}, {effect.tasks_text} tasks, {effect.text}"
        value = effect.ratio or 1.0
        parts.append(
            Claim(
                {"pattern": pattern, "tasks": race.best.ranks},
                also=tuple({"pattern": other} for other in others),
                published=(Reference(value, text, value, value, effect.source),),
                verdict=Verdict.AGREES if agrees else Verdict.DISAGREES,
            )
        )
    if parts:
        yield made(
            context, timed, "Few or many nodes, compared with the paper",
            FindingShape.PUBLISHED, parts,
            topic="mapping", kind="published_nodes", metric=STEP, but=_BUT,
        )  # fmt: skip


def _ranks(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    places = sorted({(case.ranks, case.layout.nodes) for case in cases})
    fields = {
        float(index): {c: step(c) for c in cases if (c.ranks, c.layout.nodes) == place}
        for index, place in enumerate(places)
    }
    found = races(fields, context.seed)
    if not found:
        return
    race = max(found, key=lambda race: max(map(race.over, race.against)))
    yield made(
        context,
        [race.best, *race.against],
        "Mapping of ranks to nodes, largest effect",
        FindingShape.BEST,
        winners([race], _mapping),
        topic="mapping",
        kind="ranks",
        metric=STEP,
        but=("mapping", "mapping_seed", "topology"),
    )


def _mapping(case: MeasuredCase) -> Settings:
    """Return the mapping, with the seed of a random one."""
    names = ("mapping", "mapping_seed")
    return {name: value for name in names if (value := case.settings.get(name)) is not None}


def _front(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield time against node-hours for the most tasks whose fastest layout is not the cheapest."""
    by_tasks = {case.ranks: [one for one in cases if one.ranks == case.ranks] for case in cases}
    fronts = {
        tasks: front(own, lambda case: case.time_s, lambda case: case.time_s * case.layout.nodes)
        for tasks, own in by_tasks.items()
    }
    tasks = max((tasks for tasks, best in fronts.items() if len(best) > 1), default=None)
    if tasks is None:
        return
    several = len({mapping_of(case) for case in by_tasks[tasks] if case.on_nodes}) > 1
    parts = [
        Claim(
            {
                "nodes": case.layout.nodes,
                **(_mapping(case) if several and case.on_nodes else {}),
            },
            estimate=case.time,
            node_s=case.node_time.value if case.node_time else None,
        )
        for case in fronts[tasks]
    ]
    yield made(
        context,
        by_tasks[tasks],
        "Time and node-hours",
        FindingShape.VALUE,
        parts,
        topic="mapping",
        kind="node_hours",
        metric=STEP,
        but=[name for name in _BUT if name != "tasks"],
    )


def weak(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield for each comparison the most tasks in every pattern, relative to the fewest on one
    node.
    """
    for part, scaling in weak_scalings(cases):
        _, patterns = last(scaling)
        reference: Settings = {"tasks": scaling.reference.ranks, "nodes": 1}
        parts = [
            Claim(
                {"pattern": pattern, "tasks": case.ranks, "nodes": case.layout.nodes},
                reference,
                ratio=Ratio.of(ratio.rate(1.0)),
            )
            for pattern, case in patterns.items()
            if (ratio := scaling.over_reference(case, context.seed))
        ]
        if parts:
            yield made(
                context, [case for case in part.cases if case.time], "Weak scaling of a step",
                FindingShape.TREND, parts, topic="mapping", metric=STEP, but=_BUT,
            )  # fmt: skip
