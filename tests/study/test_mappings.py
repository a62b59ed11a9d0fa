# SPDX-License-Identifier: BSD-3-Clause
"""Where ranks go: patterns of tasks over nodes, and mappings."""

from __future__ import annotations

import pytest

from haloscope.layout import Layout
from haloscope.study.case import Case
from haloscope.study.layouts import allocations, layouts, mappings
from haloscope.study.schema import LayoutAxes


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        (LayoutAxes(tasks=[64], ppn=[4]), "ppn"),
        (LayoutAxes(tasks=[64], cores=[4]), "cores"),
    ],
)
def test_tasks_replace_processes_per_node(axes: LayoutAxes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        layouts(axes, [4], cores=16)


def test_tasks_are_distributed_as_evenly_as_possible() -> None:
    """The first nodes have one more, block by block, dealt out, and at random."""
    axes = LayoutAxes(tasks=[7], mapping=["block", "round_robin", "random"], nodes=[3])
    block, dealt, shuffled = layouts(axes, [3], cores=4)

    assert (block.ppn, block.ranks, block.ranks_of_nodes) == (3, 7, [3, 2, 2])
    assert block.nodes_of_ranks == [0, 0, 0, 1, 1, 2, 2]
    assert dealt.nodes_of_ranks == [0, 1, 2, 0, 1, 2, 0]
    assert sorted(shuffled.nodes_of_ranks) == block.nodes_of_ranks != shuffled.nodes_of_ranks
    assert str(block) == "7 ranks on 3 nodes"


def test_a_node_without_a_task_is_refused() -> None:
    with pytest.raises(ValueError, match=r"2 tasks .* 3 nodes"):
        layouts(LayoutAxes(tasks=[2]), [3], 32)


@pytest.mark.parametrize(("ppn", "tasks"), [(3, 6), (4, 7), (2, 7)])
def test_an_impossible_task_distribution_is_not_a_layout(ppn: int, tasks: int) -> None:
    assert Layout(3, 3, tasks=7).problem is None
    assert f"tasks = {tasks} " in str(Layout(3, ppn, tasks=tasks).problem)


def test_each_random_mapping_has_its_seed_and_one_node_has_one_mapping() -> None:
    axes = LayoutAxes(mapping=["block", "random"], mapping_seed=[1, 2])
    assert list(mappings(axes, 2)) == [("block", None), ("random", 1), ("random", 2)]
    assert list(mappings(axes, 1)) == [("block", None)]


def test_each_random_allocation_has_its_seed_and_one_node_has_one_allocation() -> None:
    axes = LayoutAxes(allocation=["best_fit", "random"], allocation_seed=[1, 2])
    assert list(allocations(axes, 2)) == [("best_fit", None), ("random", 1), ("random", 2)]
    assert list(allocations(axes, 1)) == [("best_fit", None)]
    found = [str(layout).split(", ") for layout in layouts(axes, [1, 2], cores=4)]
    assert found == [
        ["1 rank"],
        ["2 ranks on 2 nodes"],
        ["2 ranks on 2 nodes", "allocation random 1"],
        ["2 ranks on 2 nodes", "allocation random 2"],
    ]


def test_mappings_give_every_node_its_ranks() -> None:
    assert Layout(2, 3).nodes_of_ranks == [0, 0, 0, 1, 1, 1]
    assert Layout(2, 3, mapping="round_robin").nodes_of_ranks == [0, 1, 0, 1, 0, 1]
    dealt = [Layout(4, 4, mapping="random", mapping_seed=seed).nodes_of_ranks for seed in (1, 1, 2)]
    assert dealt[0] == dealt[1] != dealt[2]
    assert sorted(dealt[0]) == sorted(dealt[2]) == Layout(4, 4).nodes_of_ranks


def test_a_case_without_a_mapping_keeps_its_id() -> None:
    def case(layout: Layout) -> Case:
        return Case("ring", {}, {}, layout, "system", 0, 1, 1.0, 0)

    assert case(Layout()).id == "663e44102aa7"
    assert case(Layout(mapping="round_robin")).id != "663e44102aa7"
    assert case(Layout(allocation="by_pod")).id != "663e44102aa7"
