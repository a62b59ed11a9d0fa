"""The fused solver against the textbook one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.iteration_rates import converged
from haloscope.analysis.scaling import times_as_fast
from haloscope.quantities import count
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import interval, pace

ORDER = 70


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Fused against textbook on the largest mesh that both solved on the same few cores."""
    solved = [case for case in cases if case.kernel == "poisson_cg" and case.time]
    both = []
    for part in facets(solved, ("variant",)):
        by_variant = {case.settings.get("variant"): case for case in part.cases}
        if {"fused", "textbook"} <= by_variant.keys():
            both.append((by_variant["textbook"], by_variant["fused"]))
    if not both:
        return
    textbook, fused = max(both, key=lambda pair: (pair[0].number("n"), -pair[0].cores))
    ratio = times_as_fast(textbook, fused, context.seed)
    if ratio:
        where = f"N = {fused.number('n')}, {count(fused.cores, 'core')}"
        solver = "The fused solver" if converged(fused) else "An iteration of the fused solver"
        other = "the textbook one" if converged(fused) else "one of the textbook one"
        yield Finding(f"{solver} {pace('is', ratio)} {other}{interval(ratio)}: {where}.")
