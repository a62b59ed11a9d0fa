# SPDX-License-Identifier: BSD-3-Clause
"""Simulated devices take exactly what follows by hand from what their cluster file says.

The time of a step is the difference between more and fewer steps, without start and end of a case.
"""

from __future__ import annotations

import json
import os
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from kernel_programs import SMPI, program, program_of
from noted import shows
from recorded import cases
from recorded_devices import parted_forest
from test_simulated import GOLDEN, smpirun

from haloscope.clusters import file as cluster_file
from haloscope.clusters.schema import Cluster
from haloscope.clusters.simgrid import files as simgrid_files
from haloscope.host import process
from haloscope.layout import Layout
from haloscope.models.split_phase import both, done
from haloscope.papers import tables as papers
from haloscope.predict import gpu_tables
from haloscope.study.case import Case, Value
from haloscope.toolchains import build
from haloscope.topics.star_forests.parts import FIGURE_15, split_phase_model

LAUNCH, LATENCY, STREAM, DEVICE, QUERY, OPERATION = 10e-6, 1e-6, 4e-6, 6e-6, 0.5e-6, 1e-6
MEMORY, COPY = 1e11, 1e10
SF_PINGPONG = program("sf_pingpong", SMPI, device=True)
ASKED = OPERATION + 2 * QUERY
"""What an operation takes before it launches or waits."""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    numbers = (MEMORY, COPY, LAUNCH, LATENCY, STREAM, DEVICE, QUERY, OPERATION, 1)
    path = tmp_path / "machine.txt"
    device = f"device {' '.join(map(repr, numbers))}\n"
    path.write_text(without_a_device() + device, encoding="utf-8")
    return path


def without_a_device() -> str:
    """The node of the golden times, as it would be with processors alone."""
    lines = (GOLDEN / "machine.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("device"))


def seconds(machine: Path, command: str, steps: int, execute: str) -> float:
    """Of so many steps of a case on two nodes with two ranks each, the first two on one."""
    out = machine.with_name("record.json")
    where = ["--out", str(out), "--machine", str(machine), "--execute", execute]
    words = [*command.split(), "repetitions=1", f"steps={steps}"]
    smpirun(program_of(words, SMPI), [*where, *words])
    record: dict[str, Any] = json.loads(out.read_text())
    assert record["outcome"] == "ok"
    taken: float = steps * record["times_s"][0]
    return taken


def step_s(machine: Path, command: str, execute: str = "yes") -> float:
    more, fewer = (seconds(machine, command, steps, execute) for steps in (20, 10))
    return (more - fewer) / 10


@pytest.mark.parametrize("execute", ["yes", "no"])
@pytest.mark.parametrize(
    ("sync", "each_way"),
    [
        ("typed", OPERATION),
        ("stream_aware", ASKED),
        ("default_stream", ASKED + STREAM),
        ("general", ASKED + DEVICE),
    ],
)
def test_an_operation_takes_the_time_of_calls_queries_and_synchronisations(
    smpi: None, machine: Path, sync: str, each_way: float, execute: str
) -> None:
    host = step_s(machine, "sf_pingpong sizes=8 memory=host")

    found = step_s(machine, f"sf_pingpong sizes=8 memory=device sync={sync}", execute)

    assert found == pytest.approx(host + 2 * each_way, rel=1e-6)


def test_a_synchronisation_waits_for_the_kernel_before_it(smpi: None, machine: Path) -> None:
    """A short kernel ends while the next operation asks; a long one is waited for."""
    short, long = 8, 2**20
    for size, ends_s in ((short, ASKED), (long, LATENCY + 3 * long / MEMORY)):
        messages = step_s(machine, f"pingpong sizes={size} memory=host")
        each_way = LAUNCH + ends_s + STREAM

        found = step_s(machine, f"sf_unpack sizes={size} memory=device")

        assert found == pytest.approx(messages + 2 * each_way, rel=1e-6)


def test_staged_messages_are_copied_on_both_ends(smpi: None, machine: Path) -> None:
    size = 2**20
    messages = step_s(machine, f"pingpong sizes={size} memory=host")
    copy = LAUNCH + LATENCY + size / COPY + STREAM

    found = step_s(machine, f"pingpong sizes={size} memory=device mpi=staged")

    assert found == pytest.approx(messages + 4 * copy, rel=1e-6)


@pytest.mark.parametrize("execute", ["yes", "no"])
def test_launches_overlap_unless_the_first_is_waited_for(
    smpi: None, machine: Path, execute: str
) -> None:
    """Five in a row, and five with a wait after the first, which moves eight times as much."""
    size = 4096
    row = 5 * LAUNCH + LATENCY + size / MEMORY + STREAM
    first = LAUNCH + LATENCY + 8 * size / MEMORY + STREAM
    others = 4 * LAUNCH + LATENCY + size / MEMORY + STREAM

    found = step_s(machine, f"launches size={size} first=8", execute)

    assert found == pytest.approx(row + first + others, rel=1e-6)


def test_a_lagging_device_is_not_simulated(smpi: None, machine: Path) -> None:
    asked = [str(build.asked(SF_PINGPONG)), "--plan", "sf_pingpong", "memory=device"]
    plan = process.run([*asked, "device_lag=until_waited"], dict(os.environ), timeout_s=600)

    assert "an emulated device" in plan.output


def test_nccl_is_not_simulated(smpi: None) -> None:
    asked = [str(build.asked(SF_PINGPONG)), "--plan", "sf_pingpong", "memory=device"]
    plan = process.run([*asked, "mpi=nccl", "ranks=2"], dict(os.environ), timeout_s=600)

    assert shows(plan.output, "mpi=nccl: ", "simulated")


def test_a_machine_without_a_device_is_refused(smpi: None, machine: Path) -> None:
    machine.write_text(without_a_device(), encoding="utf-8")
    command = ["smpirun", "-np", "2", "-platform", str(SMPI / "platform.so")]
    command += ["-hostfile", str(GOLDEN / "hosts"), str(SF_PINGPONG)]
    command += ["--machine", str(machine), "sf_pingpong", "memory=device"]
    variables = {**os.environ, "HALOBENCH_PLATFORM": str(GOLDEN / "platform")}

    ended = process.run(command, variables, timeout_s=600)

    assert ended.code != 0
    assert "has no device" in ended.output


def on_summit(folder: Path, layout: Layout, kernel: str, **given: Value) -> dict[str, Any]:
    """The record of a case in the memory of Summit's GPUs."""
    return on(cluster_file.find("summit"), folder, layout, kernel, **given)


def on(
    cluster: Cluster, folder: Path, layout: Layout, kernel: str, **given: Value
) -> dict[str, Any]:
    given = {"memory": "device", "repetitions": 1, **given}
    params = {"mpi": "gpu_aware", **given}
    case = Case(kernel, given, params, layout, "simgrid", 0, 1, 60, 0)
    for name, content in simgrid_files.files(cluster, case).items():
        (folder / name).write_text(content, encoding="utf-8")
    smpirun_path = shutil.which("smpirun")
    assert smpirun_path
    out = folder / "record.json"
    command = simgrid_files.command(
        cluster, case, program(kernel, SMPI, device=True), Path(smpirun_path), folder
    )
    ended = process.run(
        [*command, "--out", str(out), kernel, *case.arguments], dict(os.environ), timeout_s=600
    )
    assert ended.code == 0, ended.output
    record: dict[str, Any] = json.loads(out.read_text())
    return record


@pytest.mark.parametrize(
    ("layout", "shared", "microseconds"),
    [
        (Layout(ppn=2), 2, 20.1),
        (Layout(ppn=2), 1, 17.8),
        (Layout(ppn=2, bind="spread"), 1, 19.4),
        (Layout(nodes=2), 1, 6.0),
    ],
)
def test_message_times_between_gpus_depend_on_placement(
    smpi: None, tmp_path: Path, layout: Layout, shared: int, microseconds: float
) -> None:
    record = on_summit(tmp_path, layout, "pingpong", sizes=8, gpus_shared=shared)

    assert record["device"] == "simulated"
    assert record["result"]["latency_s"] == pytest.approx(microseconds * 1e-6, rel=2e-3)


def test_parts_on_a_device_separate_launches_waits_and_messages(smpi: None, tmp_path: Path) -> None:
    """The paper's formula by hand (2 + 12 + 4 + 12 + 12 us), and four receives that it hides."""
    given: dict[str, Value] = {"n": "4,8,16,128,512", "topology": "3x3", "parts": "yes"}
    record = on_summit(tmp_path, Layout(nodes=9), "sf_grid", **given)

    parts = {one["name"]: one["times_s"][0] for one in record["parts"] if one["point"] == 0}
    assert parts.pop("messages") == pytest.approx(2 * (6 + 3 * 0.85) * 1e-6, rel=0.02)
    assert parts.pop("begin") == pytest.approx(2e-6, rel=1e-6)
    assert parts.pop("wait") == pytest.approx(4e-6, rel=1e-6)
    assert len(parts) == 2 * 3 * 2
    for name, time_s in parts.items():
        expected = 12e-6 if name.endswith("launch") else 16e-6
        assert time_s == pytest.approx(expected, rel=2e-3)
    found = {"points": record["points"], "parts": record["parts"]}
    (case,) = cases([{**parted_forest(), **found}])
    model = split_phase_model(case)
    assert model is not None
    assert model.composed_s(overlap=True)[0] == pytest.approx(2 * 42e-6, rel=2e-3)
    assert model.whole_s[0] == pytest.approx(2 * (42 + 4 * 0.85) * 1e-6, rel=2e-3)
    assert [model.longest(point) for point in range(5)] == ["launches"] * 5  # 6 of 12 us each
    scatter, messages = (done(model.parts_s, "scatter"), both(model.parts_s, "messages"))
    assert all(scatter < messages)  # figure 10 of the report: MPI is longer than the Scatter kernel


def test_on_nine_nodes_messages_take_longer_than_the_scatter_kernel(
    smpi: None, tmp_path: Path
) -> None:
    """The paper's figure 10, n = 128: MPI goes on when the scatter has been launched."""
    given: dict[str, Value] = {"n": 128, "topology": "3x3", "timeline": 40}
    record = on_summit(tmp_path, Layout(nodes=9), "sf_grid", **given)

    for calls in record["timeline"][0]["ranks"]:
        host = [call for call in calls if len(call) == 4]
        kernel = next(call for call in calls if len(call) == 5 and call[0] == "scatter")
        waits = [call for call in host if call[0] == "wait"][:4]
        sent = next(call for call in host if call[0] == "send")
        assert all(end > begin for _, _, begin, end in waits)
        assert waits[-1][3] - sent[2] > 10 * (kernel[3] - kernel[2])


def test_a_rank_receives_from_gpus_of_its_node_sequentially(smpi: None, tmp_path: Path) -> None:
    """Two messages arrive while the host launches what stays on the rank (12 us)."""
    record = on_summit(tmp_path, Layout(ppn=3), "sf_grid", n=4, topology="3x1")

    each_way = 2 + 12 + 4 + 12 + 2 * 16 + 12
    assert record["result"]["latency_s"] == pytest.approx(each_way * 1e-6, rel=2e-3)


def test_gpus_of_two_sockets_share_the_link_between_them(smpi: None, tmp_path: Path) -> None:
    pairs = "0-3,1-4,2-5"

    record = on_summit(tmp_path, Layout(ppn=6), "pingpong", mode="stream", sizes=2**20, pairs=pairs)

    assert record["result"]["bandwidth_bytes_per_s"] < 64e9


def test_ranks_that_share_a_gpu_share_its_memory(smpi: None, tmp_path: Path) -> None:
    size = 2**22

    def beyond_messages_s(ranks: int) -> float:
        unpack, messages = (
            on_summit(tmp_path, Layout(ppn=2), kernel, sizes=size, gpus_shared=ranks)["result"][
                "latency_s"
            ]
            for kernel in ("sf_unpack", "sf_newpingpong")
        )
        return float(unpack - messages)

    more = beyond_messages_s(2) - beyond_messages_s(1)
    assert more == pytest.approx(3 * size / 729e9, rel=0.02)


def test_host_memory_messages_keep_their_own_times_on_gpu_nodes(smpi: None, tmp_path: Path) -> None:
    """A barrier's are as in a case on the host; a broadcast's lie on the device."""
    for layout, microseconds in ((Layout(ppn=2), 17.8), (Layout(nodes=2), 6.0)):
        barriers = [
            on_summit(tmp_path, layout, "collectives", operation="barrier", memory=memory)
            for memory in ("host", "device")
        ]
        once: dict[str, Value] = {
            "operation": "bcast",
            "sizes": 8,
            "steps": 1,
        }  # of several, the root sends ahead
        data = on_summit(tmp_path, layout, "collectives", **once)

        host_s, device_s = (one["result"]["barrier_s"] for one in barriers)
        assert device_s == pytest.approx(host_s, rel=1e-6)
        assert 0 < device_s < 3e-6
        assert data["result"]["bcast_s"] == pytest.approx(microseconds * 1e-6, rel=2e-3)


def test_a_solver_on_gpus_sends_halos_from_them_and_sums_from_the_host(
    smpi: None, tmp_path: Path
) -> None:
    """An iteration: three updates, a product, two sums of a kernel and a copy; a halo."""
    given: dict[str, Value] = {"n": 20, "variant": "textbook", "exchange": "nonblocking"}

    def iteration_s(**more: Value) -> float:
        few, many = (
            on_summit(tmp_path, Layout(ppn=2), "poisson_cg", **given, **more, iterations=count)
            for count in (10, 20)
        )
        return float(many["times_s"][0] - few["times_s"][0]) / 10

    launches, waits = 3 + 1 + 2 * 2, 1 + 2
    sums: dict[str, Value] = {"operation": "allreduce", "sizes": 8, "memory": "host"}
    reduced = on_summit(tmp_path, Layout(ppn=2), "collectives", **sums)["result"]["allreduce_s"]
    work = 12e-6 * launches + 4e-6 * waits + 1e-6 + 2 * 0.5e-6

    # two sums, whose ranks enter and leave apart: each hides at most half of its own
    assert reduced < iteration_s() - (work + 17.8e-6) < 2 * reduced
    copies = 2 * 12e-6  # out and in, before waits that are there anyway
    assert reduced < iteration_s(mpi="staged") - (work + copies) < 2 * reduced + 1e-6


def test_the_example_of_figure_15_is_reproduced(smpi: None, tmp_path: Path) -> None:
    figure = papers.load("anl-petsc-summit-part2").table("fig15")
    assumed = gpu_tables.as_assumed(figure, cluster_file.find("summit"))

    result = on(assumed, tmp_path, Layout(), "launches", **FIGURE_15)["result"]

    for way, published in (("pipelined", 70e-6), ("synchronised", 95e-6)):
        assert result[f"{way}_s"] == pytest.approx(published, rel=0.01)


def test_a_timeline_contains_the_streams_of_a_gpu(smpi: None, tmp_path: Path) -> None:
    """Kernels begin as they are launched, 12 us after each other, and take their bytes' time."""
    record = on_summit(tmp_path, Layout(), "launches", size=16384, first=1, timeline=20)

    (calls,) = record["timeline"][0]["ranks"]
    works = [call for call in calls if len(call) == 5]
    assert [name for name, *_ in works] == [f"kernel {i}" for i in range(1, 6)]
    begins = [begin for _, _, begin, _, _ in works]
    assert [later - begin for begin, later in pairwise(begins)] == (
        pytest.approx([12e-6] * 4, rel=1e-6)
    )
    assert [end - begin for _, _, begin, end, _ in works] == (
        pytest.approx([16384 / 729e9] * 5, rel=1e-6)
    )
    launched = {name: end for name, _, _, end in (call for call in calls if len(call) == 4)}
    assert begins == pytest.approx([launched[name] for name, *_ in works], rel=1e-6)
