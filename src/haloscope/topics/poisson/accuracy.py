# SPDX-License-Identifier: BSD-3-Clause
"""Findings on the accuracy of the Poisson solver: order, convergence, and serial runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.validation.published import TOLERANCE, Library, Reference
from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric
from haloscope.layout import PROCESSES
from haloscope.quantities import printed_seconds
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Settings
from haloscope.topics.common.making import made
from haloscope.topics.contrast import pooled
from haloscope.topics.poisson import converged
from haloscope.topics.poisson.findings import FEWEST, SOLVE, solves


def order(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield errors of meshes over those of meshes twice as fine, for solves that converged."""
    errors: dict[int, set[float]] = {}
    own = []
    solved = solves(cases)
    finest = min((_tolerance(case) for case in solved), default=0.0)
    for case in (one for one in solved if _tolerance(one) == finest):
        error = case.result("error_max") if case.launches else None
        if error and converged(case):
            errors.setdefault(case.number("n"), set()).add(float(error))
            own.append(case)
    fine = sorted(n for n in errors if n % 2 == 0 and n // 2 in errors)
    if len(fine) < FEWEST - 1:
        return
    parts = [
        Claim({"n": n // 2}, estimate=Estimate(fmean(over), None, None, len(over), "none"))
        for n in fine
        if (over := [coarse / error for coarse in errors[n // 2] for error in errors[n]])
    ]
    yield made(
        context, own, "Error ratio between a mesh and one twice as fine (second order: about 4)",
        FindingShape.VALUE, parts, topic="convergence", metric=Metric("ratio of errors", "", ""),
        but=("n", "variant", *PROCESSES), near=[],
    )  # fmt: skip


def _tolerance(case: MeasuredCase) -> float:
    """Return the residual at which a solve ends; for older records that of published ones."""
    asked = case.settings.get("tolerance")
    return float(asked) if isinstance(asked, int | float) else TOLERANCE


def convergence(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the largest differences of errors and iteration counts from the published ones."""
    library = Library(context.shelf)
    own: list[MeasuredCase] = []
    worst = {"error": 0.0, "iterations": 0.0}
    sources: dict[str, Reference] = {}
    for case in (one for one in solves(cases) if one.launches and converged(one)):
        error = library.find(case, "error_max", ("convergence",), ("n",))
        steps = library.find(case, "iterations", ("convergence",), ("n",))
        if error and steps and case.result("error_max") and case.result("iterations"):
            off = abs(case.result("error_max") / error.value - 1)
            worst["error"] = max(worst["error"], off)
            off = abs(case.result("iterations") / steps.value - 1)
            worst["iterations"] = max(worst["iterations"], off)
            sources.setdefault(error.source, replace(error, text=""))
            own.append(case)
    if own:
        yield made(
            context,
            own,
            "Largest difference from published results",
            FindingShape.PUBLISHED,
            [
                Claim(
                    {"quantity": "the error of the solution"},
                    share=worst["error"],
                    published=tuple(sources.values()),
                ),
                Claim({"quantity": "the number of iterations"}, share=worst["iterations"]),
            ],
            topic="convergence",
            metric=Metric("relative difference", ""),
            of=len(own),
            but=("n", "variant", *PROCESSES),
            near=[],
        )


def serial(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Yield the largest mesh solved by one process both in these cases and in a paper.

    With the published variant if it was measured, otherwise with the fastest. Simulations are
    excluded, because cluster files contain numbers from such times.
    """
    own = [
        case
        for case in pooled(solves(cases))
        if case.cores == 1 and case.time and converged(case) and not case.simulated
    ]
    beside = [(case, known) for case in own if (known := _known(case, context))]
    if not beside:
        return
    case, known = min(
        beside,
        key=lambda one: (-one[0].number("n"), any(t.variant for t in one[1]), one[0].time_s),
    )
    like = {
        tuple(map(id, one.launches))  # pooled cases have the same
        for one, _ in beside
        if all(one.settings.get(name) == case.settings.get(name) for name in ("n", "variant"))
    }
    subject: Settings = {
        "variant": case.settings.get("variant"),
        **({"fastest_of": len(like)} if len(like) > 1 else {}),
    }
    other = any(time.variant for time in known)
    yield made(
        context, [case], "Serial solve", FindingShape.PUBLISHED,
        [Claim(subject, estimate=case.time, published=tuple(known))],
        topic="convergence", metric=SOLVE, but=("variant", "ppn", *_NOT_SERIAL),
        caveats=[Caveat.DIFFERENT_PROGRAM] if other else [],
    )  # fmt: skip


_NOT_SERIAL = ("exchange", "bind")
"""Settings without effect for one process on one core."""


def _known(case: MeasuredCase, context: Context) -> list[Reference]:
    found = (Library([paper]).find(case, "time_s", ("convergence",)) for paper in context.shelf)
    return [
        replace(one, text=printed_seconds(one.value, one.high - one.low)) for one in found if one
    ]
