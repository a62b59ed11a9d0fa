"""How many times as fast a mesh is solved on the most cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.iteration_rates import converged
from haloscope.analysis.memory_use import VECTORS, swept_bytes
from haloscope.analysis.scaling import scalings
from haloscope.analysis.sweeps import level_of
from haloscope.quantities import percent
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import interval, pace
from haloscope.stats.estimates import Estimate

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
            f"efficiency of {percent(share.value)}{_caches(ladder.base, top, share, context)}."
        )


def _caches(base: MeasuredCase, top: MeasuredCase, share: Estimate, context: Context) -> str:
    """Above 100 %: the levels of memory that hold what a sweep goes through, where they differ."""
    if share.value <= 1 or base.settings.get("variant") not in VECTORS:
        return ""
    few, many = (level_of(swept_bytes(case), case, context.machine) for case in (base, top))
    if few == many:
        return ""
    return (
        f" (what a sweep goes through fits in {few} with {base.cores}, in {many} with {top.cores})"
    )
