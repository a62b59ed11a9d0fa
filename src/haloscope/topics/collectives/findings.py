# SPDX-License-Identifier: BSD-3-Clause
"""Findings on collective operations: by size, by number of processes, leaps, and guidelines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import OPEN
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric, Ratio, Verdict
from haloscope.grouped import grouped
from haloscope.layout import PROCESSES
from haloscope.quantities import listed
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Bytes, Settings, varying
from haloscope.topics.collectives import (
    FLAT,
    Followed,
    Leap,
    flat_to,
    growth,
    guideline_followed,
    halo_followed,
    is_broken,
    ladders,
    law_named,
    leaps,
    over,
    parts,
    undisturbed,
)
from haloscope.topics.common.making import made, needed_of, ratio_of

LEAPS = 6
"""LEAPS is the maximum number of listed leaps; the largest ones are listed."""
OPERATION = Metric("time of an operation")


def collectives(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield times by size with the most processes, growth from the fewest to the most,
    and leaps.
    """
    for part in parts(cases):
        many = max(part.cases, key=lambda case: (case.ranks, case.layout.nodes))
        yield from _by_size(many, context)
        for few, *_, most in ladders(part):
            yield from _by_ranks(few, most, context)
        for case in _tops(part):
            if found := leaps(case, context.seed):
                yield _leaping(found, case, context)


def _tops(part: Facet) -> list[MeasuredCase]:
    nodes = [[c for c in part.cases if (c.layout.nodes > 1) == several] for several in (0, 1)]
    return [max(own, key=lambda case: (case.ranks, case.layout.nodes)) for own in nodes if own]


def _by_size(case: MeasuredCase, context: Context) -> Iterator[Finding]:
    """Yield the fastest and the slowest of several operations at both ends, or both ends of one,
    and the range in which each is flat.

    Without the first size if it takes longer than the second, because it was not warm yet.
    """
    sized = {name: points for name, points in undisturbed(case).items() if len(points) > 1}
    falls = {(o.operation, o.below_bytes) for o in leaps(case, context.seed) if o.times.value < 1}
    cold = any((name, points[0].size_bytes) in falls for name, points in sized.items())
    first = int(cold and not case.simulated)
    swept = {name: points[first:] for name, points in sized.items() if len(points) > 1 + first}
    if not swept:
        return
    found = []
    for at in (0, -1):
        ordered = sorted(swept.items(), key=lambda item: item[1][at].time.value)
        found += [
            Claim(
                {"operation": name, "size": Bytes(points[at].size_bytes)}, estimate=points[at].time
            )
            for name, points in dict((ordered[0], ordered[-1])).items()
        ]
    question = "Collectives, fastest and slowest operation"
    if len(swept) == 1:
        question = "Collectives, smallest and largest size"
    yield made(
        context, [case], question, FindingShape.VALUE, found,
        topic="collectives", kind="extremes", metric=OPERATION, but=("sizes",),
    )  # fmt: skip
    flat = grouped(swept, lambda name: flat_to(swept[name]))
    yield made(
        context,
        [case],
        "Collectives, largest size up to which the time is at most "
        f"{FLAT:.0f}x that of the smallest",
        FindingShape.VALUE,
        [
            Claim({"operation": listed(names)}, estimate=Estimate(float(at), None, None, 1, "none"))
            for at, names in sorted(flat.items())
        ],
        topic="collectives",
        kind="flat",
        metric=Metric("size", "B", "higher"),
        but=("sizes",),
    )


def _by_ranks(few: MeasuredCase, many: MeasuredCase, context: Context) -> Iterator[Finding]:
    """Yield growth at the smallest and the largest size, by the nearest law."""
    found = growth(few, many, context.seed)
    sizes = sorted({one.size_bytes for one in found if one.size_bytes})
    nodes = many.layout.nodes
    least: Settings = {"ranks": few.ranks}
    most: Settings = {"ranks": many.ranks}
    if nodes > 1:
        least, most = {**least, "nodes": few.layout.nodes}, {**most, "nodes": nodes}
    every = []
    for at in sizes[:1] + sizes[1:][-1:]:
        there = sorted((o for o in found if o.size_bytes == at), key=lambda o: o.times.value)
        for law, own in grouped(there, law_named).items():
            nearest = {"law": law} if law else {}
            times = [one.times.rate(1.0) for one in own]
            values = [one.value for one in times]
            widest = max(times, key=lambda one: one.relative_half_width)
            names = listed([one.operation for one in own])
            every.append(
                Claim(
                    {"operation": names, **nearest, "size": Bytes(at), **most},
                    least,
                    ratio=Ratio(widest, min(values), max(values), median(values)),
                )
            )
    if every:
        yield made(
            context, [few, many], "Collectives, growth with processes", FindingShape.TREND, every,
            topic="collectives", kind="growth", metric=OPERATION, but=(*PROCESSES, "sizes"),
        )  # fmt: skip


def _leaping(found: Sequence[Leap], case: MeasuredCase, context: Context) -> Finding:
    greatest = sorted(found, key=lambda one: -max(one.times.value, 1 / one.times.value))[:LEAPS]
    sizes = [points[0].size_bytes for points in undisturbed(case).values() if points]
    cold = any(one.times.value < 1 and one.below_bytes == min(sizes) for one in greatest)
    return made(
        context,
        [case],
        "Collectives, sizes at which the algorithm or protocol probably changes",
        FindingShape.TREND,
        [
            Claim(
                {"operation": one.operation, "size": Bytes(one.above_bytes)},
                {"size": Bytes(one.below_bytes)},
                ratio=Ratio.of(one.times.rate(1.0)),
            )
            for one in greatest
        ],
        topic="collectives",
        kind="leaps",
        metric=OPERATION,
        of=len(found),
        caveats=[Caveat.COLD] * (cold and not case.simulated)
        + [Caveat.OF_THE_SIMULATOR] * case.simulated,
        but=("sizes",),
    )


def pgmpi(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the violated guidelines of all cases with the required operations, and where."""
    found = guideline_followed(cases, context.seed)
    if not found:
        return
    settings = list(dict.fromkeys(one.case for one in found))
    by = grouped(found, lambda one: one.guideline)
    broken = [part for own in by.values() if (part := _violated(own, settings))]
    too_few = all(one.too_few for one in found)
    rest = len(by) - len(broken)
    found_of = [*broken]
    if rest:
        found_of.append(
            Claim(
                {"guidelines": rest, "of": len(by)},
                verdict=Verdict.UNDECIDED if too_few else Verdict.HOLDS,
                needed=needed_of([one for each in found for one in each.at.values()]),
            )
        )
    simulated = all(case.simulated for case in settings)
    yield made(
        context,
        settings,
        "Performance guidelines (PGMPI)",
        FindingShape.BOUND,
        found_of,
        topic="collectives",
        metric=OPERATION,
        axis="size",
        points=sorted({at for one in found for at in one.at}),
        of=len(settings),
        caveats=[Caveat.OF_THE_SIMULATOR] * simulated
        + [Caveat.TOO_FEW] * any(one.too_few for one in found),
        but=("sizes",),
    )


def _violated(own: Sequence[Followed], settings: Sequence[MeasuredCase]) -> Claim | None:
    broken = [one for one in own if one.broken]
    if not broken:
        return None
    every = [(one, at, contrast) for one in broken for at, contrast in one.broken.items()]
    one, at, _ = max(every, key=lambda each: over(each[2]))
    where: Settings = {}
    if len(settings) > 1:
        where = {"size": Bytes(at), "ppn": one.case.layout.ppn, "nodes": one.case.layout.nodes}
    contrasts = [contrast for *_, contrast in every]
    return Claim(
        {"operation": own[0].guideline.operation},
        {"operation": listed([name for name, _ in own[0].guideline.stand_in])},
        at=tuple(sorted({at for _, at, _ in every})) if len(settings) == 1 else (),
        count=len(broken) if len(settings) > 1 else None,
        ratio=ratio_of(contrasts, where),
        verdict=Verdict.VIOLATED,
        p_value=max((c.adjusted for c in contrasts if c.adjusted is not None), default=None),
    )


def halos(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield whether a neighbourhood collective is slower than single messages, over all
    settings.
    """
    found = [one for one in halo_followed(cases, context.seed) if one.ratio]
    if not found:
        return
    broken = [one for one in found if is_broken(one)]
    names = [
        name for name in varying([one.second.case.settings for one in found]) if name != "exchange"
    ]
    most = max(broken or found, key=over)
    where = {name: most.second.case.settings.get(name) for name in (*names, "nodes")}
    part = Claim(
        {"operation": "MPI_Neighbor_alltoallw"},
        {"operation": "MPI_Irecv and MPI_Isend"},
        count=len(broken) if broken else len(found),
        ratio=ratio_of(broken or found, where if len(found) > 1 else {}),
        verdict=Verdict.VIOLATED if broken else Verdict.HOLDS,
        p_value=max((c.adjusted for c in broken if c.adjusted is not None), default=None),
        needed=needed_of(found),
    )
    few = any(one.verdict in OPEN for one in found)
    yield made(
        context,
        [measure.case for one in found for measure in (one.first, one.second)],
        "Guideline for halo exchanges (one collective should not be slower than single messages)",
        FindingShape.BOUND,
        [part],
        topic="collectives",
        metric=Metric("time of an exchange"),
        of=len(found),
        caveats=[Caveat.TOO_FEW] if few else [],
        but=("exchange",),
    )
