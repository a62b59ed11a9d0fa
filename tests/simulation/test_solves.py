"""Iteration counts known without solving."""

from __future__ import annotations

import pytest

from haloscope.solves import known_solve

PARAMS = {"tolerance": 1e-6, "rhs": "paper"}


@pytest.mark.parametrize(("n", "count"), [(32, 48), (1024, 1581), (4096, 6452), (16384, 26316)])
def test_published_counts(n: int, count: int) -> None:
    solve = known_solve("poisson_cg", {**PARAMS, "n": n})
    assert solve is not None
    assert solve.iterations == count
    assert "table 3.1" in solve.source


def test_between_published_meshes_counts_are_interpolated() -> None:
    """A run of the kernel at n = 768 takes 1180 iterations."""
    solve = known_solve("poisson_cg", {**PARAMS, "n": 768})
    assert solve is not None
    assert solve.iterations == pytest.approx(1180, rel=0.005)
    assert solve.source == "interpolated between n = 512 and n = 1024"


@pytest.mark.parametrize(
    "changes",
    [{"n": 16}, {"n": 10**6}, {"rhs": "random"}, {"tolerance": 1e-8}],
)
def test_of_all_else_nothing_is_said(changes: dict[str, object]) -> None:
    assert known_solve("poisson_cg", {**PARAMS, "n": 1024, **changes}) is None


def test_other_kernels_have_no_solve() -> None:
    assert known_solve("ring", {}) is None
