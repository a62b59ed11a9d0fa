# SPDX-License-Identifier: BSD-3-Clause
"""On which sockets simulated ranks sit."""

from __future__ import annotations

from typing import Any

import pytest
from cluster_files import described, divided

from haloscope.clusters.simgrid.gpus import sockets_of_ranks
from haloscope.layout import Layout
from haloscope.toolchains.launching import Job

NODE = divided().node
"""Two sockets of two cores of two threads."""


def seats(nodes: list[int], **layout: Any) -> list[int] | None:
    return sockets_of_ranks(NODE, nodes, Layout(**layout))


@pytest.mark.parametrize(
    ("ranks", "layout", "sockets"),
    [
        (2, {"bind": "close"}, [0, 0]),
        (2, {"bind": "spread"}, [0, 1]),
        (3, {"bind": "close"}, [0, 0, 1]),
        (3, {"bind": "spread"}, [0, 0, 1]),
        (4, {"bind": "close"}, [0, 0, 1, 1]),
        (4, {"bind": "spread"}, [0, 0, 1, 1]),
        (2, {"bind": "close", "threads": 2}, [0, 1]),
        (2, {"bind": "spread", "threads": 2}, [0, 1]),
        (2, {"bind": "spread", "threads": 2, "places": "threads"}, [0, 1]),
        (4, {"bind": "close", "places": "threads"}, [0, 0, 0, 0]),
        (8, {"bind": "close", "places": "threads"}, [0] * 4 + [1] * 4),
        (3, {"bind": "spread", "places": "threads"}, [0, 0, 1]),
    ],
)
def test_binding_decides_the_socket(ranks: int, layout: dict[str, Any], sockets: list[int]) -> None:
    assert seats([0] * ranks, **layout) == sockets


def test_ranks_are_numbered_separately_on_each_node() -> None:
    assert seats([0, 1, 0, 1], bind="spread") == [0, 0, 1, 1]  # dealt out in turn
    assert seats([7, 7, 3, 7, 3], bind="close") == [0, 0, 0, 1, 0]


def test_simulated_ranks_use_the_cores_that_real_ranks_bind_to() -> None:
    """Of processors that are numbered core by core, socket by socket."""
    for bind in ("close", "spread"):
        for ranks in range(2, 5):
            real = Job(Layout(ppn=ranks, bind=bind), cpus=(0, 1, 2, 3)).cpus_of_ranks()
            assert seats([0] * ranks, bind=bind) == [cpu // 2 for (cpu,) in real]


@pytest.mark.parametrize(
    ("ranks", "layout"),
    [
        (1, {"threads": 4}),  # nobody to share with
        (2, {"threads": 3, "places": "threads"}),  # the second has cores of both
        (5, {}),  # on four cores, shared by all
    ],
)
def test_a_rank_across_sockets_uses_one_memory(ranks: int, layout: dict[str, Any]) -> None:
    assert seats([0] * ranks, **layout) is None


def test_a_node_without_socket_memories_has_one_memory() -> None:
    assert sockets_of_ranks(described().node, [0, 0], Layout(1, 2, bind="spread")) is None
