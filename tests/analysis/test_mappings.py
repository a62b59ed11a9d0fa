"""Where ranks go: patterns of tasks over nodes, and mappings."""

from __future__ import annotations

import pytest

from haloscope.study.case import Case, Layout
from haloscope.study.layouts import allocations, layouts, mappings, pattern_of, shared_tasks
from haloscope.study.schema import LayoutAxes


@pytest.mark.parametrize(
    ("nodes", "pattern"), [(4, "concentrated"), (8, "intermediate"), (64, "distributed")]
)
def test_64_tasks_on_nodes_of_16_cores(nodes: int, pattern: str) -> None:
    axes = LayoutAxes(tasks=[64], nodes=[nodes])
    assert shared_tasks(axes, 64, nodes, cores=16) == [(64 // nodes, 1)]
    assert pattern_of(64, nodes, 1, cores=16) == pattern


def test_concentrated_is_on_as_few_nodes_as_share_the_tasks_out_evenly() -> None:
    assert pattern_of(64, 4, 1, cores=28) == "concentrated"  # 3 nodes have cores enough
    assert pattern_of(64, 8, 1, cores=28) == "intermediate"
    assert pattern_of(8, 8, 32, cores=28) == "concentrated"  # threads beyond cores: never fewer


def test_threads_count_as_cores_do() -> None:
    assert pattern_of(8, 4, 8, cores=16) == "concentrated"
    assert pattern_of(8, 8, 8, cores=16) == "distributed"


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        (LayoutAxes(tasks=[64], ppn=[4]), "leave ppn, cores out"),
        (LayoutAxes(tasks=[64], cores=[4]), "leave ppn, cores out"),
    ],
)
def test_tasks_stand_in_place_of_processes_a_node(axes: LayoutAxes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        shared_tasks(axes, 64, 4, cores=16)


def test_tasks_are_spread_evenly() -> None:
    with pytest.raises(ValueError, match="3 nodes do not divide 64 tasks"):
        shared_tasks(LayoutAxes(tasks=[64]), 64, 3, cores=32)


def test_each_random_mapping_has_its_seed_and_one_node_has_one_mapping() -> None:
    axes = LayoutAxes(mapping=["block", "random"], mapping_seed=[1, 2])
    assert list(mappings(axes, 2)) == [("block", None), ("random", 1), ("random", 2)]
    assert list(mappings(axes, 1)) == [("block", None)]


def test_each_random_allocation_has_its_seed_and_one_node_has_one_allocation() -> None:
    axes = LayoutAxes(allocation=["contiguous", "random"], allocation_seed=[1, 2])
    assert list(allocations(axes, 2)) == [("contiguous", None), ("random", 1), ("random", 2)]
    assert list(allocations(axes, 1)) == [("contiguous", None)]
    found = [str(layout) for layout in layouts(axes, [1, 2], cores=4)]
    assert found == [
        "1 rank",
        "2 ranks on 2 nodes",
        "2 ranks on 2 nodes, allocation random 1",
        "2 ranks on 2 nodes, allocation random 2",
    ]


def test_mappings_give_every_node_its_ranks() -> None:
    assert Layout(2, 3).nodes_of_ranks == [0, 0, 0, 1, 1, 1]
    assert Layout(2, 3, mapping="round_robin").nodes_of_ranks == [0, 1, 0, 1, 0, 1]
    dealt = [Layout(4, 4, mapping="random", mapping_seed=seed).nodes_of_ranks for seed in (1, 1, 2)]
    assert dealt[0] == dealt[1] != dealt[2]
    assert sorted(dealt[0]) == sorted(dealt[2]) == Layout(4, 4).nodes_of_ranks


def test_a_case_without_a_mapping_keeps_the_id_that_it_had() -> None:
    def case(layout: Layout) -> Case:
        return Case("ring", {}, {}, layout, "system", 0, 1, 1.0, 0)

    assert case(Layout()).id == "663e44102aa7"
    assert case(Layout(mapping="round_robin")).id != "663e44102aa7"
    assert case(Layout(allocation="by_pod")).id != "663e44102aa7"
