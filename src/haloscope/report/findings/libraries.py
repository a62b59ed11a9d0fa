"""Which MPI library, or transport, is fastest at which sizes of a message, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.comparison import Measure
from haloscope.analysis.fits import exchanges
from haloscope.analysis.races import Race, races
from haloscope.analysis.sweeps import sweep
from haloscope.quantities import listed, size
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import between, enough_launches, spans
from haloscope.study.settings import describe, varying

ORDER = 135
AXES = ("toolchain", "transport")


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of every placement of two ranks: the fastest by size, over all sizes that all have."""
    own = [case for case in cases if exchanges(case) and case.launches]
    for part in facets(own, AXES):
        found = _races(part, context.seed)
        if found:
            by = listed([what for what in AXES if what in _apart(part)]).replace(
                "toolchain", "MPI library"
            )
            label = f", {part.label}" if part.label else ""
            where = f"{size(found[0].at)} to {size(found[-1].at)}, one way{label}"
            yield Finding(f"Fastest {by} ({where}): {_told(found)}.")


def _apart(part: Facet) -> list[str]:
    return varying([case.settings for case in part.cases])


def _races(part: Facet, seed: int) -> list[Race[str]]:
    """A race at each size."""
    apart = [name for name in AXES if name in _apart(part)]
    fields: dict[float, dict[str, Measure]] = {}
    for case in part.cases:
        for point in sweep(case):
            name = describe(case.settings, apart)
            measure = Measure(case, "", point.sample_one_way, point.one_way)
            fields.setdefault(float(point.size_bytes), {})[name] = measure
    return races(
        {at: fields[at] for at in sorted(fields) if len(fields[at]) == len(part.cases)}, seed
    )


def _told(found: Sequence[Race[str]]) -> str:
    """Those that are alone first, by how many sizes; then where several are."""
    sizes = [race.at for race in found]
    alone: dict[str, list[Race[str]]] = {}
    for race in found:
        if len(race.first) == 1:
            alone.setdefault(race.best, []).append(race)
    clauses = [
        f"{name} at {spans([race.at for race in won], sizes, size)}, where {_lead(won)}"
        for name, won in sorted(alone.items(), key=lambda item: -len(item[1]))
    ]
    several = [race for race in found if len(race.first) > 1]
    for why, chosen in {
        "they tie": [race for race in several if race.tied],
        enough_launches(_family(found)): [race for race in several if race.too_few],
        "it is not shown which": [r for r in several if not r.tied and not r.too_few],
    }.items():
        if chosen:
            at = spans([race.at for race in chosen], sizes, size)
            clauses.append(f"at {'every size' if len(chosen) == len(found) else at} {why}")
    return "; ".join(clauses)


def _family(found: Sequence[Race[str]]) -> int:
    """How many comparisons are tested together."""
    return max(one.family for race in found for one in race.against.values())


def _lead(won: Sequence[Race[str]]) -> str:
    """How many times as long the next takes."""
    leads = [race.lead for race in won if race.lead]
    names = list(dict.fromkeys(name for name, _ in leads))
    times = between([over for _, over in leads])
    return f"the next ({' or '.join(names)}) takes {times} times as long"
