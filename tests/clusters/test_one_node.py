# SPDX-License-Identifier: BSD-3-Clause
"""bench/one_node.py finds again what halobench's own node model was given."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from one_node import (
    ITERATIONS,
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
from haloscope.clusters.schema import Cluster

MACHINES = ("stampede2", "zenith-omnipath", "tara")


@pytest.fixture(scope="module")
def model() -> Iterator[NodeModel]:
    with node_model() as started:
        yield started


def cells_by(model: NodeModel, cluster: Cluster, law: Law) -> list[Cell]:
    """Solves on one node as its model has them: nothing is rounded, nothing scatters."""
    cores = [one.cores for one in cluster.node.memory if one.cores <= cluster.node.cores]
    asked = [Cell(n, each, 0.0) for each in cores for n in (1024, 2048, 4096, 8192)]
    costs = model.costs(machine_of(cluster, law), asked)
    return [
        Cell(cell.n, cell.cores, ITERATIONS[cell.n] * seconds)
        for cell, (seconds, _) in zip(asked, costs, strict=True)
    ]


@pytest.mark.parametrize("name", MACHINES)
def test_the_memory_of_the_file_is_found_again(model: NodeModel, name: str) -> None:
    cluster = find(name)
    law = law_of(cluster)
    found = list(memory(model, cluster, cells_by(model, cluster, law), law))
    given = {one.cores: one.bandwidth_bytes_per_s.value for one in cluster.node.memory}
    assert {cores: rate for cores, rate, _ in found} == pytest.approx(given, rel=1e-9)
    assert all(misfit < 1e-9 for _, _, misfit in found)


def test_the_law_of_the_last_cache_is_found_again(model: NodeModel) -> None:
    given = Law(1.1, 30e9)
    machines = [(each, cells_by(model, each, given)) for each in map(find, MACHINES[:2])]
    law, misfit = best_law(model, machines)
    assert law == given
    assert misfit < 1e-9


def test_a_machine_that_halobench_refuses_is_an_error() -> None:
    with node_model() as model, pytest.raises(RuntimeError, match="no such thing"):
        model.costs("no such thing\n", [Cell(1024, 1, 1.0)])
