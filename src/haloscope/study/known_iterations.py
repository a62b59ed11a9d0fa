# SPDX-License-Identifier: BSD-3-Clause
"""How many iterations a solve needs, known without running it: for simulations of time alone.

And which cases are simulated with their arithmetic: those asked for, and those of an unknown count.

The counts are those of published convergence tables; up to n = 4096 the study poisson-convergence
found the same.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import exp, log
from typing import Any

from haloscope.papers import tables as papers
from haloscope.study.case import Case


@dataclass(frozen=True)
class Solve:
    """A solve from zero to the kernel's default tolerance. source: where its count is from."""

    iterations: int
    source: str


def solve_of(case: Case) -> Solve | None:
    """The solve of which time alone is simulated; None where its count is not known."""
    if case.execute or case.params.get("iterations") is None:
        return None
    if given := int(case.params["iterations"]):
        return Solve(given, "asked for")
    found = known_solve(case.kernel, case.params)
    most = int(case.params.get("max_iterations") or 0)
    return None if found and 0 < most < found.iterations else found  # it fails, as the answer says


def executes(case: Case) -> bool:
    """Whether a simulation does the case's arithmetic too, and verifies the answer.

    It does where a study asks for that, and where the number of iterations is not known
    beforehand: then only the arithmetic tells when they end.
    """
    return case.execute or (case.params.get("iterations") == 0 and solve_of(case) is None)


def why_executed(case: Case) -> tuple[str, str]:
    """Why a simulated case does its arithmetic, which takes memory, and how to do without it.

    Both are parts of a message to the user.
    """
    if case.execute:
        return "arithmetic", "simulate its time alone, without execute"
    unknown = "how many iterations it takes is not known; iterations=N says it"
    return f"arithmetic ({unknown})", "give the number of iterations: its time alone is simulated"


def known_solve(kernel: str, params: Mapping[str, Any]) -> Solve | None:
    """The solve of poisson_cg with these parameters; None where nothing is known of it.

    Between published meshes the count is interpolated as a power of n; beyond them nothing is said.
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
    """The counts of all convergence tables of poisson_cg, by n."""
    found = {}
    for paper in papers.list_papers():
        for table in paper.tables.values():
            if table.kind == "convergence" and table.facts.get("kernel") == "poisson_cg":
                for row in table.rows:
                    n, iterations = row["n"], row["iterations"]
                    if isinstance(n, int) and isinstance(iterations, int):
                        found[n] = Solve(iterations, f"{paper.id}, table {table.id}")
    return found
