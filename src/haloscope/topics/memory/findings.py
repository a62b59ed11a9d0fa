# SPDX-License-Identifier: BSD-3-Clause
"""Findings on memory bandwidth by cores, its use by solvers, and parallel regions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import Measure, contrasts
from haloscope.analysis.context import Context
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import (
    BANDWIDTH,
    Claim,
    Finding,
    FindingShape,
    Metric,
    Ratio,
)
from haloscope.grouped import grouped
from haloscope.layout import CORES
from haloscope.quantities import listed, rate, size
from haloscope.study.settings import Bytes
from haloscope.topics.common.making import made, needed_of, verdict_of
from haloscope.topics.memory import Triad, memory_triads, uses

SERVED = 1.2
"""Triads over larger sets differ by less without caches."""


def bandwidth(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield triad bandwidth of the largest working set, on the fewest and on the most cores."""
    triads = memory_triads(cases, context.machine)
    if not triads:
        return
    few, many = triads[min(triads)], triads[max(triads)]
    parts = [_moved(many)]
    if few is not many:
        (contrast,) = contrasts([(_seconds_per_byte(few), _seconds_per_byte(many))], context.seed)
        compared = replace(
            parts[0],
            reference={few.case.counted: few.case.cores},
            ratio=Ratio.of(contrast.ratio) if contrast.ratio else None,
            verdict=verdict_of(contrast),
            needed=needed_of([contrast]),
        )
        parts = [compared, _moved(few)]
    yield made(
        context,
        [many.case, few.case],
        f"Memory bandwidth (triad over {_sets(few, many)})",
        FindingShape.TREND,
        parts,
        topic="memory",
        metric=BANDWIDTH,
        but=CORES,
    )


def _sets(*triads: Triad) -> str:
    """Return the working sets of triads of one level, over all cores: "32 MiB in L3"."""
    sizes = listed([size(each) for each in sorted({one.working_set_bytes for one in triads})])
    return _in(sizes, triads[0].level)


def _in(sizes: str, level: str) -> str:
    return f"{sizes} in {level}" if level else sizes


def _moved(triad: Triad) -> Claim:
    return Claim({triad.case.counted: triad.case.cores}, estimate=triad.point.rate)


def _seconds_per_byte(triad: Triad) -> Measure:
    """Return a triad's seconds per byte, which is comparable for any number of cores."""
    point = triad.point
    sample = tuple(time_s / point.bytes for time_s in point.sample)
    return Measure(triad.case, "triad", sample, point.time.times(1 / point.bytes))


def regions(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the cost of a parallel region with the fewest and with the most threads."""
    own = [case for case in cases if case.kernel == "parallel_region" and case.launches]
    own.sort(key=lambda case: case.layout.threads)
    ends = list(dict.fromkeys((*own[:1], *own[-1:])))
    parts = [
        Claim(
            {"threads": case.layout.threads},
            estimate=case.estimate(case.sample(lambda record: record.result["region_s"])),
        )
        for case in ends
    ]
    if parts:
        yield made(
            context,
            ends,
            "Parallel region",
            FindingShape.VALUE,
            parts,
            topic="memory",
            metric=Metric("time of a parallel region"),
            but=("threads", "ppn"),
        )


def solver(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield each variant with its largest working set, on the most cores that stream also used."""
    known = [use for use in uses(cases, cases, context.machine) if use.share is not None]
    in_memory = memory_triads(cases, context.machine)
    for variant, own in grouped(known, lambda use: str(use.case.settings.get("variant"))).items():
        best = max(own, key=lambda u: (u.working_set_bytes, u.case.cores, u.achieved.value))
        largest = in_memory.get(best.case.cores)
        assert best.triad is not None
        served = (
            largest is not None
            and best.level == largest.level
            and best.triad.moved.value >= SERVED * largest.moved.value
        )
        yield made(
            context,
            [best.case, best.triad.case],
            "Memory bandwidth of the solver",
            FindingShape.BOUND,
            [
                Claim(
                    {
                        "variant": variant,
                        "n": best.case.settings.get("n"),
                        best.case.counted: best.case.cores,
                        "working_set": Bytes(best.working_set_bytes),
                        "level": best.level,
                    },
                    estimate=best.achieved,
                    share=best.share,
                )
            ],
            topic="memory",
            metric=BANDWIDTH,
            bound=f"the {rate(best.triad.moved.value)} of STREAM triad over {_sets(best.triad)}",
            but=(*CORES, "n", "variant"),
            caveats=[Caveat.PARTLY_CACHED] if served else [],
            near=[],
        )
