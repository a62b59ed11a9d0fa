# SPDX-License-Identifier: BSD-3-Clause
"""The slowest of several nodes: order statistics of normal numbers, as tables have them."""

from __future__ import annotations

from math import log

import pytest
from cluster_files import described

from haloscope.clusters.node import Node, Unbound, expected_slowest, unbound
from haloscope.clusters.quantity import Quantity


@pytest.mark.parametrize(
    ("nodes", "deviations"), [(2, 0.5642), (4, 1.0294), (16, 1.7660), (64, 2.3437)]
)
def test_with_similar_nodes_the_slowest_is_the_mean_of_the_maximum(
    nodes: int, deviations: float
) -> None:
    assert log(expected_slowest(1e-4, nodes)) / 1e-4 == pytest.approx(deviations, rel=2e-3)


def test_one_node_has_the_median_speed() -> None:
    assert expected_slowest(0.5, 1) == 1.0


def test_the_mean_uses_times_not_logarithms() -> None:
    assert expected_slowest(0.3, 2) > 1 + 0.3 * 0.5642


def of(value: float) -> Quantity:
    return Quantity(value=value, source="a test")


def with_costs(share: float = 0.25) -> Node:
    """Of one process and of four."""
    costs = (
        Unbound(processes=4, share=of(1.0), slower=of(1.0)),
        Unbound(processes=1, share=of(share), slower=of(1.6), resume_s=of(3e-4)),
    )
    return described().node.model_copy(update={"unbound": costs})


def test_unbound_processes_delay_all_while_one_node_is_badly_placed() -> None:
    for nodes in (1, 2, 64):
        held_up = 1 - 0.75**nodes
        found = unbound(with_costs(), 1, nodes)
        assert found == pytest.approx((1 + 0.6 * held_up, 3e-4 * held_up))
    assert unbound(with_costs(share=1.0), 1, 1) == pytest.approx((1.6, 3e-4))


@pytest.mark.parametrize(
    ("processes", "costs"), [(2, (1.4, 2e-4)), (4, (1.0, 0.0)), (9, (1.0, 0.0))]
)
def test_costs_are_interpolated_between_two_process_counts(
    processes: int, costs: tuple[float, float]
) -> None:
    assert unbound(with_costs(share=1.0), processes, 1) == pytest.approx(costs)


def test_each_process_count_has_its_own_share_of_the_time() -> None:
    often = Unbound(processes=1, share=of(1.0), slower=of(1.4))
    seldom = Unbound(processes=3, share=of(0.01), slower=of(2.0), resume_s=of(1e-4))
    node = described().node.model_copy(update={"unbound": (often, seldom)})
    held_up = 1 - 0.99**8
    assert unbound(node, 3, 8) == pytest.approx((1 + held_up, 1e-4 * held_up))
    assert unbound(node, 2, 8) == pytest.approx(((2.4 + held_up) / 2, 1e-4 * held_up / 2))


def test_without_a_value_in_the_file_unbound_processes_cost_nothing() -> None:
    assert unbound(described().node, 1, 64) == (1.0, 0.0)
