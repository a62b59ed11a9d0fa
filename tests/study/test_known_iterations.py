# SPDX-License-Identifier: BSD-3-Clause
"""Iteration counts known without solving."""

from __future__ import annotations

from dataclasses import replace

import pytest

from haloscope.layout import Layout
from haloscope.study.case import Case
from haloscope.study.known_iterations import executes, known_solve, verifies, why_executed

PARAMS = {"tolerance": 1e-6, "rhs": "paper"}


@pytest.mark.parametrize(("n", "count"), [(32, 48), (1024, 1581), (4096, 6452), (16384, 26316)])
def test_published_iteration_counts_are_known(n: int, count: int) -> None:
    solve = known_solve("poisson_cg", {**PARAMS, "n": n})
    assert solve is not None
    assert solve.iterations == count
    assert "table 3.1" in solve.source


def test_iteration_counts_are_interpolated_between_published_meshes() -> None:
    """A run of the kernel at n = 768 takes 1180 iterations."""
    solve = known_solve("poisson_cg", {**PARAMS, "n": 768})
    assert solve is not None
    assert solve.iterations == pytest.approx(1180, rel=0.005)
    assert solve.source == "interpolated between n = 512 and n = 1024"


@pytest.mark.parametrize(
    "changes",
    [{"n": 16}, {"n": 10**6}, {"rhs": "random"}, {"tolerance": 1e-8}],
)
def test_other_solves_have_no_known_iteration_count(changes: dict[str, object]) -> None:
    assert known_solve("poisson_cg", {**PARAMS, "n": 1024, **changes}) is None


def test_other_kernels_have_no_solve() -> None:
    assert known_solve("ring", {}) is None


def test_an_unknown_count_uses_arithmetic_and_explains_how_to_avoid_it() -> None:
    def case(n: int, *, iterations: int = 0, execute: bool = False) -> Case:
        params = {**PARAMS, "n": n, "iterations": iterations}
        return Case(
            "poisson_cg", {"n": n}, params, Layout(), "simgrid", 0, 1, 1.0, 0, execute=execute
        )

    assert not executes(case(1024))
    assert not executes(case(100_000, iterations=1000))
    assert executes(case(100_000))
    few = replace(case(1024), params={**case(1024).params, "max_iterations": 10})
    assert executes(few)  # 1581 are needed: it is to fail
    assert verifies(case(100_000)) and not verifies(case(1024))
    ring = replace(case(1024), kernel="ring", params={})
    assert verifies(ring) and not executes(ring)  # its messages are its answer
    assert "iterations=N" in why_executed(case(100_000))[0]
    assert "iterations" in why_executed(case(100_000))[1]
    what, remedy = why_executed(case(1024, execute=True))
    assert what == "arithmetic" and " execute " in remedy
