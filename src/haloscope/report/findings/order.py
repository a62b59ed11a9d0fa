# SPDX-License-Identifier: BSD-3-Clause
"""How errors fall with the mesh: whether a solver is of second order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.iteration_rates import converged
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import between

ORDER = 58
FEWEST = 4
"""FEWEST is how many meshes, each twice as fine as the one before, tell an order: three ratios."""


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Errors of meshes over those of meshes twice as fine, of all solves that converged."""
    errors: dict[int, set[float]] = {}
    for case in cases:
        error = case.result("error_max") if case.launches else None
        if case.kernel == "poisson_cg" and error and converged(case):
            errors.setdefault(case.number("n"), set()).add(float(error))
    fine = sorted(n for n in errors if n % 2 == 0 and n // 2 in errors)
    if len(fine) < FEWEST - 1:
        return
    ratios = [coarse / error for n in fine for coarse in errors[n // 2] for error in errors[n]]
    yield Finding(
        f"Where the mesh is twice as fine, the error is {between(ratios)} times smaller "
        f"(N = {fine[0] // 2} to {fine[-1]}); second order gives about 4."
    )
