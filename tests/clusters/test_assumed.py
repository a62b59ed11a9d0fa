"""What of a cluster file is assumed."""

from __future__ import annotations

import pytest

from haloscope.cli import main
from haloscope.clusters import file as cluster_file
from haloscope.clusters.assumed import Assumed, assumed, numbers, scaled
from haloscope.clusters.schema import Cluster


@pytest.fixture(scope="module")
def eagle() -> Cluster:
    return cluster_file.find("eagle")


def test_numbers_and_what_has_none_are_told_by_their_place(eagle: Cluster) -> None:
    found = {one.where: one for one in assumed(eagle)}
    first = found["node.memory#1.bandwidth_bytes_per_s"]
    assert first.value == 14e9
    assert first.source == "assumed: what one core of its kind draws from memory"
    assert found["node"].value is None
    assert "memory and one thread a core are assumed" in found["node"].source
    assert "mpi.collectives.allreduce" in found


def test_what_has_a_source_is_not_assumed(eagle: Cluster) -> None:
    places = {one.where for one in assumed(eagle)}
    assert "network.link_bandwidth_bytes_per_s" not in places
    assert "mpi.rendezvous_bytes" not in places


def test_those_with_a_number_can_be_scaled_by_themselves(eagle: Cluster) -> None:
    for one in numbers(eagle):
        other = scaled(eagle, one, 1.5)
        changed = {each.where: each.value for each in numbers(other)}
        assert one.value is not None
        assert changed.pop(one.where) == pytest.approx(1.5 * one.value)
        assert changed == {n.where: n.value for n in numbers(eagle) if n != one}
    assert len(numbers(eagle)) > 5


def test_what_is_no_number_can_not_be_scaled(eagle: Cluster) -> None:
    (node,) = [one for one in assumed(eagle) if one.where == "node"]
    with pytest.raises(ValueError, match="node is no number"):
        scaled(eagle, node, 2)


def test_a_file_that_was_measured_assumes_nothing(eagle: Cluster) -> None:
    part = eagle.model_copy(
        update={"node": eagle.node.model_copy(update={"source": "calibrated"}), "mpi": None}
    )
    assert {one.place[0] for one in assumed(part)} == {"node", "messages"}
    assert Assumed(("node",), None, "calibrated") not in assumed(part)


def test_the_command_shows_each_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "show", "eagle", "--assumed"]) == 0
    out = capsys.readouterr().out
    assert "messages#1.bandwidth_bytes_per_s = 5e+09" in out
    assert "assumed: two copies through shared memory" in out
    assert "link_bandwidth_bytes_per_s" not in out
    assert main(["cluster", "show", "orfeo-gpu-node", "--assumed"]) == 0
