# SPDX-License-Identifier: BSD-3-Clause
"""What of a cluster file is assumed."""

from __future__ import annotations

import re

import pytest
from noted import shows

from haloscope.cli import main
from haloscope.clusters import file as cluster_file
from haloscope.clusters.assumed import Assumed, assumed, numbers, scaled
from haloscope.clusters.schema import Cluster
from haloscope.clusters.simgrid.files import files
from haloscope.layout import Layout
from haloscope.study.case import Case


@pytest.fixture(scope="module")
def eagle() -> Cluster:
    return cluster_file.find("eagle")


def test_assumed_values_are_identified_by_their_key(eagle: Cluster) -> None:
    found = {one.where: one for one in assumed(eagle)}
    first = found["node.memory#1.bandwidth_bytes_per_s"]
    assert first.value == 14e9
    assert first.source.startswith("assumed: ") and "20 GB/s" in first.source
    assert found["node"].value is None
    assert shows(found["node"].source, "section 2", "assumed")
    assert "mpi.collectives.allreduce" in found


def test_a_value_with_a_source_is_not_assumed(eagle: Cluster) -> None:
    places = {one.where for one in assumed(eagle)}
    assert "network.link_bandwidth_bytes_per_s" not in places
    assert "mpi.rendezvous_bytes" not in places


def test_each_assumed_number_can_be_scaled_separately(eagle: Cluster) -> None:
    for one in numbers(eagle):
        other = scaled(eagle, one, 1.5)
        changed = {each.where: each.value for each in numbers(other)}
        assert one.value is not None
        assert changed.pop(one.where) == pytest.approx(1.5 * one.value)
        others = {n.where: n.value for n in numbers(eagle) if n != one}
        derived = one.where.replace("bandwidth_bytes_per_s", "crowded_bytes_per_s")
        if derived != one.where and derived in others:  # as of one core alone, if not given
            assert changed.pop(derived) == pytest.approx(1.5 * (others.pop(derived) or 0.0))
        assert changed == others
    assert len(numbers(eagle)) > 5


def test_non_numeric_values_cannot_be_scaled(eagle: Cluster) -> None:
    (node,) = [one for one in assumed(eagle) if one.where == "node"]
    with pytest.raises(ValueError, match="^node is "):
        scaled(eagle, node, 2)


def test_a_measured_file_has_no_assumptions(eagle: Cluster) -> None:
    part = eagle.model_copy(
        update={"node": eagle.node.model_copy(update={"source": "calibrated"}), "mpi": None}
    )
    assert {one.place[0] for one in assumed(part) if one.given} == {"node", "messages"}
    assert Assumed(("node",), None, "calibrated") not in assumed(part)


def test_values_marked_as_assumed_are_assumptions() -> None:
    """With other words, a number would be missing in the list."""
    for name in cluster_file.ready():
        text = cluster_file.ready()[name].read_text(encoding="utf-8")
        assumed = [
            line for line in text.splitlines() if re.search(r"source = .*\b(taken|guess)", line)
        ]
        assert [line for line in assumed if "assumed" not in line] == [], name


def test_the_command_lists_assumptions_with_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "show", "eagle", "--assumed"]) == 0
    out = capsys.readouterr().out
    assert "messages#1.bandwidth_bytes_per_s = 5e+09" in out
    assert re.search(r"messages#1\.bandwidth_bytes_per_s = 5e\+09\s+assumed: ", out)
    assert "link_bandwidth_bytes_per_s" not in out
    assert main(["cluster", "show", "orfeo-gpu-node", "--assumed"]) == 0


def test_missing_keys_are_listed_with_the_simulation_default(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each is the number that the files of a simulation have, and has a key that gives another."""
    assert main(["cluster", "show", "eagle", "--assumed"]) == 0
    out = capsys.readouterr().out
    assert "messages#1.memory_bytes_per_byte = 6 (default)" in out
    assert "mpi.send_overhead_s = 0 (default)" in out
    assert "others.traffic = 0.1 (default)" in out
    assert main(["cluster", "show", "summit", "--assumed"]) == 0
    assert "network.levels.left = 1 (default)" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(cluster_file.ready()))
def test_an_explicit_default_gives_the_same_simulation(name: str) -> None:
    cluster = cluster_file.find(name)
    case = Case("empty", {}, {}, Layout(min(2, cluster.nodes), 2), "simgrid", 0, 1, 1.0, 0)
    absent = [one for one in numbers(cluster) if not one.given]
    assert absent
    for one in absent:
        given = scaled(cluster, one, 1.0)
        assert one.where not in {other.where for other in assumed(given) if not other.given}
        assert files(given, case)["platform"] == files(cluster, case)["platform"]
        machine = files(given, case)["machine"].splitlines()
        if one.place[-1] not in ("sharpness", "smt_gain"):  # 1, or no line
            assert machine == files(cluster, case)["machine"].splitlines()
        assert files(scaled(cluster, one, 1.5), case) != files(cluster, case)
