"""Which grid of processes a Fourier transform over pencils is fastest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.comparison import step
from haloscope.analysis.races import races
from haloscope.quantities import seconds
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import fastest, others, place

ORDER = 121


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Of settings with several grids: the fastest, and how far behind others are."""
    own = [case for case in cases if case.kernel == "fft_pencil" and case.launches]
    parts = [part for part in facets(own, ("topology",)) if len(part.cases) > 1]
    fields = {
        float(index): {str(case.settings["topology"]): step(case) for case in part.cases}
        for index, part in enumerate(parts)
    }
    for race in races(fields, context.seed):
        part = parts[int(race.at)]
        best = fields[race.at][race.best]
        assert best.time is not None
        label = f" ({part.label})" if part.label else ""
        yield Finding(
            f"Transform of {best.case.settings['size']} points, {best.case.processes}{label}"
            f"{place(best.case)}: {fastest(race)} grid {race.best} (median "
            f"{seconds(best.time.value)}); {others(race)}."
        )
