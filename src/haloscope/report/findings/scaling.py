"""How many times as fast a mesh is solved on the most cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.iteration_rates import converged
from haloscope.analysis.scaling import scalings
from haloscope.quantities import percent
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import interval, pace

ORDER = 80


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """The largest mesh on the most cores; of several settings the fastest, which is named."""
    own = [case for case in cases if case.kernel == "poisson_cg"]
    ladders = [(scaling, ladder) for scaling in scalings(own) for ladder in scaling.ladders]
    tops = [
        (scaling, ladder, good[-1])
        for scaling, ladder in ladders
        if len(good := [case for case in ladder.steps.values() if case.launches]) > 1
    ]
    if not tops:
        return
    scaling, ladder, top = max(tops, key=lambda t: (t[1].n, t[2].cores, -t[2].time_s))
    ratio, share = ladder.speedup(top, context.seed), ladder.efficiency(top, context.seed)
    if ratio and share and ladder.base:
        fewer = "one" if ladder.base.cores == 1 else str(ladder.base.cores)
        faster = (
            f"N = {ladder.n} {pace('is solved', ratio)}"
            if converged(top)
            else f"an iteration at N = {ladder.n} {pace('is', ratio)}"
        )
        which = f" ({scaling.label})" if scaling.label else ""
        yield Finding(
            f"With {top.cores} {scaling.p}, {faster} with {fewer}{interval(ratio)}{which}: an "
            f"efficiency of {percent(share.value)}."
        )
