# SPDX-License-Identifier: BSD-3-Clause
"""Which grid of processes a Fourier transform over pencils is fastest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets, values
from haloscope.analysis.comparison import step
from haloscope.analysis.races import races
from haloscope.quantities import count, seconds
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import beyond, place, typical, winner

ORDER = 121
ANSWERS = ("fft",)


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of settings with several grids: the fastest, and how far behind others are.

    A grid whose pencils are few has fewer chunks than were asked for, and is among the others.
    """
    own = [case for case in cases if case.kernel == "fft_pencil" and case.launches]
    parts = [part for part in facets(own, ("topology", "chunks")) if len(_grids(part)) > 1]
    fields = {
        float(index): {_grid(case, part): step(case) for case in part.cases}
        for index, part in enumerate(parts)
    }
    for race in races(fields, context.seed):
        part = parts[int(race.at)]
        best = fields[race.at][race.best]
        assert best.time is not None
        more = beyond(part.label, best.case.processes)
        label = f" ({more})" if more else ""
        time = typical(best.case, seconds(best.time.value))
        yield Finding(
            f"Transform of {best.case.settings['size']} points, {best.case.processes}{label}"
            f"{place(best.case)}: {winner(race, time, 'grid')}."
        )


def _grids(part: Facet) -> set[str]:
    return {str(case.settings["topology"]) for case in part.cases}


def _grid(case: MeasuredCase, part: Facet) -> str:
    """A grid's name, with its chunks where these differ, too."""
    several = len(values(part.cases, "chunks")) > 1
    chunks = f" in {count(case.number('chunks'), 'chunk')}" if several else ""
    return f"{case.settings['topology']}{chunks}"
