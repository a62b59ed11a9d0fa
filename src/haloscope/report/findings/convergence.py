# SPDX-License-Identifier: BSD-3-Clause
"""Whether errors and iteration counts agree with the published ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.iteration_rates import converged
from haloscope.analysis.published import Library
from haloscope.quantities import count, listed, percent
from haloscope.report.context import Context
from haloscope.report.findings import Finding

ORDER = 100
ANSWERS = ("convergence",)


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """How near errors and iteration counts are to the published ones, at worst."""
    own = [
        case for case in cases if case.kernel == "poisson_cg" and case.launches and converged(case)
    ]
    library = Library(context.shelf)
    errors: list[float] = []
    iterations: list[float] = []
    sources: dict[str, None] = {}
    for case in own:
        error = library.find(case, "error_max", ("convergence",), ("n",))
        steps = library.find(case, "iterations", ("convergence",), ("n",))
        if error and steps and case.result("error_max") and case.result("iterations"):
            errors.append(abs(case.result("error_max") / error.value - 1))
            iterations.append(abs(case.result("iterations") / steps.value - 1))
            sources[error.source.replace(" (", ", ").removesuffix(")")] = None
    if errors:
        counted = f"within {_tiny(max(iterations))}" if any(iterations) else "are the same"
        yield Finding(
            f"Errors agree with the published ones within {_tiny(max(errors))}, iteration counts "
            f"{counted} ({count(len(errors), 'case')}; {listed(list(sources))})."
        )


def _tiny(share: float) -> str:
    return "0.01 %" if share <= 1e-4 else percent(share) if share > 1e-3 else f"{100 * share:.2f} %"
