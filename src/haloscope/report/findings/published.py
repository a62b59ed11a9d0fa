"""A serial solve here beside published ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.iteration_rates import converged
from haloscope.analysis.published import Library
from haloscope.quantities import listed, seconds
from haloscope.report.context import Context
from haloscope.report.findings import Finding

ORDER = 90


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """The largest mesh that was solved by one process both in these cases and in some paper.

    Not of simulations: numbers of cluster files are from such published times.
    """
    serial = [
        case
        for case in cases
        if case.kernel == "poisson_cg" and case.cores == 1 and case.time and converged(case)
        if not case.simulated
    ]
    for case in sorted(serial, key=lambda case: (-case.number("n"), case.time_s)):
        known = [
            reference
            for paper in context.shelf
            if (reference := Library([paper]).find(case, "time_s", ("convergence",)))
        ]
        if known:
            theirs = listed([f"{seconds(time.value)} on {time.source}" for time in known])
            own_time = f"N = {case.number('n')} on one core takes {seconds(case.time_s)} here"
            yield Finding(f"{own_time}; published: {theirs}.")
            return
