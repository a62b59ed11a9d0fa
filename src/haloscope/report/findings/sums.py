"""Which topology and distribution adds three-dimensional arrays fastest, size by size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.comparison import step
from haloscope.analysis.races import races
from haloscope.quantities import seconds
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import fastest, others, place

ORDER = 122
AXES = ("topology", "distribution")


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of each size of the arrays: the fastest, and how far the others are behind."""
    parts = facets([case for case in cases if case.kernel == "sum3d" and case.launches], AXES)
    fields = {
        float(index): {_named(case): step(case) for case in part.cases}
        for index, part in enumerate(parts)
    }
    for race in races(fields, context.seed):
        part = parts[int(race.at)]
        best = fields[race.at][race.best]
        assert best.time is not None
        size = part.settings["size"]
        label = f", {part.label}" if part.label and str(size) not in part.label else ""
        yield Finding(
            f"Sum of {size} arrays, {best.case.processes}{label}{place(best.case)}: "
            f"{fastest(race)} {race.best} (median {seconds(best.time.value)}); {others(race)}."
        )


def _named(case: MeasuredCase) -> str:
    """The grid of processes, and how elements are shared out."""
    return f"{case.settings['topology']} {case.settings['distribution']}"
