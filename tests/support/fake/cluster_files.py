# SPDX-License-Identifier: BSD-3-Clause
"""Cluster files for tests: a ready one with changes, and a small one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from haloscope.clusters import file as cluster_file
from haloscope.clusters.schema import Cluster
from haloscope.errors import UserError


def changed(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    """A ready cluster file with changes."""
    path = tmp_path / "odd.toml"
    text = cluster_file.ready()["stampede2"].read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return path


def refused(tmp_path: Path, *changes: tuple[str, str]) -> tuple[Path, UserError]:
    """What a ready cluster file with changes is refused for."""
    path = changed(tmp_path, *changes)
    with pytest.raises(UserError) as raised:
        cluster_file.load(path)
    return path, raised.value


def quantity(value: float) -> dict[str, Any]:
    return {"value": value, "source": "a test"}


def emptied(cluster: Cluster) -> Cluster:
    """The same without other jobs."""
    return cluster.model_copy(update={"others": None})


def untapered(cluster: Cluster) -> Cluster:
    """The same whose tree has as many links up as down everywhere."""
    network = cluster.network
    assert network is not None
    below = (1, *(level.children for level in network.levels))
    levels = tuple(
        level.model_copy(update={"parents": up, "links": 1})
        for level, up in zip(network.levels, below, strict=False)
    )
    return cluster.model_copy(update={"network": network.model_copy(update={"levels": levels})})


def divided(**changes: Any) -> Cluster:
    """The same whose sockets of two cores have a memory each, and a link between them."""
    whole = described(**changes)
    node = {
        **whole.node.model_dump(),
        "socket": {
            "memory": [
                {"cores": 1, "bandwidth_bytes_per_s": quantity(1e10)},
                {"cores": 2, "bandwidth_bytes_per_s": quantity(1.5e10)},
            ],
            "link": {"bandwidth_bytes_per_s": quantity(6e9), "latency_s": quantity(1e-7)},
        },
    }
    return Cluster.model_validate({**whole.model_dump(), "name": whole.name, "node": node})


def described(**changes: Any) -> Cluster:
    """Two sockets of two cores, four nodes in a fat tree of two levels."""
    return Cluster.model_validate(
        {
            "name": "tiny",
            "nodes": 4,
            "source": "a test",
            "node": {
                "cpu": "Example CPU",
                "sockets": 2,
                "cores": 4,
                "threads_per_core": 2,
                "memory_bytes": 2**34,
                "source": "a test",
                "clock_ghz": quantity(2.5),
                "core_flops_per_s": quantity(4e9),
                "sharpness": quantity(1.5),
                "memory": [
                    {"cores": 1, "bandwidth_bytes_per_s": quantity(1e10)},
                    {"cores": 4, "bandwidth_bytes_per_s": quantity(3e10)},
                ],
                "caches": [
                    {
                        "level": 2,
                        "size_bytes": 2**20,
                        "shared_by": 1,
                        "source": "a test",
                        "bandwidth_bytes_per_s": quantity(5e10),
                        "crowded_bytes_per_s": quantity(4e10),
                    }
                ],
            },
            "network": {
                "name": "wires",
                "topology": "fat_tree",
                "link_bandwidth_bytes_per_s": quantity(1e10),
                "link_latency_s": quantity(5e-7),
                "levels": [{"children": 2}, {"children": 2, "parents": 1, "links": 2}],
                "source": "a test",
            },
            "mpi": {
                "library": "Example MPI",
                "rendezvous_bytes": quantity(12288),
                "collectives": {"allreduce": {"algorithm": "rdb", "source": "a test"}},
            },
            "messages": [
                {
                    "placement": "same-node",
                    "mpi": "Example MPI",
                    "latency_s": quantity(4e-7),
                    "bandwidth_bytes_per_s": quantity(8e9),
                }
            ],
            **changes,
        }
    )
