# SPDX-License-Identifier: BSD-3-Clause
"""Construction of findings: common settings, caveats of cases, comparisons, and races."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log
from statistics import median
from types import MappingProxyType
from typing import Any, TypeVar

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import (
    NO_DIFFERENCE,
    OPEN,
    UNTESTABLE,
    Contrast,
    Race,
    launches_needed,
)
from haloscope.analysis.context import Context
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import (
    TIME,
    Claim,
    Finding,
    FindingShape,
    Metric,
    Prominence,
    Ratio,
    Verdict,
)
from haloscope.grouped import grouped
from haloscope.stats import FEWEST_FOR_INTERVAL
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Setting, Settings, titled, varying
from haloscope.topics.memory import step_near

Name = TypeVar("Name")
VERDICTS: Mapping[str, Verdict] = {
    "faster": Verdict.FASTER,
    "slower": Verdict.SLOWER,
    "equal": Verdict.EQUAL,
    NO_DIFFERENCE: Verdict.NO_DIFFERENCE,
    **dict.fromkeys(OPEN, Verdict.UNDECIDED),
}
"""Verdicts of comparisons; unmeasured ones have none."""
_UNNAMED = ("clock", "runner", "threads", "places", "kernel")
"""Settings that a finding names only if cases differ in them; the first two have caveats."""


def made(
    context: Context,
    cases: Sequence[MeasuredCase],
    question: str,
    shape: FindingShape,
    parts: Sequence[Claim],
    *,
    topic: str,
    kind: str = "",
    metric: Metric = TIME,
    axis: str = "",
    points: Sequence[Setting] = (),
    of: int | None = None,
    bound: str = "",
    caveats: Sequence[Caveat] = (),
    but: Sequence[str] = (),
    near: Sequence[MeasuredCase] | None = None,
) -> Finding:
    """Return a finding about cases, with their common settings and caveats.

    kind: for a function that yields several kinds; otherwise the name of its Topic. but: settings
    named by its parts. near: cases whose closeness to a cache size matters, if not all.
    """
    own = list(dict.fromkeys(cases))
    found = {*caveats, *caveats_of(own)}
    if any(step_near(case, context.machine) for case in (own if near is None else near)):
        found.add(Caveat.NEAR_CACHE_SIZE)
    undecided = [part for part in parts if part.verdict is Verdict.UNDECIDED]
    if undecided:
        jobs = not any(part.needed for part in undecided) and any(c.allocations for c in own)
        found.add(Caveat.FEW_ALLOCATIONS if jobs else Caveat.TOO_FEW)
    return Finding(
        question=question,
        shape=shape,
        parts=tuple(parts),
        metric=metric,
        topic=topic,
        common=in_common(own, context.all_cases, but),
        axis=axis,
        points=tuple(points),
        of=of,
        bound=bound,
        caveats=tuple(one for one in Caveat if one in found),
        cases=tuple(case.id for case in own),
        kind=kind,
    )


def warning(
    caveat: Caveat,
    cases: Sequence[MeasuredCase] = (),
    parts: Sequence[Claim] = (),
    *,
    common: Settings = MappingProxyType({}),
    metric: Metric = TIME,
    of: int | None = None,
) -> Finding:
    """Return a warning about something that changes the answer or its reliability.

    of: number of which the first part counts some.
    """
    return Finding(
        question="",
        shape=FindingShape.WARNING,
        parts=tuple(parts),
        metric=metric,
        common=common,
        of=of,
        caveats=(caveat,),
        severity=Prominence.WARNING,
        cases=tuple(case.id for case in cases),
        kind=caveat.value,
    )


def in_common(
    own: Sequence[MeasuredCase], among: Sequence[MeasuredCase], but: Sequence[str] = ()
) -> dict[str, Setting]:
    """Return the common settings of cases that distinguish them within the report."""
    if not own:
        return {}
    kernels = {case.kernel for case in own}
    settings = [case.settings for case in own]
    differ = varying([case.settings for case in among if case.kernel in kernels] or settings)
    names = dict.fromkeys((*titled(settings), *differ))
    kept = {
        name: settings[0].get(name)
        for name in names
        if name not in but
        and (name in differ or name not in _UNNAMED)
        and name not in ("clock", "runner", "kernel")
        and all(one.get(name) == settings[0].get(name) for one in settings)
        and settings[0].get(name) is not None
    }
    return {**({"kernel": own[0].kernel} if len(kernels) == 1 else {}), **kept}


def caveats_of(cases: Sequence[MeasuredCase]) -> set[Caveat]:
    """Return the caveats of the cases behind a finding."""
    found = set()
    launches = [len(case.launches) for case in cases if case.launches and not case.alike]
    least = min(launches, default=FEWEST_FOR_INTERVAL)
    if least < FEWEST_FOR_INTERVAL:
        found.add(Caveat.ONE_LAUNCH if least == 1 else Caveat.FEW_LAUNCHES)
    for caveat, holds in (
        (Caveat.SIMULATED, any(case.simulated for case in cases)),
        (Caveat.NOT_VALIDATED, any(case.band and not case.band.own for case in cases)),
        (Caveat.REPLICATES, any(case.replicated for case in cases)),
        (Caveat.EMULATED, any(case.emulated for case in cases)),
        (Caveat.OVERSUBSCRIBED, any(case.oversubscribed for case in cases)),
        (Caveat.UNVERIFIED, any(case.launches and not case.verified for case in cases)),
        (Caveat.ONE_ALLOCATION, any(len({*(c.allocations or ())}) == 1 for c in cases)),
    ):
        if holds:
            found.add(caveat)
    return found


def verdict_of(contrast: Contrast) -> Verdict | None:
    """Return the verdict of a comparison; None if it was not measured."""
    return VERDICTS.get(contrast.verdict)


def ratio_of(contrasts: Sequence[Contrast], where: Settings | None = None) -> Ratio | None:
    """Return the ratios of contrasts with one verdict. where: settings of the most extreme one."""
    known = [one.ratio for one in contrasts if one.ratio]
    return Ratio.over(known, where) if known else None


def node_hours(pairs: Sequence[tuple[MeasuredCase, MeasuredCase]]) -> Ratio | None:
    """Return the node-hours of references over those of subjects.

    None if every pair uses the same number of nodes.
    """
    over = [
        Estimate.alone(other.node_time.value / one.node_time.value)
        for one, other in pairs
        if one.node_time and other.node_time
    ]
    if not over or all(one.settings["nodes"] == other.settings["nodes"] for one, other in pairs):
        return None
    return Ratio.over(over)


def needed_of(contrasts: Sequence[Contrast]) -> int | None:
    """Return how many launches per side would decide comparisons with too few; None for others."""
    tests = [one.family for one in contrasts if one.verdict == UNTESTABLE]
    return launches_needed(max(tests)) if tests else None


def band_within(contrasts: Sequence[Contrast]) -> float | None:
    """Return the largest error of ratios that show no difference, if simulated."""
    return band_of_verdict(contrasts, NO_DIFFERENCE)


def band_of_verdict(contrasts: Sequence[Contrast], verdict: str) -> float | None:
    """Return the largest error of the ratios with a verdict; None if none was simulated."""
    found = (one.ratio.band for one in contrasts if one.ratio and one.verdict == verdict)
    return max((band for band in found if band), default=None)


def extreme(contrasts: Sequence[Contrast]) -> Contrast:
    """Return the contrast whose ratio differs most from 1."""
    return max(contrasts, key=lambda one: abs(log(one.ratio.value)) if one.ratio else 0.0)


def by_points(found: Mapping[Any, Contrast], subject: Settings, reference: Settings) -> list[Claim]:
    """Return comparisons at several points of an axis, one part per verdict."""
    return [
        Claim(
            subject,
            reference,
            at=tuple(own),
            ratio=ratio_of([found[at] for at in own]),
            verdict=verdict,
            needed=needed_of([found[at] for at in own]),
        )
        for verdict, own in grouped(found, lambda at: verdict_of(found[at])).items()
    ]


def winners(
    raced: Sequence[Race[Name]],
    name: Callable[[Name], Settings],
    at: Callable[[Race[Name]], Setting] | None = None,
) -> list[Claim]:
    """Return the fastest in races: a part for each set of winners, with the next one."""

    def places(race: Race[Name]) -> tuple[frozenset[Name], Name | None]:
        next_one = race.lead[0] if race.lead and len(race.against) == 1 else None
        return frozenset(race.first), next_one

    found = []
    for races in grouped(raced, places).values():
        head = races[0]
        behind = {n: c for n, c in head.against.items() if c.verdict == "faster"}
        overs = [
            race.over(n) for race in races for n, c in race.against.items() if c.verdict == "faster"
        ]
        leads = [race.lead for race in races if race.lead]
        reference: Settings = {}
        if len(behind) == 1:
            reference = name(next(iter(behind)))
        elif behind:
            reference = {"others": len(behind)}
        ratio = None
        if overs:
            least = min((over for _, over in leads), default=overs[0])
            every = [c for race in races for c in race.against.values()]
            band = band_of_verdict(every, "faster")
            estimate = Estimate.alone(least, band=band)
            ratio = Ratio(estimate, min(overs), max(overs), median(overs))
        also = [n for n in head.first if n != head.best]
        verdict = Verdict.FASTER
        if also:
            tied = all(race.tied for race in races)
            few = any(race.too_few for race in races)
            verdict = Verdict.EQUAL if tied else Verdict.UNDECIDED if few else Verdict.NO_DIFFERENCE
        found.append(
            Claim(
                name(head.best),
                reference,
                also=tuple(map(name, also)),
                at=tuple(at(race) for race in races) if at else (),
                ratio=ratio,
                verdict=verdict,
                needed=needed_of([c for race in races for c in race.against.values()])
                if verdict is Verdict.UNDECIDED
                else None,
                band=band_within([c for race in races for c in race.against.values()]),
            )
        )
    return found
