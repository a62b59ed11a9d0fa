# SPDX-License-Identifier: BSD-3-Clause
"""What filling a grid's halo by a star forest takes, and from which size on that grows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.collectives import FLAT, flat_to
from haloscope.analysis.split_phase import split_phase_model
from haloscope.analysis.star_forests import by_n
from haloscope.quantities import SECONDS, seconds
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import place, spread

ORDER = 149


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Of each kind of grid on the most processes: at the least and the largest n.

    Where parts were not timed, which tell more: see split_phase.
    """
    own = [case for case in cases if case.kernel == "sf_grid" and case.launches and case.ranks > 1]
    untimed = [case for case in own if split_phase_model(case) is None]
    for part in facets(untimed, ("nodes", "ppn")):
        case = max(part.cases, key=lambda case: case.ranks)
        points = by_n(case)
        if len(points) < 2:
            continue
        least, most = min(points), max(points)
        ends = [
            f"n = {n} takes {seconds(points[n].one_way.value)}{spread(points[n].one_way, SECONDS)}"
            for n in (least, most)
        ]
        flat = flat_to([points[n] for n in sorted(points)])
        to = next(n for n, point in points.items() if point.size_bytes == flat)
        where = f", {part.label}" if part.label else ""
        whose = ", on an emulated device" if case.emulated else ""
        yield Finding(
            f"Halos of a grid (sf_grid, {case.processes}{where}){whose}{place(case)}, one way: "
            f"{' and '.join(ends)}; no more than {FLAT:.0f} times as long as n = {least} up to "
            f"n = {to}."
        )
