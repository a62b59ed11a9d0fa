# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes of a cluster a job gets."""

from __future__ import annotations

import pytest
from cluster_files import described, emptied

from haloscope.clusters import file as cluster_file
from haloscope.clusters.other_jobs.occupied import allocated, allocations
from haloscope.clusters.simgrid import files as simgrid_files
from haloscope.layout import ALLOCATIONS, Layout
from haloscope.study.case import Case


def nodes(cluster: str, asked: int, allocation: str, seed: int | None = None) -> list[int]:
    layout = Layout(asked, 1, allocation=allocation, allocation_seed=seed)
    return [*allocated(emptied(cluster_file.find(cluster)), layout).nodes]


def test_nodes_are_adjacent_on_an_empty_cluster() -> None:
    assert nodes("eagle", 5, "contiguous") == nodes("eagle", 5, "best_fit") == [0, 1, 2, 3, 4]
    assert allocated(cluster_file.find("stampede2"), Layout(3, 2)).nodes == [0, 1, 2]


def test_switches_and_pods_provide_nodes_in_turn() -> None:
    """Of eagle, 28 nodes to a switch and 6 of these to each of 6 pods."""
    assert nodes("eagle", 4, "by_switch") == [0, 28, 56, 84]
    assert nodes("eagle", 38, "by_switch") == sorted([*range(0, 1008, 28), 1, 29])
    assert nodes("eagle", 7, "by_pod") == [0, 1, 168, 336, 504, 672, 840]
    assert nodes("stampede2", 3, "by_pod") == nodes("stampede2", 3, "by_switch") == [0, 28, 56]
    assert nodes("tara", 3, "by_switch") == nodes("tara", 3, "by_pod") == [0, 1, 2]  # one switch


@pytest.mark.parametrize("allocation", ALLOCATIONS)
def test_requesting_all_nodes_returns_each_once(allocation: str) -> None:
    seed = 1 if allocation == "random" else None
    assert nodes("eagle", 1008, allocation, seed) == list(range(1008))
    odd = described(nodes=3)  # of four places
    layout = Layout(3, 1, allocation=allocation, allocation_seed=seed)
    assert allocated(odd, layout).nodes == [0, 1, 2]


def test_random_nodes_are_determined_by_the_seed() -> None:
    one, again, other = (nodes("eagle", 20, "random", seed) for seed in (1, 1, 2))
    assert one == again != other
    assert one == sorted(set(one)) and len(one) == 20 and max(one) > 500


def test_a_torus_has_no_switches() -> None:
    torus = {**described().model_dump()["network"], "topology": "torus"}
    torus |= {"levels": (), "dimensions": (2, 2)}
    cluster = described(network=torus)
    assert allocations(cluster.network) == ("best_fit", "contiguous", "random")
    with pytest.raises(ValueError, match="tiny has no switches"):
        allocated(cluster, Layout(2, 1, allocation="by_switch"))
    layout = Layout(2, 1, allocation="random", allocation_seed=3)
    assert len(allocated(cluster, layout).nodes) == 2


def test_ranks_run_on_the_allocated_nodes() -> None:
    layout = Layout(2, 2, allocation="by_switch")
    case = Case("ring", {}, {}, layout, "simgrid", 0, 1, 60.0, 0)
    files = simgrid_files.files(described(), case)
    assert files["hosts"].split() == ["node-0", "node-0", "node-2", "node-2"]
    ranks = [line for line in files["platform"].splitlines() if line.startswith("ranks")]
    assert ranks == ["ranks 0 2", "ranks 2 2"]
