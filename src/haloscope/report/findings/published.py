# SPDX-License-Identifier: BSD-3-Clause
"""A serial solve here beside published ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.exchanges import alike as one_program
from haloscope.analysis.iteration_rates import converged
from haloscope.analysis.published import Library, Reference
from haloscope.quantities import SECONDS, listed, printed_seconds, seconds
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import spread

ORDER = 90


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """The largest mesh that was solved by one process both in these cases and in some paper.

    By the published variant where that was measured, else by the fastest; both are named where
    they differ, or cases here do. That it is the fastest of several settings is said. Not of
    simulations: numbers of cluster files are from such times.
    """
    serial = [
        case
        for case in cases
        if case.kernel == "poisson_cg" and case.cores == 1 and case.time and converged(case)
        if not case.simulated
    ]
    beside = [(case, known) for case in serial if (known := _known(case, context))]
    if beside:
        case, known = min(beside, key=lambda pair: _first(*pair))
        theirs = listed([f"{_printed(time)} on {time.source}" for time in known])
        own = str(case.settings.get("variant"))
        other = next((time.variant for time in known if time.variant), "")
        named = other or len({str(each.settings.get("variant")) for each in serial}) > 1
        fastest = _fastest([one for one, _ in beside if _like(one, case)])
        kept = ", ".join(text for text in (own if named else "", fastest) if text)
        here = f"here ({kept})" if kept else "here"
        published = f"published ({other or own})" if named else "published"
        own_time = f"N = {case.number('n')} on one core takes {_own(case)} {here}"
        yield Finding(f"{own_time}; {published}: {theirs}.")


def _like(one: MeasuredCase, other: MeasuredCase) -> bool:
    """Whether two cases solve the same mesh by the same variant."""
    return all(one.settings.get(name) == other.settings.get(name) for name in ("n", "variant"))


def _fastest(alike: Sequence[MeasuredCase]) -> str:
    """Of how many cases of that mesh and variant it is the fastest; "" of one alone.

    Cases that are one program are told from settings: what lies between them is chance.
    """
    if len(alike) == 1:
        return ""
    if any(len(part.cases) == len(alike) for _, part in one_program(alike)):
        return f"the fastest of {len(alike)} cases of one program"
    return f"the fastest of {len(alike)} settings"


def _own(case: MeasuredCase) -> str:
    """Its time, and how sure that is."""
    assert case.time is not None
    return f"{seconds(case.time.value)}{spread(case.time, SECONDS)}"


def _printed(time: Reference) -> str:
    """A published time with the digits that it has."""
    return printed_seconds(time.value, time.high - time.low)


def _known(case: MeasuredCase, context: Context) -> list[Reference]:
    """What each paper has of a case's mesh."""
    return [
        reference
        for paper in context.shelf
        if (reference := Library([paper]).find(case, "time_s", ("convergence",)))
    ]


def _first(case: MeasuredCase, known: Sequence[Reference]) -> tuple[int, bool, float]:
    """The largest mesh first, then the published variant, then the fastest."""
    return -case.number("n"), any(time.variant for time in known), case.time_s
