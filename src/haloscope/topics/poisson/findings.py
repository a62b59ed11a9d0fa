# SPDX-License-Identifier: BSD-3-Clause
"""Findings on Poisson solves: speedup, layouts, variants, accuracy, published times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import contrasts, races, step
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet, facets
from haloscope.analysis.sweeps import level_of
from haloscope.analysis.validation.published import WALL_TIMES
from haloscope.analysis.validation.trust import preferred
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric, Verdict
from haloscope.layout import CORES, LAYOUT, PROCESSES
from haloscope.stats.estimates import Estimate
from haloscope.topics.common.making import made, winners
from haloscope.topics.memory import VECTORS, swept_bytes, uses
from haloscope.topics.phases import shares
from haloscope.topics.poisson import Paces, by_ranks, converged
from haloscope.topics.scaling import scalings
from haloscope.topics.scaling.findings import (
    differ_in_layout,
    fastest_layout,
    layout_of,
    speedup_claim,
)

ABOVE = 1.005
"""ABOVE is the minimum efficiency that is displayed as more than 100 %, without decimals."""
MESHES = 2
"""MESHES is the maximum number of meshes, or of other settings, with one finding each; with more,
only the largest mesh has one.
"""
COMMUNICATION = ("reduce", "halo")
FEWEST = 4
"""FEWEST is the number of meshes, each twice as fine as the previous one, that show an order: three
ratios.
"""
SEVERAL = 2
GRIDS = WALL_TIMES[:2]
SOLVE, ITERATION = Metric("time of a solve"), Metric("time of an iteration")


def solves(cases: Sequence[MeasuredCase]) -> list[MeasuredCase]:
    """Return the cases of the Poisson solver."""
    return [case for case in cases if case.kernel == "poisson_cg"]


def speedup(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the speedup of the largest mesh on the most cores, with the fastest of several
    settings.
    """
    tops = [
        (ladder, good[-1])
        for scaling in scalings(preferred(solves(cases)))
        for ladder in scaling.ladders
        if len(good := [case for case in ladder.steps.values() if case.launches]) > 1
    ]
    if not tops:
        return
    ladder, top = max(tops, key=lambda pair: (pair[0].n, *_cores(pair[1]), -pair[1].time_s))
    contrast, share = ladder.against_base(top, context.seed), ladder.efficiency(top, context.seed)
    base = ladder.base
    if contrast and contrast.ratio and share and base:
        yield made(
            context,
            [top, base],
            "Time of a solve" if converged(top) else "Time of an iteration",
            FindingShape.TREND,
            [speedup_claim(contrast, share.value)],
            topic="scaling",
            metric=SOLVE if converged(top) else ITERATION,
            caveats=efficiency_caveats(
                base, share, _levels(base, top, context), grows=_bandwidth_grows(base, top, context)
            ),
            but=CORES,
        )


def _bandwidth_grows(base: MeasuredCase, top: MeasuredCase, context: Context) -> bool:
    """Return whether triads over such working sets also gain more than the number of cores."""
    found = uses([base, top], context.all_cases, context.machine)
    per_core = [use.triad.moved.value / use.triad.case.cores for use in found if use.triad]
    return len(per_core) > 1 and per_core[1] > ABOVE * per_core[0]


def _cores(case: MeasuredCase) -> tuple[bool, int]:
    """Return the sort key of cases by cores: hardware threads that share cores do not
    count more.
    """
    return not case.shares_cores, case.cores


def _levels(base: MeasuredCase, top: MeasuredCase, context: Context) -> bool:
    if base.settings.get("variant") not in VECTORS:
        return False
    few, many = (level_of(swept_bytes(case), case, context.machine) for case in (base, top))
    return few != many


def efficiency_caveats(
    base: MeasuredCase, share: Estimate, levels: bool, *, grows: bool = False
) -> list[Caveat]:
    """Return whether working sets are in different levels, or why an efficiency exceeds 100 %."""
    if levels:
        return [Caveat.OTHER_LEVEL]
    if share.value < ABOVE:
        return []
    if not base.alike and (share.low is None or share.low <= 1):
        return [Caveat.SUPERLINEAR_UNSHOWN]
    return [Caveat.BANDWIDTH_GROWS if grows else Caveat.SUPERLINEAR]


def layouts(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the layout to use for the largest mesh on the most cores that several layouts share.

    For one of several other settings. If only bindings differ, they are compared over all settings
    together. If the paper has another order of simulated layouts, its times are included.
    """
    solved = [
        case for case in preferred(solves(cases)) if case.time and not case.settings.get("tasks")
    ]
    by_key: dict[tuple[int, ...], list[MeasuredCase]] = {}
    for index, part in enumerate(facets(solved, (*LAYOUT, "n"))):
        for case in part.cases:
            key = (case.number("n"), *_cores(case), -case.layout.nodes, -index)
            by_key.setdefault(key, []).append(case)
    several = {key: own for key, own in by_key.items() if differ_in_layout(own)}
    if not several:
        return
    _, group = max(several.items())
    best, layout, apart = fastest_layout(group, context)
    yield made(
        context, group, "Fastest layout", FindingShape.BEST, [layout],
        topic="walltime", metric=SOLVE, but=apart, near=[best],
    )  # fmt: skip
    otherwise = _otherwise(best, group, apart, context)
    if otherwise:
        yield made(
            context, group, "Layouts that the paper orders differently", FindingShape.PUBLISHED,
            otherwise, topic="walltime", kind="published_order", metric=SOLVE, but=apart, near=[],
        )  # fmt: skip


def _otherwise(
    best: MeasuredCase, group: Sequence[MeasuredCase], apart: Sequence[str], context: Context
) -> list[Claim]:
    """Return the simulated and the published fastest layout, if the paper's order differs."""
    if not best.simulated:
        return []
    pairs = ((case, context.library.find(case, "time_s", WALL_TIMES)) for case in group)
    known = [(case, found) for case, found in pairs if found]
    own = next((found for case, found in known if case is best), None)
    if own is None:
        return []
    other, first = min(known, key=lambda pair: pair[1].value)
    if first.high >= own.low or other is best:
        return []
    shown = contrasts([(step(other), step(best))], context.seed)[0].verdict
    if shown != "faster":
        return []
    return [
        Claim(layout_of(case, apart), estimate=case.time, published=(there,), verdict=verdict)
        for case, there, verdict in ((other, first, None), (best, own, Verdict.DISAGREES))
    ]


def per_node(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the fastest number of processes per node for each mesh, on few nodes and on many.

    For processes without threads, several numbers of nodes, and each exchange. Of several other
    settings, the one that solves the largest mesh on the most nodes in the shortest time is used;
    of several exchanges, the largest mesh. Published times of the largest mesh are included.
    """
    chosen = _by_exchange(cases)
    for fields in chosen:
        top = max(n for n, _ in fields)
        yield from _best_per_node(fields, top if len(chosen) > 1 else 0, context)
        at_top = {nodes: [*field.items()] for (n, nodes), field in fields.items() if n == top}
        yield from _published_best(
            "Fastest number of processes per node", "per node", "nodes", at_top, context
        )


def _best_per_node(fields: _Fields, least: int, context: Context) -> Iterator[Finding]:
    keys = list(fields)
    measured = {
        float(index): {ppn: step(case) for ppn, case in fields[key].items()}
        for index, key in enumerate(keys)
    }
    found = {keys[int(race.at)]: race for race in races(measured, context.seed)}
    every = [case for field in fields.values() for case in field.values()]
    top = max(found)
    for n in sorted({n for n, _ in found if n >= least}, reverse=True):
        own = {nodes: race for (edge, nodes), race in found.items() if edge == n}
        parts = winners(
            list(own.values()), lambda ppn: {"per node": ppn}, lambda race: keys[int(race.at)][1]
        )
        yield made(
            context,
            [case for case in every if case.number("n") == n],
            "Fastest number of processes per node",
            FindingShape.BEST,
            parts,
            topic="walltime",
            metric=SOLVE,
            axis="nodes",
            points=sorted(own),
            but=PROCESSES,
            near=[fields[top][found[top].best]] if n == top[0] else [],
        )


def turns(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the fastest number of processes of each mesh, if more processes are slower for some
    mesh.
    """
    for fields in _by_exchange(cases):
        every: dict[int, list[tuple[int, MeasuredCase]]] = {}
        for (n, _), field in fields.items():
            every.setdefault(n, []).extend((case.ranks, case) for case in field.values())
        best = {
            n: {p: step(case) for p, case in sorted(own, key=lambda pair: -pair[1].time_s)}
            for n, own in every.items()
        }
        found = races({float(n): field for n, field in best.items()}, context.seed)
        if all(max(best[int(race.at)]) in race.first for race in found):
            continue
        yield made(
            context,
            [case for own in every.values() for _, case in own],
            "Fastest number of processes",
            FindingShape.BEST,
            winners(found, lambda p: {"ranks": p}, lambda race: int(race.at)),
            topic="scaling",
            metric=SOLVE,
            axis="n",
            points=sorted(every),
            but=("n", *PROCESSES),
            near=[],
        )
        yield from _published_best("Fastest number of processes", "ranks", "n", every, context)


def _published_best(
    question: str,
    name: str,
    axis: str,
    fields: Mapping[int, Sequence[tuple[int, MeasuredCase]]],
    context: Context,
) -> Iterator[Finding]:
    """Yield the numbers with the shortest published time at each point of an axis, as a finding."""
    groups: dict[tuple[int, ...], list[int]] = {}
    known, sources = [], set()
    for at, field in fields.items():
        pairs = [(number, case, context.library.find(case, "time_s", GRIDS))
                 for number, case in field]  # fmt: skip
        there = [(number, case, one) for number, case, one in pairs if one]
        if len({number for number, _, _ in there}) < SEVERAL:
            continue
        least = min(one.value for _, _, one in there)
        first = sorted({number for number, _, one in there if one.value == least})
        groups.setdefault(tuple(first), []).append(at)
        known += [case for _, case, _ in there]
        sources |= {one.source for _, _, one in there}
    if not groups:
        return
    parts = [
        Claim(
            {name: first[0]},
            also=tuple({name: other} for other in first[1:]),
            at=tuple(at),
            verdict=Verdict.EQUAL if first[1:] else Verdict.FASTER,
        )
        for first, at in groups.items()
    ]
    but = ("n", *PROCESSES) if axis == "n" else PROCESSES
    finding = made(
        context, known, f"{question}, published: {'; '.join(sorted(sources))}", FindingShape.BEST,
        parts, topic="walltime" if axis == "nodes" else "scaling", kind=f"published_{axis}",
        metric=SOLVE, axis=axis, points=sorted(fields), but=but, near=[],
    )  # fmt: skip
    yield replace(finding, caveats=(), cases=())  # both apply to simulated or measured cases


_Fields = Mapping[tuple[int, int], Mapping[int, MeasuredCase]]


def _by_exchange(cases: Sequence[MeasuredCase]) -> list[_Fields]:
    solved = [case for case in preferred(solves(cases)) if case.time and case.layout.threads == 1]
    chosen: dict[object, _Fields] = {}
    for part in facets(solved, ("n", *PROCESSES)):
        fields, exchange = _fields(part), part.cases[0].settings.get("exchange")
        if len({nodes for _, nodes in fields}) < SEVERAL:
            continue
        if exchange not in chosen or _rank(fields) < _rank(chosen[exchange]):
            chosen[exchange] = fields
    return [*chosen.values()]


def _fields(part: Facet) -> dict[tuple[int, int], dict[int, MeasuredCase]]:
    found: dict[tuple[int, int], dict[int, MeasuredCase]] = {}
    for case in sorted(part.cases, key=lambda case: case.layout.ppn):
        key = (case.number("n"), case.layout.nodes)
        found.setdefault(key, {})[case.layout.ppn] = case
    return {key: field for key, field in sorted(found.items()) if len(field) > 1}


def _rank(fields: _Fields) -> tuple[int, int, float]:
    """Return the sort key of settings: the largest mesh, the most nodes, and the shortest time."""
    n, nodes = max(fields)
    return -n, -nodes, min(case.time_s for case in fields[n, nodes].values())


def variants_by_ranks(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the fastest variant by ranks for each mesh, and the share of communication."""
    raced = by_ranks(cases, context.seed)
    if len(raced) > MESHES:
        largest = max(found.part.cases[0].number("n") for found, _ in raced)
        raced = [one for one in raced if one[0].part.cases[0].number("n") == largest]
    for found, run in raced:
        yield made(
            context,
            found.part.cases,
            "Fastest variant, per iteration",
            FindingShape.BEST,
            winners(run, lambda name: {"variant": name}, lambda race: int(race.at)),
            topic="iterations",
            metric=ITERATION,
            axis="ranks",
            points=[int(race.at) for race in run],
            but=(*PROCESSES, "variant", "s", "reorthogonalise"),
        )
        yield from _communicating(found, context)


def _communicating(found: Paces, context: Context) -> Iterator[Finding]:
    shared = [ranks for ranks, row in found.by_ranks.items() if set(row) == set(found.variants)]
    if not shared or shared[-1] == 1:
        return
    row = found.by_ranks[shared[-1]]
    spent = {
        name: [one.share.value for one in shares(case) if one.name in COMMUNICATION]
        for name, (case, _) in row.items()
    }
    if all(spent.values()):
        total = {name: sum(parts) for name, parts in spent.items()}
        yield made(
            context,
            [case for case, _ in row.values()],
            "Share of communication in an iteration",
            FindingShape.BREAKDOWN,
            [
                Claim({"variant": name}, share=total[name])
                for name in sorted(total, key=lambda name: total[name])
            ],
            topic="iterations",
            kind="communication",
            metric=ITERATION,
            but=("variant", "s", "reorthogonalise"),
        )
