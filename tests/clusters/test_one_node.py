# SPDX-License-Identifier: BSD-3-Clause
"""bench/one_node.py finds again what halobench's own node model was given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from one_node import (
    ITERATIONS,
    MESSAGES_S,
    SPREAD,
    Cell,
    Law,
    NodeModel,
    best_law,
    law_of,
    machine_of,
    memory,
    node_model,
)

from haloscope.clusters.file import find
from haloscope.clusters.node import expected_slowest
from haloscope.clusters.schema import Cluster

MACHINES = ("stampede2", "zenith-omnipath", "tara")


@pytest.fixture(scope="module")
def model() -> Iterator[NodeModel]:
    with node_model() as started:
        yield started


def cells_by(
    model: NodeModel, cluster: Cluster, law: Law, nodes: Sequence[int] = (1,)
) -> list[Cell]:
    """Solves as its model has them: nothing is rounded, nothing scatters but the slowest node."""
    cores = [one.cores for one in cluster.node.memory if one.cores <= cluster.node.cores]
    meshes = (1024, 2048, 4096, 8192)
    asked = [Cell(n, each, 0.0, count) for each in cores for n in meshes for count in nodes]
    costs = model.costs(machine_of(cluster, law), asked)
    found = []
    for cell, (seconds, _) in zip(asked, costs, strict=True):
        messages_s = MESSAGES_S if cell.nodes > 1 else 0.0
        iteration_s = seconds * expected_slowest(SPREAD, cell.nodes) + messages_s
        found.append(replace(cell, time_s=ITERATIONS[cell.n] * iteration_s))
    return found


@pytest.mark.parametrize("name", MACHINES)
def test_the_memory_bandwidth_of_the_file_is_reproduced(model: NodeModel, name: str) -> None:
    cluster = find(name)
    law = law_of(cluster)
    found = list(memory(model, cluster, cells_by(model, cluster, law), law))
    given = {one.cores: one.bandwidth_bytes_per_s.value for one in cluster.node.memory}
    assert {cores: rate for cores, rate, _ in found} == pytest.approx(given, rel=1e-9)
    assert all(misfit < 1e-9 for _, _, misfit in found)


def test_several_nodes_reproduce_the_last_level_cache_model(model: NodeModel) -> None:
    given = Law(1.3, 2.1)
    cluster = find("stampede2")
    law, misfit = best_law(model, cluster, cells_by(model, cluster, given, nodes=(1, 8)))
    assert law == given
    assert misfit < 1e-6


def test_a_machine_that_halobench_refuses_is_an_error() -> None:
    with node_model() as model, pytest.raises(RuntimeError, match="no such thing"):
        model.costs("no such thing\n", [Cell(1024, 1, 1.0)])
