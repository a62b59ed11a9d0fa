# SPDX-License-Identifier: BSD-3-Clause
"""The slowest of several nodes: order statistics of normal numbers, as tables have them."""

from __future__ import annotations

from math import log

import pytest

from haloscope.clusters.slowest import expected_slowest


@pytest.mark.parametrize(
    ("nodes", "deviations"), [(2, 0.5642), (4, 1.0294), (16, 1.7660), (64, 2.3437)]
)
def test_of_nodes_that_lie_close_it_is_the_mean_of_the_largest(
    nodes: int, deviations: float
) -> None:
    assert log(expected_slowest(1e-4, nodes)) / 1e-4 == pytest.approx(deviations, rel=2e-3)


def test_one_node_is_the_one_in_the_middle() -> None:
    assert expected_slowest(0.5, 1) == 1.0


def test_the_mean_is_of_times_not_of_their_logarithms() -> None:
    assert expected_slowest(0.3, 2) > 1 + 0.3 * 0.5642
