# SPDX-License-Identifier: BSD-3-Clause
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
from haloscope.report.words import above_one, interval, on_steps, pace, place
from haloscope.stats.estimates import Estimate

ORDER = 80
ANSWERS = ("walltime_grid",)


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
    contrast, share = ladder.against_base(top, context.seed), ladder.efficiency(top, context.seed)
    if contrast and contrast.ratio and share and ladder.base:
        ratio, base = contrast.ratio, ladder.base
        fewer = "one" if base.cores == 1 else f"{base.cores:,}"
        which = f" ({scaling.label})" if scaling.label else ""
        faster = (
            f"N = {ladder.n}{which} {pace('is solved', ratio)}"
            if converged(top)
            else f"an iteration at N = {ladder.n}{which} {pace('is', ratio)}"
        )
        but = on_steps([(case.processes, case) for case in (base, top)], context.machine)
        yield Finding(
            f"With {top.cores:,} {scaling.p}{place(top)}, {faster} with {fewer}"
            f"{interval(ratio, contrast.verdict)}: an efficiency of {percent(share.value)}"
            f"{_why(base, top, share, context)}{but}."
        )


def _why(base: MeasuredCase, top: MeasuredCase, share: Estimate, context: Context) -> str:
    """The levels of memory that hold what a sweep goes through, where they differ.

    Where they do not, above 100 %, whether that is more than chance.
    """
    few, many = "", ""
    if base.settings.get("variant") in VECTORS:
        few, many = (level_of(swept_bytes(case), case, context.machine) for case in (base, top))
    if few != many:
        lies = f"lies in {few} with {base.cores:,}, in {many} with {top.cores:,}"
        return f" (what a sweep goes through {lies})"
    above = above_one(base, share)
    return f" ({above})" if above else ""
