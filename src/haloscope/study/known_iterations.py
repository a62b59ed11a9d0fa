# SPDX-License-Identifier: BSD-3-Clause
"""Known numbers of iterations of solves, for simulations without arithmetic.

Cases whose number of iterations is unknown are simulated with their arithmetic, as are those for
which a study requests it. The numbers are from published convergence tables; the study
poisson-convergence found the same numbers up to n = 4096.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import exp, log
from typing import Any

from haloscope.study.case import Case


@dataclass(frozen=True)
class Solve:
    """A solve from zero to the kernel's default tolerance. source: where its count is from."""

    iterations: int
    source: str


def solve_of(case: Case) -> Solve | None:
    """Return the solve whose time alone is simulated, or None if its count is unknown."""
    if case.execute or case.params.get("iterations") is None:
        return None
    if given := int(case.params["iterations"]):
        return Solve(given, "given")
    found = known_solve(case.kernel, case.params)
    most = int(case.params.get("max_iterations") or 0)
    # the solve would fail at `most` iterations
    return None if found and 0 < most < found.iterations else found


def executes(case: Case) -> bool:
    """Whether a simulation also does the case's arithmetic and verifies the answer."""
    return case.execute or (case.params.get("iterations") == 0 and solve_of(case) is None)


_MESSAGES_ALONE = ("ring",)
"""_MESSAGES_ALONE are kernels whose result is the content of their messages, without arithmetic."""


def verifies(case: Case) -> bool:
    """Whether a simulation verifies the case's answer."""
    return case.kernel in _MESSAGES_ALONE or executes(case)


def why_executed(case: Case) -> tuple[str, str]:
    """Return why a simulated case does its arithmetic, and how to avoid it, for a message."""
    if case.execute:
        return "arithmetic", "remove execute to simulate the time only"
    unknown = "the number of iterations is unknown without iterations=N"
    return f"arithmetic ({unknown})", "set iterations=N to simulate the time only"


def known_solve(kernel: str, params: Mapping[str, Any]) -> Solve | None:
    """Return the solve of poisson_cg with these parameters, or None if its count is unknown.

    Between published meshes the count is interpolated as a power of n; there is no extrapolation.
    """
    if kernel != "poisson_cg" or params.get("tolerance") != 1e-6:
        return None
    if params.get("rhs", "paper") != "paper":
        return None
    n, counts = int(params["n"]), published()
    meshes = sorted(counts)
    if n in counts:
        return counts[n]
    at = bisect_left(meshes, n)
    if at in (0, len(meshes)):
        return None
    low, high = meshes[at - 1], meshes[at]
    first, last = counts[low].iterations, counts[high].iterations
    power = log(last / first) / log(high / low)
    count = round(first * exp(power * log(n / low)))
    return Solve(count, f"interpolated between n = {low} and n = {high}")


@cache
def published() -> Mapping[int, Solve]:
    """Return the counts of all convergence tables of poisson_cg, by n."""
    from haloscope.papers import tables  # with the models of papers' files

    found = {}
    for paper in tables.list_papers():
        for table in paper.tables.values():
            if table.kind == "convergence" and table.facts.get("kernel") == "poisson_cg":
                for row in table.rows:
                    n, iterations = row["n"], row["iterations"]
                    if isinstance(n, int) and isinstance(iterations, int):
                        found[n] = Solve(iterations, f"{paper.id}, table {table.id}")
    return found
