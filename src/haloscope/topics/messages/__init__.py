# SPDX-License-Identifier: BSD-3-Clause
"""Messages between two processes: races of MPI libraries and transports, and findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import ALPHA, Measure, Race, one_way, races
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet, facets
from haloscope.analysis.fits import exchanges
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.findings.finding import BANDWIDTH, LATENCY, Claim, Finding, FindingShape, Metric
from haloscope.quantities import listed
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Bytes, Settings, describe, varying, with_nodes
from haloscope.topics.common.making import made, winners

AXES = ("toolchain", "transport")


def message_races(
    cases: Sequence[MeasuredCase], seed: int
) -> list[tuple[Facet, dict[int, Race[str]]]]:
    """Return a race at each size for every placement of two ranks with several libraries or
    transports.

    The sizes are those that all have, in ascending order. All sizes of a placement are tested as
    one family, so that any selection of them shows the same verdicts.
    """
    own = [case for case in cases if exchanges(case) and case.launches]
    found = []
    for part in facets(own, AXES):
        raced = raced_of(part)
        fields: dict[float, dict[str, Measure]] = {}
        for case in raced:
            for point in sweep(case):
                name = describe(case.settings, apart(part))
                fields.setdefault(float(point.size_bytes), {})[name] = one_way(case, point)
        common = {at: fields[at] for at in sorted(fields) if len(fields[at]) == len(raced)}
        if run := races(common, seed):
            found.append((part, {int(race.at): race for race in run}))
    return found


def raced_of(part: Facet) -> list[MeasuredCase]:
    """Return the cases with enough launches for a test of all of them at each size."""
    for least in sorted({len(case.launches) for case in part.cases}):
        own = [case for case in part.cases if len(case.launches) >= least]
        if len(own) < 2:
            break
        one, other, *_ = sorted(len(case.launches) for case in own)
        common = set.intersection(*({p.size_bytes for p in sweep(case)} for case in own))
        tests = len(common) * (len(own) - 1)
        if own[0].alike or 2 / comb(one + other, one) * tests <= ALPHA:
            return own
    return list(part.cases)


def seldom_of(part: Facet) -> list[str]:
    """Return the names of the cases that are not compared because they have too few launches."""
    raced = raced_of(part)
    return [describe(case.settings, apart(part)) for case in part.cases if case not in raced]


def apart(part: Facet) -> list[str]:
    """Return the settings, of library and transport, in which the cases of a placement differ."""
    differ = varying([case.settings for case in part.cases])
    return [name for name in AXES if name in differ]


SHOWN = 4
"""SHOWN is the maximum number of settings with a value each; with more, only the best is shown."""


def pingpong(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield latency and highest bandwidth of a few settings, or the best of many."""
    own = [case for case in cases if exchanges(case) and case.launches]
    swept = [(case, [p for p in sweep(case) if p.size_bytes]) for case in own]
    ends = [
        (case, points[0], max(points, key=lambda point: point.rate.value))
        for case, points in swept
        if points
    ]
    if not ends:
        return
    names = [name for name in varying([case.settings for case, *_ in ends]) if name != "sizes"]
    least = min(first.size_bytes for _, first, _ in ends)
    quick = sorted((e for e in ends if e[1].size_bytes == least), key=lambda e: e[1].one_way.value)
    broad = sorted(ends, key=lambda e: -e[2].rate.value)
    few = len(ends) <= SHOWN
    for question, metric, chosen in (
        ("Ping-pong latency, one way", LATENCY, quick if few else quick[:1]),
        ("Highest ping-pong bandwidth", BANDWIDTH, broad if few else broad[:1]),
    ):
        parts = [
            Claim(
                {
                    "size": Bytes((first if metric is LATENCY else best).size_bytes),
                    **_of(case, names),
                },
                estimate=first.one_way if metric is LATENCY else best.rate,
            )
            for case, first, best in chosen
        ]
        yield made(
            context, [case for case, *_ in chosen], question, FindingShape.VALUE, parts,
            topic="pingpong", kind=metric.name, metric=metric, of=len(ends), but=(*names, "ppn"),
        )  # fmt: skip


def _of(case: MeasuredCase, names: Sequence[str]) -> Settings:
    """Return settings that vary, reduced to the nodes of two ranks."""
    left_out = ["ppn"] if case.ranks == 2 else []
    left_out += ["allocation"] if case.settings.get("nodes") == 1 else []
    shown = [name for name in with_nodes(names) if name not in left_out]
    return {name: case.settings.get(name) for name in shown}


def streams(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the highest message rate and bandwidth of all message streams."""
    own = [case for case in cases if case.kernel == "pingpong" and case.launches]
    points = [
        (case, point)
        for case in own
        if not exchanges(case)
        for point in sweep(case)
        if point.size_bytes
    ]
    if not points:
        return
    names = [name for name in varying([case.settings for case, _ in points]) if name != "sizes"]
    quick = max(points, key=lambda pair: messages_per_s(pair[1]).value)
    broad = max(points, key=lambda pair: pair[1].rate.value)
    message_rate = Metric("message rate", "1/s", "higher")
    for kind, question, metric, (case, point) in (
        ("message_rate", "Message rate, highest", message_rate, quick),
        ("stream_bandwidth", "Bandwidth of streams of messages, highest", BANDWIDTH, broad),
    ):
        part = Claim(
            {"size": Bytes(point.size_bytes), **_of(case, names)},
            estimate=point.rate if metric is BANDWIDTH else messages_per_s(point),
        )
        yield made(
            context, [case], question, FindingShape.VALUE, [part],
            topic="pingpong", kind=kind, metric=metric, of=len(own), but=(*names, "ppn"),
        )  # fmt: skip


def messages_per_s(point: Swept) -> Estimate:
    """Return the message rate of a point, from its bytes."""
    return point.time.rate(point.bytes / point.size_bytes)


def libraries(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the fastest library or transport by size for every placement of two ranks."""
    for part, by_size in message_races(cases, context.seed):
        by = listed(apart(part)).replace("toolchain", "MPI library")
        yield made(
            context,
            raced_of(part),
            f"Fastest {by}, one way",
            FindingShape.BEST,
            winners(
                list(by_size.values()), lambda name: {"library": name}, lambda race: int(race.at)
            ),
            topic="pingpong",
            metric=LATENCY,
            axis="size",
            points=list(by_size),
            of=len(part.cases),
            but=("ppn", *apart(part)),
        )
