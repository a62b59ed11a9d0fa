# SPDX-License-Identifier: BSD-3-Clause
"""Simulated replicates: nodes that differ at random, and identically in a repetition."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

import pytest
from cluster_files import described, quantity
from kernel_programs import SMPI
from laboratory import Run, Write
from record_page import unknown

from haloscope.clusters.node import NodeSpread
from haloscope.clusters.schema import Cluster
from haloscope.errors import UserError
from haloscope.layout import Layout
from haloscope.records.folder import ResultFolder
from haloscope.records.kernels import defaults
from haloscope.records.log import read
from haloscope.records.maker import CampaignFacts
from haloscope.run.runners.simgrid import SimgridRunner
from haloscope.study.case import Case, Launch
from haloscope.toolchains.build import Build
from haloscope.toolchains.simgrid import smpi as found_smpi

FACTS = CampaignFacts("a study", 1, {"host": "tiny", "cores": 4}, "0", None)
GIVEN: dict[str, Any] = {"n": 1024, "iterations": 10, "variant": "textbook", "repetitions": 1}
STUDY = """
title = "ours"
launches = 9
replicates = 3
[[runs]]
kernel = "fake"
params = { n = 8 }
layout = { nodes = 2, ppn = 2 }
"""


def apart(**spread: float) -> Cluster:
    one = described()
    said = NodeSpread.model_validate({key: quantity(value) for key, value in spread.items()})
    return one.model_copy(update={"node": one.node.model_copy(update={"spread": said})})


def case(launches: int, nodes: int = 4) -> Case:
    params = {**defaults("poisson_cg"), **GIVEN}
    layout = Layout(nodes, 1)
    return Case("poisson_cg", GIVEN, params, layout, "simgrid", 0, launches, 600.0, 0)


def simulated(cache: Path, cluster: Cluster, one: Case) -> list[dict[str, Any]]:
    """The records of all launches of a case, by their numbers."""
    built = Build(found_smpi(), SMPI, "hash")
    runner = SimgridRunner(FACTS, built, cluster, cache, at_once=2, memory_bytes=2**30)
    records = runner.run([Launch(one, number) for number in range(one.launches)])
    found = sorted(records, key=lambda record: int(record["launch"]))
    assert all(record["outcome"] == "ok" for record in found), found
    return found


def times(records: list[dict[str, Any]]) -> list[float]:
    return [record["times_s"][0] for record in records]


@pytest.mark.usefixtures("smpi")
def test_replicates_draw_nodes_and_the_slowest_determines_the_time(tmp_path: Path) -> None:
    """Of four nodes the slowest is by 1.03 standard deviations slower, at the mean."""
    (alike,) = simulated(tmp_path / "one", described(), case(1))
    found = simulated(tmp_path / "one", apart(nodes=0.05), case(12))
    assert unknown(found[0]) == []
    assert "spread" not in alike["simulation"]
    seeds = [record["simulation"]["spread"]["seed"] for record in found]
    assert len(set(seeds)) == len(set(times(found))) == 12
    slower = [time / alike["times_s"][0] - 1 for time in times(found)]
    assert 0.03 < sum(slower) / 12 < 0.07
    again = simulated(tmp_path / "two", apart(nodes=0.05), case(12))
    assert times(again) == times(found)
    assert not any(record["simulation"]["cached"] for record in again)
    kept = simulated(tmp_path / "two", apart(nodes=0.05), case(12))
    assert times(kept) == times(found)
    assert all(record["simulation"]["cached"] for record in kept)
    assert {phase["name"]: phase["model_s"] for phase in found[0]["phases"]} == {
        phase["name"]: phase["model_s"] for phase in alike["phases"]
    }


@pytest.mark.usefixtures("smpi")
def test_launches_without_randomness_use_the_cached_result(tmp_path: Path) -> None:
    (one,) = simulated(tmp_path, described(), case(1))
    found = simulated(tmp_path, described(), case(3))
    assert all(record["simulation"]["cached"] for record in found)
    assert times(found) == 3 * times([one])


@pytest.mark.usefixtures("smpi")
def test_one_node_has_the_speed_of_the_file_at_the_median(tmp_path: Path) -> None:
    (alike,) = simulated(tmp_path, described(), case(1, nodes=1))
    for spread in ({"nodes": 0.02}, {"phases": 0.02}):
        found = times(simulated(tmp_path, apart(**spread), case(15, nodes=1)))
        assert median(found) == pytest.approx(alike["times_s"][0], rel=0.01)
        assert min(found) < alike["times_s"][0] < max(found)


@pytest.mark.usefixtures("smpi")
def test_a_single_launch_uses_identical_nodes(tmp_path: Path) -> None:
    (alike,) = simulated(tmp_path / "one", described(), case(1))
    (one,) = simulated(tmp_path / "two", apart(nodes=0.05, phases=0.05), case(1))
    assert one["times_s"] == alike["times_s"]
    assert "spread" not in one["simulation"]


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize(
    ("on", "options", "launches"),
    [
        ("stampede2", (), 3),
        ("stampede2", ("--replicates", 2), 2),
        ("stampede2", ("--launches", 5), 3),
        ("cab", (), 1),
    ],
)
def test_the_requested_replicates_run_if_nodes_differ(
    haloscope: Run, study_file: Write, tmp_path: Path, on: str, options: tuple[Any], launches: int
) -> None:
    out = tmp_path / "out"
    assert haloscope("run", study_file(STUDY), "--on", on, "--out", out, *options) == 0
    drawn = [record.raw["simulation"].get("spread") for record in read(out / "records.jsonl")]
    assert len(drawn) == launches
    assert all(drawn) == (launches > 1)
    notes = [note for note in ResultFolder(out).load().notes if note.startswith("no replicates")]
    assert len(notes) == (on == "cab")


@pytest.mark.usefixtures("simulator")
def test_impossible_random_draws_are_refused(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    study, out = study_file(STUDY), tmp_path / "out"
    with pytest.raises(UserError, match=r"cab .*\n.*node.spread.nodes"):
        haloscope("run", study, "--on", "cab", "--replicates", 3)
    with pytest.raises(UserError, match="--replicates 1: .*\n.* from 2 to 10,000"):
        haloscope("run", study, "--on", "stampede2", "--replicates", 1)
    with pytest.raises(UserError, match="--replicates: .*\n.*--launches"):
        haloscope("run", study, "--replicates", 3)
    haloscope("run", study, "--on", "cab", "--out", out)
    with pytest.raises(UserError) as caught:
        haloscope("run", "--resume", out, "--launches", 3)
    assert [one.where for one in caught.value.problems] == [f"--resume {out}"]


@pytest.mark.usefixtures("simulator")
def test_additional_replicates_continue_existing_ones(
    haloscope: Run, study_file: Write, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    haloscope("run", study_file(STUDY), "--on", "stampede2", "--out", out)
    assert haloscope("run", "--resume", out, "--launches", 5) == 0
    seeds = [record.raw["simulation"]["spread"]["seed"] for record in read(out / "records.jsonl")]
    assert len(set(seeds)) == 5
