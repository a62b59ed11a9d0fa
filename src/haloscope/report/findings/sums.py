"""Which topology and distribution adds three-dimensional arrays fastest, size by size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.comparison import step
from haloscope.analysis.races import Race, races
from haloscope.quantities import listed, seconds
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import between, place

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
            f"{verb(race)} {race.best} (median {seconds(best.time.value)}); {others(race)}."
        )


def verb(race: Race[str]) -> str:
    """What is known of the one with the lowest median."""
    return "fastest with" if race.lead else "none is shown to be fastest, lowest median with"


def _named(case: MeasuredCase) -> str:
    """The grid of processes, and how elements are shared out."""
    return f"{case.settings['topology']} {case.settings['distribution']}"


def others(race: Race[str]) -> str:
    """Who is behind by how much, and who is not shown to be."""
    slower = [name for name, contrast in race.against.items() if contrast.verdict == "faster"]
    even = [name for name in race.against if name not in slower]
    told = []
    if slower:
        named = slower[0] if len(slower) == 1 else f"{len(slower)} others"
        verb = "takes" if len(slower) == 1 else "take"
        told.append(f"{named} {verb} {between([race.over(n) for n in slower])} times as long")
    if even:
        told.append(f"{listed(even) if len(even) < 4 else f'{len(even)} others'}: {_even(race)}")
    return "; ".join(told)


def _even(race: Race[str]) -> str:
    if race.too_few:
        return "launches are too few to tell"
    return "as fast" if race.tied else "no difference shown"
