# SPDX-License-Identifier: BSD-3-Clause
"""Which topology and distribution adds three-dimensional arrays fastest, size by size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.comparison import step
from haloscope.analysis.races import races
from haloscope.analysis.sums import published_sum
from haloscope.quantities import seconds
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import between, beyond, place, typical, winner

ORDER = 122
ANSWERS = ("sum3d",)
AXES = ("topology", "distribution")
FAR = 2
"""FAR is how far off a published time, as a ratio, a simulated one is told of in a headline."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of each size of the arrays: the fastest, and how far the others are behind.

    Then how far simulated times lie off the published ones of the same sums, if they lie far off.
    """
    own = [case for case in cases if case.kernel == "sum3d" and case.launches]
    parts = facets(own, AXES)
    fields = {
        float(index): {_named(case): step(case) for case in part.cases}
        for index, part in enumerate(parts)
    }
    for race in races(fields, context.seed):
        part = parts[int(race.at)]
        best = fields[race.at][race.best]
        assert best.time is not None
        size = part.settings["size"]
        more = beyond(part.label, best.case.processes, f"size = {size}")
        label = f", {more}" if more else ""
        yield Finding(
            f"Sum of {size} arrays, {best.case.processes}{label}{place(best.case)}: "
            f"{winner(race, typical(best.case, seconds(best.time.value)))}."
        )
    yield from _far_off([case for case in own if case.simulated], context)


def _far_off(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """A warning of all that lie so far off what was published."""
    pairs = [(case, known) for case in cases if (known := published_sum(case, context.library))]
    far = [(case, known) for case, known in pairs if not 1 / FAR < known.value / case.time_s < FAR]
    if not far:
        return
    longer = between([end / case.time_s for case, known in far for end in (known.low, known.high)])
    low = seconds(min(known.low for _, known in far))
    high = seconds(max(known.high for _, known in far))
    sources = "; ".join(sorted({known.source for _, known in far}))
    yield Finding(
        f"Published times of {len(far)} of {len(cases)} sums are {longer} times the ones simulated "
        f"here: {low} to {high} ({sources}).",
        "warning",
    )


def _named(case: MeasuredCase) -> str:
    """The grid of processes, and how elements are shared out: one of the ways is "topology"."""
    return f"{case.settings['topology']} (distribution = {case.settings['distribution']})"
