# SPDX-License-Identifier: BSD-3-Clause
"""The fastest grid of processes: of Fourier transforms, and of sums of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.comparison import step
from haloscope.analysis.context import Context
from haloscope.analysis.races import races
from haloscope.analysis.sums import published_sum
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric, Verdict
from haloscope.quantities import count
from haloscope.study.settings import Settings
from haloscope.topics.common import made, winners

FAR = 2
"""FAR is how far off a published time, as a ratio, a simulated one disagrees with it."""


def transforms(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of settings with several grids: the fastest, and how far behind others are.

    A grid whose pencils are few has fewer chunks than were asked for, and is among the others.
    """
    own = [case for case in cases if case.kernel == "fft_pencil" and case.launches]
    yield from _fastest(
        own, ("topology", "chunks"), "topology", _grid_of, ("Fastest grid of a transform", "fft"),
        Metric("time of a transform"), context,
    )  # fmt: skip


def _grid_of(case: MeasuredCase, part: Facet) -> str:
    """A grid's name, with its chunks where these differ, too."""
    several = len({one.settings.get("chunks") for one in part.cases}) > 1
    chunks = f" in {count(case.number('chunks'), 'chunk')}" if several else ""
    return f"{case.settings['topology']}{chunks}"


def sums(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of each size of arrays: the fastest topology and distribution, and published times."""
    own = [case for case in cases if case.kernel == "sum3d" and case.launches]
    yield from _fastest(
        own, ("topology", "distribution"), "", _shared_out, ("Fastest sum of arrays", "sum3d"),
        Metric("time of a sum"), context,
    )  # fmt: skip
    yield from _far_off([case for case in own if case.simulated], context)


def _shared_out(case: MeasuredCase, _: Facet | None = None) -> str:
    """The grid of processes, and how elements are shared out."""
    return f"{case.settings['topology']} (distribution = {case.settings['distribution']})"


def _fastest(
    own: Sequence[MeasuredCase],
    axes: Sequence[str],
    differing: str,
    named: Callable[[MeasuredCase, Facet], str],
    asked: tuple[str, str],
    metric: Metric,
    context: Context,
) -> Iterator[Finding]:
    """A race of each setting. differing: the axis that must differ in it; "" for any.

    asked: the question, and its section.
    """
    parts = facets(own, axes)
    if differing:
        parts = [p for p in parts if len({c.settings.get(differing) for c in p.cases}) > 1]
    fields = {
        float(index): {named(case, part): step(case) for case in part.cases}
        for index, part in enumerate(parts)
    }
    question, topic = asked
    for race in races(fields, context.seed):
        field = fields[race.at]
        time = field[race.best].time
        yield made(
            context,
            [measure.case for measure in field.values()],
            question,
            FindingShape.BEST,
            [replace(part, estimate=time) for part in winners([race], _grid)],
            topic=topic,
            metric=metric,
            but=axes,
        )


def _grid(name: str) -> Settings:
    return {"grid": name}


def _far_off(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Simulated sums whose published times are far off."""
    pairs = [(case, known) for case in cases if (known := published_sum(case, context.library))]
    far = [(case, known) for case, known in pairs if not 1 / FAR < known.value / case.time_s < FAR]
    if far:
        yield made(
            context,
            [case for case, _ in far],
            f"Sums {FAR}x or more from their published times ({len(far)} of {len(cases)})",
            FindingShape.PUBLISHED,
            [
                Claim(
                    {"grid": _shared_out(case)},
                    estimate=case.time,
                    published=(known,),
                    verdict=Verdict.DISAGREES,
                )
                for case, known in far
            ],
            topic="sum3d",
            metric=Metric("time of a sum"),
            but=("topology", "distribution"),
        )
