# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of cluster files that are not plausible, and files that are copies of ready ones."""

from __future__ import annotations

from typing import Any

import pytest

from haloscope.clusters.checks.copies import Copy, copy_of
from haloscope.clusters.checks.doubts import doubts
from haloscope.clusters.file import find, ready
from haloscope.clusters.schema import Cluster

READY = sorted(ready())


def changed(name: str, place: str, **values: Any) -> Cluster:
    """A ready file under another name, with other values of the table at a place."""
    data = find(name).model_dump(exclude_none=True) | {"name": "mine"}
    part: Any = data
    for key in place.split("."):
        part = part[int(key)] if key.isdigit() else part[key]
    part.update(values)
    return Cluster.model_validate(data)


@pytest.mark.parametrize("name", READY)
def test_ready_files_are_plausible_and_not_copies(name: str) -> None:
    assert doubts(find(name)) == []
    assert copy_of(find(name)) is None


@pytest.mark.parametrize(
    ("place", "values", "key"),
    [
        ("messages.0.protocols.0.latency_s", {"value": 9e-6}, "messages[0].latency_s"),
        (
            "messages.0.bandwidth_bytes_per_s",
            {"value": 5e8},
            "messages[0].bandwidth_bytes_per_s",
        ),
        (
            "messages.1.bandwidth_bytes_per_s",
            {"value": 4e9},
            "messages[1].bandwidth_bytes_per_s",
        ),
        ("network.link_latency_s", {"value": 1e-3}, "network.link_latency_s"),
        ("node.core_flops_per_s", {"value": 1e12}, "node.core_flops_per_s"),
        (
            "node.memory.0.bandwidth_bytes_per_s",
            {"value": 3e11},
            "node.memory[0].bandwidth_bytes_per_s",
        ),
        (
            "node.caches.1.bandwidth_bytes_per_s",
            {"value": 1e9},
            "node.caches[1].bandwidth_bytes_per_s",
        ),
    ],
)
def test_implausible_values_are_named(place: str, values: dict[str, float], key: str) -> None:
    assert key in [one.key for one in doubts(changed("tara", place, **values))]


def test_an_implausibly_fast_link_is_named() -> None:
    found = doubts(changed("eagle", "network.link_bandwidth_bytes_per_s", value=125e9))

    assert "network.link_bandwidth_bytes_per_s" in {one.key for one in found}


def test_a_file_under_another_name_is_a_copy() -> None:
    assert copy_of(changed("tara", "node")) == Copy("tara", ())
    assert copy_of(changed("tara", "network", source="none")) == Copy("tara", ())


def test_different_numbers_with_the_same_sources_are_a_copy() -> None:
    place = "node.memory.3.bandwidth_bytes_per_s"

    assert copy_of(changed("tara", place, value=45e9)) == Copy(
        "tara", ("node.memory[3].bandwidth_bytes_per_s",)
    )
    assert copy_of(changed("tara", "node", cores=16, memory_bytes=2**36)) == Copy(
        "tara", ("node.cores", "node.memory_bytes")
    )


def test_a_few_newly_sourced_numbers_still_make_a_copy() -> None:
    place = "node.memory.0.bandwidth_bytes_per_s"

    assert copy_of(changed("tara", place, value=45e9, source="measured")) == Copy("tara", (), 1)


def test_many_newly_sourced_numbers_make_a_different_file() -> None:
    data = find("tara").model_dump(exclude_none=True) | {"name": "mine"}
    for one in data["node"]["unbound"]:
        for entry in one.values():
            if isinstance(entry, dict):
                entry["source"] = "measured"
    for one in data["messages"]:
        one["latency_s"]["source"] = "measured"

    assert copy_of(Cluster.model_validate(data)) is None


@pytest.mark.parametrize(("key", "value"), [("latency_s", 30e-6), ("bandwidth_bytes_per_s", 0.7e9)])
def test_messages_within_a_node_are_compared_with_idle_links(key: str, value: float) -> None:
    found = doubts(changed("stampede2", f"messages.0.{key}", value=value))

    assert [one.key for one in found] == [f"messages[0].{key}"]
