# SPDX-License-Identifier: BSD-3-Clause
"""What mappings make of counted traffic, and a mapping made for it."""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from haloscope.advice import counted_bytes
from haloscope.clusters import file as cluster_file
from haloscope.clusters.network import NetworkLevel
from haloscope.errors import UserError
from haloscope.layout import Layout

HEAD = "phase,from,to,messages,bytes,kind,from_world,to_world,partial\n"


def written(folder: Path, pairs: list[tuple[int, int, int]], world: int = 1) -> Path:
    lines = [f"p,{one},{two},1,{sent},message,{world},{world},no\n" for one, two, sent in pairs]
    (folder / "traffic.csv").write_text(HEAD + "".join(lines))
    return folder


def ring(ranks: int, order: list[int] | None = None) -> list[tuple[int, int, int]]:
    """Each rank sends 100 bytes to the next, ranks numbered in some order."""
    names = order or list(range(ranks))
    return [(names[k], names[(k + 1) % ranks], 100) for k in range(ranks)]


class FakeMapper:
    """The part of chszlablib that is used: it reverses the ranks, and notes what it was asked."""

    def __init__(self) -> None:
        self.levels: list[int] = []
        self.distances: list[int] = []
        self.edges: list[tuple[int, int, int]] = []
        self.Graph = SimpleNamespace(from_edge_list=self.graph)
        self.Decomposition = SimpleNamespace(process_map=self.process_map)

    def graph(self, edges: list[tuple[int, int, int]], num_nodes: int) -> int:
        self.edges = edges
        return num_nodes

    def process_map(
        self, ranks: int, levels: list[int], distances: list[int], **_: object
    ) -> SimpleNamespace:
        self.levels, self.distances = levels, distances
        return SimpleNamespace(assignment=list(range(ranks))[::-1])


def test_switches_and_nodes_are_levels_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "chszlablib", fake := FakeMapper())
    cluster = cluster_file.find("eagle")
    below = cluster.network.levels[0].children if cluster.network else 0
    found = counted_bytes.read(written(tmp_path, [*ring(4 * below), (1, 0, 300)]))

    nodes = counted_bytes.by_hierarchy(found, 2 * below, cluster)

    assert (fake.levels, fake.distances) == ([2, below, 2], [1, 10, 100])
    assert len(fake.edges) == 4 * below
    assert max(fake.edges, key=lambda one: one[2])[:2] == (0, 1)
    assert nodes == [rank // 2 for rank in range(4 * below)][::-1]
    assert counted_bytes.by_hierarchy(found, 3, cluster) is None, "nodes are not alike"


def test_without_the_library_the_graph_mapping_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "chszlablib", None)
    found = counted_bytes.read(written(tmp_path, ring(8)))
    assert counted_bytes.by_hierarchy(found, 4, cluster_file.find("eagle")) is None


def test_bytes_between_nodes_over_links_and_on_the_busiest_link_are_counted() -> None:
    pairs = [(0, 1, 10), (1, 2, 100), (2, 3, 1000), (3, 3, 7)]
    found = counted_bytes.of_pairs(pairs, 4)
    cluster = cluster_file.find("eagle")
    assert cluster.network
    below = cluster.network.levels[0]
    assert (below.parents, below.links) == (1, 1)
    load = counted_bytes.load(found, [0, 0, 1, 2], cluster)
    assert load == counted_bytes.Load(1100, 2200, 1000.0)
    received = counted_bytes.of_pairs([(0, 2, 10), (1, 2, 20), (2, 0, 5)], 3)
    assert counted_bytes.load(received, [0, 1, 2], cluster).busiest_link == 30
    far = counted_bytes.load(found, [0, 0, 0, below.children], cluster)
    assert far == counted_bytes.Load(1000, 4000, 1000.0)
    assert counted_bytes.load(found, [0] * 4, cluster) == counted_bytes.Load(0, 0, 0.0)


def test_links_above_a_switch_share_its_outgoing_traffic() -> None:
    cluster = cluster_file.find("eagle")
    assert cluster.network
    first = NetworkLevel(children=2, parents=2, links=1)
    network = cluster.network.model_copy(
        update={"levels": (first, NetworkLevel(children=2, parents=1, links=3))}
    )
    tree = cluster.model_copy(update={"network": network})
    both = counted_bytes.of_pairs([(0, 2, 600), (1, 3, 600)], 4)
    load = counted_bytes.load(both, [0, 1, 2, 3], tree)
    assert load == counted_bytes.Load(1200, 4800, 300.0), "cards: 600 / 2; switches: 1200 / 6"


@pytest.mark.parametrize(
    ("pairs", "hops", "busiest"),
    [
        ([(0, 1, 10)], 10, 10.0),
        ([(0, 3, 10), (3, 2, 5)], 15, 10.0),  # the first one goes round
        ([(0, 2, 10), (1, 2, 5)], 25, 15.0),
        ([(0, 5, 10), (1, 5, 7)], 27, 17.0),  # along the first dimension, then the second
    ],
)
def test_a_torus_is_routed_dimension_by_dimension(
    pairs: list[tuple[int, int, int]], hops: int, busiest: float
) -> None:
    cluster = cluster_file.find("eagle")
    assert cluster.network
    shape = {"topology": "torus", "dimensions": (4, 2), "levels": ()}
    torus = cluster.model_copy(update={"network": cluster.network.model_copy(update=shape)})
    load = counted_bytes.load(counted_bytes.of_pairs(pairs, 8), range(8), torus)
    assert load == counted_bytes.Load(sum(pair[2] for pair in pairs), hops, busiest)


def test_the_lower_bound_is_the_time_of_the_busiest_link() -> None:
    cluster = cluster_file.find("stampede2")
    assert cluster.network is not None
    load = counted_bytes.Load(2000, 4000, 1000.0)
    expected = 1000 / cluster.network.link_bandwidth_bytes_per_s.value
    assert counted_bytes.least_seconds(load, cluster) == pytest.approx(expected)


def test_a_ring_of_shuffled_ranks_is_reassembled(tmp_path: Path) -> None:
    order = list(range(64))
    random.Random(3).shuffle(order)
    found = counted_bytes.read(written(tmp_path, ring(64, order)))
    cluster = cluster_file.find("eagle")
    block = counted_bytes.load(found, Layout(nodes=8, ppn=8).nodes_of_ranks, cluster)
    graph = counted_bytes.by_graph(found, 8)
    assert Counter(graph) == dict.fromkeys(range(8), 8)
    assert counted_bytes.load(found, graph, cluster).between_nodes <= 12 * 100  # 8 is the least
    assert block.between_nodes > 40 * 100


def test_graph_mapping_keeps_the_rank_counts_of_the_nodes(tmp_path: Path) -> None:
    found = counted_bytes.read(written(tmp_path, ring(50)))
    graph = counted_bytes.by_graph(found, 8)
    assert [Counter(graph)[node] for node in range(8)] == [7, 7, 6, 6, 6, 6, 6, 6]


def test_other_worlds_are_excluded_and_counted(tmp_path: Path) -> None:
    written(tmp_path, ring(4), world=2)
    with (tmp_path / "traffic.csv").open("a") as file:
        file.write("p,0,1,1,5,message,1,1,no\np,0,1,1,6,message,1,2,no\n")
        file.write("p,0,3,1,7,message,2,1,no\n")
    found = counted_bytes.read(tmp_path)
    assert (found.ranks, found.left_out, int(found.matrix.sum())) == (4, 18, 400)


@pytest.mark.parametrize(
    "content",
    [
        *("", "a,b\n1,2\n", HEAD, HEAD + "p,0,x,1,1,message,1,1,no\n"),
        *(
            HEAD + f"p,0,{to},1,{sent},message,1,1,no\n"
            for to, sent in ((-1, 9), (10**9, 9), (1, -9))
        ),
    ],
)
def test_invalid_traffic_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "traffic.csv").write_text(content)
    with pytest.raises(UserError) as error:
        counted_bytes.read(tmp_path)
    assert str(tmp_path / "traffic.csv") in error.value.problems[0].where
    with pytest.raises(UserError):
        counted_bytes.read(tmp_path / "missing")
