# SPDX-License-Identifier: BSD-3-Clause
"""GPUs of a cluster file: positions of ranks, input of simulations, contradictions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from haloscope.clusters import file as cluster_file
from haloscope.clusters.schema import Cluster, state
from haloscope.clusters.simgrid import files as simgrid_files
from haloscope.clusters.simgrid.gpus import gpus_of_ranks, rows
from haloscope.errors import UserError
from haloscope.layout import Layout
from haloscope.study.case import Case, Value, gpus_lacking

SUMMIT = cluster_file.find("summit")


def case(layout: Layout, **params: Value) -> Case:
    return Case("sf_pingpong", {}, {"mpi": "gpu_aware", **params}, layout, "simgrid", 0, 1, 1, 0)


@pytest.mark.parametrize(
    ("layout", "shared", "gpus"),
    [
        (Layout(ppn=2), 1, [0, 1]),
        (Layout(ppn=2, bind="spread"), 1, [0, 3]),
        (Layout(ppn=2), 2, [0, 0]),
        (Layout(ppn=6), 1, [0, 1, 2, 3, 4, 5]),
        (Layout(ppn=6, bind="spread"), 1, [0, 1, 2, 3, 4, 5]),
        (Layout(nodes=2, ppn=3), 1, [0, 1, 2, 0, 1, 2]),
        (Layout(nodes=2, ppn=2, mapping="round_robin"), 1, [0, 0, 1, 1]),
        (Layout(ppn=8, bind="spread"), 2, [0, 0, 1, 1, 3, 3, 4, 4]),
    ],
)
def test_ranks_use_the_gpus_of_their_socket(layout: Layout, shared: int, gpus: list[int]) -> None:
    assert gpus_of_ranks(SUMMIT.node, layout.nodes_of_ranks, layout, shared) == gpus


def test_ranks_without_a_gpu_are_reported() -> None:
    assert gpus_lacking(6, Layout(ppn=6), 1, "summit") is None
    assert gpus_lacking(6, Layout(ppn=12), 2, "summit") is None
    too_many = str(gpus_lacking(6, Layout(ppn=7), 1, "summit"))
    assert "7 ranks" in too_many and "6 GPUs" in too_many and too_many.endswith("gpus_shared = 2")
    assert "gpus_shared = 3" in str(gpus_lacking(6, Layout(ppn=13), 2, "x"))
    assert "node.gpu" in str(gpus_lacking(0, Layout(), 1, "tara"))
    with pytest.raises(ValueError, match="7 ranks"):
        gpus_of_ranks(SUMMIT.node, [0] * 7, Layout(ppn=7))


def test_messages_from_gpus_have_separate_protocols() -> None:
    """And all others, staged ones too, those of the host's memory."""
    layout = Layout(ppn=2)
    host = simgrid_files.files(SUMMIT, case(layout, memory="host"))
    staged = simgrid_files.files(SUMMIT, case(layout, memory="device", mpi="staged"))
    aware = simgrid_files.files(SUMMIT, case(layout, memory="device"))

    assert (staged["platform"], staged["hosts"]) == (host["platform"], host["hosts"])
    device = "device 729000000000.0 47200000000.0 1.2e-05 0.0 4e-06 5.5e-06 5e-07 1e-06 1\n"
    assert staged["machine"] == aware["machine"] == host["machine"] + device
    assert aware["hosts"] == "node-0-gpu-0-0\nnode-0-gpu-1-0\n"
    assert "\ngpus 6 2 64000000000.0 1\n" in aware["platform"]
    assert "\nreceives 1.6e-05 1.6e-05 1.6e-05 8.5e-07\n" in aware["platform"]
    assert "\ngpu_seats 0 0 2\n" in aware["platform"]
    names = {line.split()[0] for line in aware["platform"].splitlines()}
    assert names >= {"same_gpu", "same_socket", "other_socket", "gpu_between"}
    assert aware["platform"].startswith(host["platform"])  # messages of the host's memory
    assert "gpu" not in host["platform"]


def test_ranks_that_share_a_gpu_have_separate_slots() -> None:
    shared = case(Layout(ppn=3), memory="device", gpus_shared=2)
    files = simgrid_files.files(SUMMIT, shared)

    assert files["hosts"] == "node-0-gpu-0-0\nnode-0-gpu-0-1\nnode-0-gpu-1-0\n"
    assert "\ngpus 6 2 64000000000.0 2\n" in files["platform"]


def test_smpi_treats_all_gpu_messages_as_eager() -> None:
    limits = {
        memory: [
            option
            for option in simgrid_files.settings(SUMMIT, case(Layout(ppn=2), memory=memory))
            if "detached" in option
        ]
        for memory in ("host", "device")
    }

    assert limits["host"] == ["--cfg=smpi/send-is-detached-thresh:65536"]
    assert limits["device"] == ["--cfg=smpi/send-is-detached-thresh:2147483647"]


def test_ranks_that_share_a_gpu_get_a_fraction_of_it() -> None:
    shared = case(Layout(ppn=3), memory="device", gpus_shared=2)
    machine = simgrid_files.files(SUMMIT, shared)["machine"]

    assert machine.endswith(" 2\n")


def test_receive_overhead_is_not_part_of_the_latency() -> None:
    assert SUMMIT.node.gpu
    (near,) = (one for one in SUMMIT.node.gpu.messages if one.placement == "same-socket")

    first, second = rows(near)

    assert first[0] == 0
    assert first[1] == pytest.approx(1.8e-6)
    assert second[::2] == (49152 - 1 + 16, 46.9e9)
    assert second[1] == pytest.approx(1.2e-6)


def test_a_file_without_gpus_keeps_its_hash() -> None:
    assert state(cluster_file.find("maya-2013")) == "141aab8a26cd"


def changed(tmp_path: Path, old: str, new: str) -> Cluster:
    path = tmp_path / "odd.toml"
    text = cluster_file.ready()["summit"].read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return cluster_file.load(path)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("number = 6", "number = 5", "node.gpu.number: 5 GPUs cannot be divided among 2 sockets"),
        ('"same-gpu"', '"same-socket"', "node.gpu.messages: 'same-gpu' is missing"),
        ('"same-gpu"', '"same-socket"', "node.gpu.messages: 'same-socket' is given 2 times"),
        (
            "value = 16e-6",
            "value = 21e-6",
            "2.1e-05 s exceeds the total latency",
        ),
        ("first_bytes = 49152", "first_bytes = 49000", "the previous piece, which ends at 49151"),
    ],
)
def test_impossible_gpu_settings_are_refused(tmp_path: Path, old: str, new: str, what: str) -> None:
    with pytest.raises(UserError, match=re.escape(what)):
        changed(tmp_path, old, new)
