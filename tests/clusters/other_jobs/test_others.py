# SPDX-License-Identifier: BSD-3-Clause
"""Other jobs on a simulated cluster: the nodes that they leave, and the links that they use."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import numpy as np
import pytest
from cluster_files import described, emptied, quantity, untapered
from noted import shows

from haloscope.clusters import file as cluster_file
from haloscope.clusters.network import Others
from haloscope.clusters.other_jobs.occupied import Occupied, OtherJob, allocated, left, notes
from haloscope.clusters.schema import Cluster
from haloscope.clusters.simgrid import files as simgrid_files
from haloscope.layout import Layout
from haloscope.study.case import Case


def with_others(cluster: Cluster, occupancy: float, traffic: float | None = None) -> Cluster:
    given = {"occupancy": quantity(occupancy)}
    if traffic is not None:
        given["traffic"] = quantity(traffic)
    return cluster.model_copy(update={"others": Others.model_validate(given)})


def eagle(occupancy: float = 0.9, traffic: float | None = None) -> Cluster:
    return with_others(cluster_file.find("eagle"), occupancy, traffic)


def held(given: Occupied) -> list[int]:
    return sorted(chain.from_iterable(job.nodes.tolist() for job in given.others))


@pytest.mark.parametrize("occupancy", [0.3, 0.9])
@pytest.mark.parametrize("asked", [1, 128, 256])
def test_other_jobs_use_the_occupied_share_of_nodes_without_overlap(
    occupancy: float, asked: int
) -> None:
    shares = []
    for launch in range(10):
        given = allocated(eagle(occupancy), Layout(asked, 1), launch)
        both = [*given.nodes, *held(given)]
        assert len(given.nodes) == asked and len(both) == len(set(both))
        assert list(given.nodes) == sorted(given.nodes)
        assert max(both) < 1008
        shares.append(len(both) / 1008)
    assert max(shares) <= occupancy
    assert np.mean(shares) > 0.95 * occupancy


def test_a_job_larger_than_the_occupied_share_runs_alone() -> None:
    given = allocated(eagle(0.2), Layout(1008, 1))
    assert given == Occupied(list(range(1008)))


def test_the_cluster_state_depends_only_on_the_launch() -> None:
    one, again, later = (allocated(eagle(), Layout(64, 1), launch) for launch in (0, 0, 1))
    assert one.nodes == again.nodes != later.nodes
    smaller = allocated(eagle(), Layout(2, 1), 0)
    larger, before = (
        {tuple(job.nodes) for job in given.others[: given.ahead]} for given in (one, smaller)
    )
    assert larger and larger <= before


def before_it(given: Occupied) -> Counter[int]:
    """How many nodes of each switch were taken before the job started."""
    return Counter(node // 28 for job in given.others[: given.ahead] for node in job.nodes)


def test_a_job_is_placed_below_the_lowest_switch_with_enough_free_nodes() -> None:
    """Eagle has 28 nodes to a switch, and 168 to a pod; of each, the one with the fewest to use."""
    for launch in range(10):
        given = allocated(eagle(0.5), Layout(8, 1), launch)
        taken = before_it(given)
        free = {switch: 28 - taken[switch] for switch in range(36)}
        pods = {
            pod: sum(free[switch] for switch in range(6 * pod, 6 * pod + 6)) for pod in range(6)
        }
        (switch,) = {node // 28 for node in given.nodes}
        assert pods[switch // 6] == min(number for number in pods.values() if number >= 8)
        within = [free[one] for one in range(36) if one // 6 == switch // 6 and free[one] >= 8]
        assert free[switch] == min(within)


def test_a_job_too_large_for_a_pod_spans_few_pods() -> None:
    """At most in the pods that have most free, where 10 % of each are."""
    for launch in range(10):
        given = allocated(eagle(), Layout(256, 1), launch)
        of_pods = sorted(Counter(node // 168 for node in given.nodes).values(), reverse=True)
        assert 2 <= len(of_pods) <= 3
        assert of_pods[0] > 256 / 3


def test_nodes_requested_by_name_are_exclusive() -> None:
    layout = Layout(6, 1, allocation="by_pod")
    given = allocated(eagle(), layout, 3)
    assert list(given.nodes) == [0, 168, 336, 504, 672, 840]
    assert not set(given.nodes) & set(held(given)) and len(held(given)) > 700
    assert list(allocated(eagle(), Layout(3, 1, allocation="contiguous")).nodes) == [0, 1, 2]


def test_jobs_load_the_links_above_their_nodes() -> None:
    """Nodes 40 to 79 of eagle are below the second and third of the switches of the first pod."""
    network = cluster_file.find("eagle").network
    assert network is not None
    jobs = [OtherJob(np.arange(40, 60), 0.5), OtherJob(np.arange(60, 80), 0.1)]
    found = {(level, part): share for level, part, share in left(network, [0, 30, 170], jobs)}
    assert {key for key, share in found.items() if share == 1} == {(1, 0), (1, 6), (2, 1)}
    below = 0.5 * 16  # and 4 nodes of that job, all of the other, are below the next switch
    assert found[1, 1] == pytest.approx(1 / (1 + below * (1 - 28 / 1008) / 7))
    below = 0.5 * 20 + 0.1 * 20
    assert found[2, 0] == pytest.approx(1 / (1 + below * (1 - 168 / 1008) / 7))


def test_links_of_an_untapered_tree_keep_the_most_bandwidth() -> None:
    """The same jobs on eagle, and on a copy with as many links up as down everywhere."""
    tapered = eagle()
    network, full = tapered.network, untapered(tapered).network
    assert network is not None and full is not None
    assert [(one.children, one.parents) for one in full.levels] == [(28, 1), (6, 28), (6, 6)]
    given = allocated(tapered, Layout(256, 1))
    least = min(share for level, _, share in left(network, given.nodes, given.others) if level == 2)
    most = min(share for level, _, share in left(full, given.nodes, given.others) if level == 2)
    assert least < 0.8 < 0.95 < most


def test_simulation_files_contain_the_nodes_and_links_of_their_launch() -> None:
    case = Case("ring", {}, {}, Layout(200, 1), "simgrid", 0, 1, 60.0, 0)
    one, again, other = (simgrid_files.files(eagle(), case, launch=launch) for launch in (0, 0, 1))
    assert one == again
    assert one["hosts"] != other["hosts"]
    lines = [line.split() for line in one["platform"].splitlines()]
    assert {line[1] for line in lines if line[0] == "left"} == {"1", "2"}
    assert all(0 < float(line[3]) <= 1 for line in lines if line[0] == "left")
    empty = simgrid_files.files(emptied(eagle()), case, launch=1)
    assert empty == simgrid_files.files(emptied(eagle()), case)
    assert "left" not in empty["platform"]


def test_more_traffic_leaves_less_bandwidth() -> None:
    def least(traffic: float) -> float:
        cluster = eagle(0.9, traffic)
        given = allocated(cluster, Layout(256, 1))
        assert cluster.network is not None
        return min(share for _, _, share in left(cluster.network, given.nodes, given.others))

    assert 0.1 < least(0.4) < least(0.1) < least(0.01) < 1


def test_assumptions_about_other_jobs_are_listed_with_sources() -> None:
    assert notes(emptied(eagle())) == ()
    (words,) = notes(eagle(0.85, 0.2))
    assert shows(words, "85%", "20%", "(a test)")


def test_a_single_switch_has_no_shared_links() -> None:
    flat = {**described().model_dump()["network"], "topology": "flat", "levels": ()}
    cluster = with_others(described(network=flat), 0.5)
    assert len(allocated(cluster, Layout(2, 1)).nodes) == 2
    assert cluster.network is not None
    assert [*left(cluster.network, [0, 1], [OtherJob(np.arange(2, 4), 1.0)])] == []
