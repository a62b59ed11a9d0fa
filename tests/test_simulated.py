# SPDX-License-Identifier: BSD-3-Clause
"""Every kernel on four simulated ranks takes exactly the simulated time that it took before.

golden/times.json maps command lines to times. To add a case, or to accept new times after a change
that is meant to change them, write the command line there with null and run

    .venv/bin/python tests/test_simulated.py

which simulates every case anew and rewrites the file: `git diff` shows what has changed.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

sys.path.extend(map(str, Path(__file__).parent.glob("support/*")))  # as pytest does, without it

from cluster_files import emptied, untapered
from kernel_programs import ROOT, SMPI, program, program_of
from simulated_build import build_it

from haloscope.clusters import file as cluster_file
from haloscope.clusters.node import Socket, SocketLink, SocketMemory
from haloscope.clusters.quantity import Quantity
from haloscope.clusters.schema import Cluster
from haloscope.clusters.simgrid import files as simgrid_files
from haloscope.host import process
from haloscope.layout import Layout
from haloscope.run.prepare import halobench
from haloscope.study.case import Case, Value
from haloscope.toolchains import build
from haloscope.toolchains.simgrid import counted
from haloscope.toolchains.simgrid import smpi as smpi_programs
from haloscope.topics import phases as sections

GOLDEN = ROOT / "tests" / "golden"
TIMES = GOLDEN / "times.json"

Times = dict[str, list[Any]]


def smpirun(
    binary: Path,
    arguments: list[str],
    ranks: int = 4,
    options: Sequence[str] = (),
    platform: str = "platform",
    hosts: str = "hosts",
) -> process.Ended:
    """A program on two nodes with two cores each, or on another platform; it must succeed."""
    command = [
        *("smpirun", "-np", str(ranks), "-platform", str(SMPI / "platform.so")),
        *("-hostfile", str(GOLDEN / hosts), "--cfg=smpi/simulate-computation:no", *options),
        *(str(binary), *arguments),
    ]
    environment = {**os.environ, "HALOBENCH_PLATFORM": str(GOLDEN / platform)}
    ended = process.run(command, environment, timeout_s=600)  # leaves no smpimain behind
    assert ended.code == 0 and not ended.timed_out, ended.output
    return ended


def simulate(command: str, execute: str, settings: Sequence[str] = ()) -> dict[str, Any]:
    """The record of one case on two nodes with two ranks each."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "record.json"
        where = ["--out", str(out), "--machine", str(GOLDEN / "machine.txt")]
        words = command.split()
        arguments = [*where, "--execute", execute, *words]
        smpirun(program_of(words, SMPI), arguments, options=settings)
        record: dict[str, Any] = json.loads(out.read_text())
    return record


def times(record: dict[str, Any]) -> Times:
    return {
        "times_s": record["times_s"],
        "points_s": [point["times_s"] for point in record["points"]],
    }


def golden() -> dict[str, Times]:
    cases: dict[str, Times] = json.loads(TIMES.read_text())
    return cases


def test_an_unbound_rank_resumes_later_after_each_communication(smpi: None, tmp_path: Path) -> None:
    resume_s = 1e-3
    machine = (GOLDEN / "machine.txt").read_text(encoding="utf-8")

    def record(more: str) -> dict[str, Any]:
        (tmp_path / "machine").write_text(machine + more, encoding="utf-8")
        out = tmp_path / "record.json"
        where = ["--out", str(out), "--machine", str(tmp_path / "machine"), "--execute", "no"]
        words = ["poisson_cg", "n=64", "variant=textbook", "iterations=10"]
        smpirun(program_of(words, SMPI), [*where, *words])
        found: dict[str, Any] = json.loads(out.read_text())
        return found

    bound, unbound = record(""), record(f"resume {resume_s}\n")
    calls = sum(phase["calls"] for phase in bound["phases"] if phase["model_s"] is None)
    later_s = unbound["times_s"][0] - bound["times_s"][0]
    assert calls >= 40  # a halo, begun and finished, and two sums
    assert later_s == pytest.approx(calls * resume_s, rel=0.02)


@pytest.mark.parametrize("execute", ["yes", "no"])
@pytest.mark.parametrize("command", golden())
def test_simulated_times_match_the_golden_values(smpi: None, command: str, execute: str) -> None:
    record = simulate(command, execute)
    assert record["clock"] == "simulated"
    assert record["outcome"] == "ok"
    found, expected = times(record), golden()[command]
    assert found["times_s"] == pytest.approx(expected["times_s"], rel=1e-9)
    assert len(found["points_s"]) == len(expected["points_s"])
    for found_point, wanted_point in zip(found["points_s"], expected["points_s"], strict=True):
        assert found_point == pytest.approx(wanted_point, rel=1e-9)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_star_forests_give_the_same_results_simulated_and_real(
    smpi: None, tmp_path: Path, ranks: int
) -> None:
    smpirun(SMPI / "tests" / "test_star_forest", [], ranks)


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_simulated_ranks_synchronise_without_messages(smpi: None, ranks: int) -> None:
    smpirun(SMPI / "tests" / "test_meeting", [], ranks)


@pytest.mark.parametrize("selector", ["ompi", "mpich", "impi"])
def test_a_kernel_without_phases_runs_with_each_library_s_collectives(
    smpi: None, selector: str
) -> None:
    arguments = ["--machine", str(GOLDEN / "machine.txt"), "--execute", "no"]
    arguments += ["pingpong", "sizes=1", "repetitions=1"]
    smpirun(
        program("pingpong", SMPI),
        arguments,
        ranks=2,
        options=[f"--cfg=smpi/coll-selector:{selector}"],
    )


def test_a_ring_of_one_rank_gets_its_messages_back(smpi: None) -> None:
    arguments = ["--machine", str(GOLDEN / "machine.txt"), "ring", "repetitions=1"]
    smpirun(program("ring", SMPI), arguments, ranks=1)


def test_collectives_of_one_rank_complete(smpi: None) -> None:
    """SMPI's reduction, as Open MPI does it, has a rank alone send to nobody."""
    arguments = ["--machine", str(GOLDEN / "machine.txt"), "collectives", "sizes=8"]
    selector = ["--cfg=smpi/coll-selector:ompi"]
    smpirun(program("collectives", SMPI), arguments, ranks=1, options=selector)


def test_a_barrier_that_does_not_synchronise_is_absent_with_a_reason(smpi: None) -> None:
    record = simulate("collectives call=nonblocking sizes=8 repetitions=1", "yes")

    assert record["outcome"] == "ok"
    assert "MPI_Ibarrier does not synchronise" in record["result"]["absent"]
    operations = [point["operation"] for point in record["points"]]
    assert "barrier" not in operations and "bcast" in operations
    with pytest.raises(AssertionError, match="another operation, or call=blocking"):
        simulate("collectives call=nonblocking operation=barrier", "yes")
    blocking = simulate("collectives sizes=8 repetitions=1", "yes")
    assert blocking["points"][0]["operation"] == "barrier" and "absent" not in blocking["result"]


@pytest.mark.parametrize("kernel", ["jacobi3d", "poisson_cg"])
def test_a_neighbourhood_collective_is_absent_with_its_reason(smpi: None, kernel: str) -> None:
    planner = halobench.Planner(build.asked(program(kernel, SMPI)))
    asked = planner.forecast(kernel, {"exchange": "neighbor"}, ranks=4)
    other = planner.forecast(kernel, {"exchange": "nonblocking"}, ranks=4)

    assert not asked.problems and other.absent is None
    assert asked.absent is not None and "has no neighbourhood collectives" in asked.absent
    with pytest.raises(AssertionError, match="give exchange=nonblocking"):
        simulate(f"{kernel} exchange=neighbor", "yes")


@pytest.mark.parametrize("command", ["pingpong sizes=8", "sf_grid n=4", "spmv n=10"])
def test_one_step_of_many_takes_as_long_as_each_of_many(smpi: None, command: str) -> None:
    """They start together, however they left the barrier."""
    once, often = (simulate(f"{command} repetitions=1 steps={n}", "yes") for n in (1, 50))
    assert once["times_s"][0] == pytest.approx(often["times_s"][0], rel=0.02)


def test_one_simulated_step_represents_identical_steps(smpi: None) -> None:
    """One step and one transform stand for all: as many messages, and nearly the same time."""
    command = "md_pppm copies=2x3x1 rebuild=7 repetitions=1"
    each, once = (simulate(f"{command} alike={word}", "yes") for word in ("each", "once"))

    assert once["times_s"][0] == pytest.approx(each["times_s"][0], rel=0.01)
    assert each["work"]["messages"] > 0
    assert once["work"] == pytest.approx(each["work"])
    assert once["result"] == each["result"]
    with pytest.raises(AssertionError, match="multiple of rebuild=7 steps"):
        simulate(f"{command} alike=once steps=3", "yes")


def test_a_simulated_solve_runs_only_the_iterations_that_differ(smpi: None) -> None:
    """The second and the third take as long as each other, and as all that follow would."""
    clock = ["--cfg=smpi/wtime:0"]  # asking it takes no time

    def solve(iterations: int) -> dict[str, Any]:
        return simulate(f"fe_heat size=12x10x8 iterations={iterations}", "no", clock)

    less, most = (solve(whole)["times_s"][0] for whole in (31, 32))
    record = solve(200)
    assert record["result"]["iterations"] == 200
    assert record["result"]["iterations_passed_over"] == 197
    assert record["times_s"][0] == pytest.approx(most + 168 * (most - less), rel=1e-9)
    assert {phase["name"]: phase["calls"] for phase in record["phases"]} == {
        "generate": 1, "assemble": 1, "halo": 400, "matvec": 400, "dot": 401, "update": 400,
    }  # fmt: skip


def points_s(cluster: str, layout: Layout, kernel: str, **params: Value) -> list[float]:
    """The times by size of a case on a cluster without other jobs, as the laboratory does."""
    return points_on(empty(cluster), layout, kernel, **params)


def empty(cluster: str) -> Cluster:
    """A ready cluster without other jobs."""
    return emptied(cluster_file.load(ROOT / "clusters" / f"{cluster}.toml"))


def points_on(
    described: Cluster, layout: Layout, kernel: str, more: str = "", /, **params: Value
) -> list[float]:
    """The same on a cluster that need have no file. more: lines for its platform."""
    given = {**params, "repetitions": 1}
    case = Case(kernel, given, {}, layout, "simgrid", 0, 1, 60.0, 0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in simgrid_files.files(described, case).items():
            (folder / file).write_text(content + (more if file == "platform" else ""))
        words = [f"{key}={value}" for key, value in given.items()]
        own = program_of([kernel, *words], SMPI)
        command = simgrid_files.command(described, case, own, smpi_programs().mpirun, folder)
        out = folder / "record.json"
        command += ["--out", str(out), kernel, *words]
        ended = process.run(command, os.environ, timeout_s=600)
        assert ended.code == 0 and not ended.timed_out, ended.output
        record = json.loads(out.read_text())
    return [point["times_s"][0] for point in record["points"]]


def test_rendezvous_starts_at_its_first_byte(smpi: None) -> None:
    """At 12 KiB, three latencies in place of one, as a file without protocols has it."""
    sizes = "12264,12287,12288"
    least, less, first = points_s("cab", Layout(2, 1, bind="spread"), "pingpong", sizes=sizes)
    assert less - least < 1e-7  # 23 bytes more
    assert first - less > 1e-6


def test_a_message_within_a_node_takes_the_time_in_the_cluster_file(smpi: None) -> None:
    """eagle: 0.7 us and 5 GB/s, thrice the latency from 128 KiB on, and SMPI's 16 bytes more."""
    sizes = (8, 65536, 2**20)
    found = points_s("eagle", Layout(1, 2), "pingpong", sizes=",".join(map(str, sizes)))
    latencies = (0.7e-6, 0.7e-6, 2.1e-6)
    one_way = [slow + (size + 16) / 5e9 for size, slow in zip(sizes, latencies, strict=True)]
    assert found == pytest.approx([2 * seconds for seconds in one_way], rel=1e-5)


def test_messages_within_a_node_share_the_memory_bandwidth(smpi: None) -> None:
    """Eagle's gives 16 cores 97.7 GB/s, of which each byte sent moves 6; one pair has 5 GB/s."""
    size = 2**22
    (found,) = points_s("eagle", Layout(1, 16), "collectives", operation="alltoall", sizes=size)
    together = 16 * 15 * size / found
    assert together == pytest.approx((96e9 + (109e9 - 96e9) * 2 / 14) / 6, rel=0.01)


def test_computation_and_messages_share_the_memory_bandwidth(smpi: None) -> None:
    """In eight ranks and eight, in all sixteen at once, and from when a message starts."""
    test = SMPI / "tests" / "test_shared_memory"
    where = {"platform": "crowded_platform", "hosts": "crowded_hosts"}
    limits = ("smpi/send-is-detached-thresh", "smpi/async-small-thresh")
    options = ["network/crosstraffic:no", *(f"{limit}:1000000" for limit in limits)]
    smpirun(test, [], ranks=16, options=[f"--cfg={one}" for one in options], **where)


def test_sockets_have_separate_memories_and_a_link_between_them(smpi: None) -> None:
    """What messages and computation take within sockets, across, and of both at once."""
    test = SMPI / "tests" / "test_sockets"
    where = {"platform": "socket_platform", "hosts": "socket_hosts"}
    alone = ["--cfg=network/crosstraffic:no", "--cfg=smpi/wtime:0"]
    smpirun(test, [], ranks=16, options=alone, **where)


def eagle_with_sockets() -> Cluster:
    """Each socket's memory has half of the node's; 0.3 us and 40 GB/s are between them."""
    eagle = empty("eagle")
    quantities = {"bandwidth_bytes_per_s": Quantity(value=40e9, source="a test")}
    link = SocketLink(**quantities, latency_s=Quantity(value=3e-7, source="a test"))
    memory = tuple(
        SocketMemory(cores=cores, bandwidth_bytes_per_s=Quantity(value=most, source="a test"))
        for cores, most in ((1, 14e9), (7, 48e9), (14, 54.5e9))
    )
    node = eagle.node.model_copy(update={"socket": Socket(memory=memory, link=link)})
    return eagle.model_copy(update={"node": node})


def test_binding_decides_whether_a_message_crosses_sockets(smpi: None) -> None:
    """Without memories of their own sockets are alike; a message by itself has its 5 GB/s."""
    size = 2**20
    close, spread = (
        points_on(eagle_with_sockets(), Layout(1, 2, bind=bind), "pingpong", sizes=f"8,{size}")
        for bind in ("close", "spread")
    )
    before = points_s("eagle", Layout(1, 2, bind="spread"), "pingpong", sizes=f"8,{size}")
    assert close == pytest.approx(before, rel=1e-9)
    further = [there - here for there, here in zip(spread, close, strict=True)]
    assert further == pytest.approx([2 * 3e-7, 2 * 3 * 3e-7], rel=1e-3)  # thrice by rendezvous


def test_ranks_of_one_socket_share_its_resources(smpi: None) -> None:
    """Eight of them have 48 GB/s and 6.5/7 GB/s more, whatever the other socket's could give."""
    size = 2**22
    given: dict[str, Value] = {"operation": "alltoall", "sizes": size}
    (found,) = points_on(eagle_with_sockets(), Layout(1, 8), "collectives", **given)
    assert 8 * 7 * size / found == pytest.approx((48e9 + 6.5e9 / 7) / 6, rel=0.01)
    (node,) = points_s("eagle", Layout(1, 8), "collectives", **given)
    assert 8 * 7 * size / node == pytest.approx((65e9 + 31e9 * 3 / 9) / 6, rel=0.01)


def test_every_phase_of_md_pppm_belongs_to_one_lammps_section(smpi: None) -> None:
    """But `check`, which LAMMPS times in none: else a report's sections would lack something."""
    record = simulate("md_pppm rebuild=2 steps=2 repetitions=1", "no")
    parts = [name for names in sections.PHASES["md_pppm"].values() for name in names]
    assert sorted([*parts, "check"]) == sorted(phase["name"] for phase in record["phases"])


def test_nodes_with_several_sockets_communicate_as_before(smpi: None) -> None:
    """By the card, from whichever socket; the node is one node in a record."""
    given: dict[str, Value] = {"operation": "alltoall", "sizes": 2**20}
    for layout in (Layout(2, 1, bind="spread"), Layout(2, 16, bind="spread")):
        (divided,) = points_on(eagle_with_sockets(), layout, "collectives", **given)
        (whole,) = points_s("eagle", layout, "collectives", **given)
        assert divided == pytest.approx(whole, rel=0.02)


def test_a_rank_copies_its_messages_sequentially(smpi: None) -> None:
    """Of 64 KiB, which caches hold: 15 in and 15 out, in each of which its core has half a part."""
    size = 2**16
    (found,) = points_s("eagle", Layout(1, 16), "collectives", operation="alltoall", sizes=size)
    assert found == pytest.approx(15 * (size + 16) / 5e9, rel=0.02)


def test_messages_between_nodes_share_the_network_card(smpi: None) -> None:
    """Each of 16 ranks sends to 16 on another node; those within a node take less long."""
    size = 2**20
    (found,) = points_s("eagle", Layout(2, 16), "collectives", operation="alltoall", sizes=size)
    assert found == pytest.approx(16 * 16 * size / 6.8e9, rel=0.02)


@pytest.mark.parametrize(("level", "far", "near"), [(1, 28, 27), (2, 168, 167)])
def test_other_jobs_reduce_the_bandwidth_of_a_network_level(
    smpi: None, level: int, far: int, near: int
) -> None:
    """Eagle has 28 nodes to a switch and 168 to a pod: only who is farther takes these links."""
    eagle = empty("eagle")
    assert eagle.network is not None
    levels = list(eagle.network.levels)
    left = Quantity(value=0.25, source="a test")
    levels[level] = levels[level].model_copy(update={"left": left})
    network = eagle.network.model_copy(update={"levels": tuple(levels)})
    busy = eagle.model_copy(update={"network": network})

    def slower(other: int) -> float:
        """How much a message from the first node to another is."""
        layout, pairs = Layout(other + 1, 1), f"0-{other}"
        both = (
            points_on(one, layout, "pingpong", sizes=2**26, pairs=pairs) for one in (busy, eagle)
        )
        (then,), (before,) = both
        return then / before

    assert slower(far) == pytest.approx(4, rel=0.01)
    assert slower(near) == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize(
    ("left", "slow", "fast"), [("left 1 7 0.25", 200, 170), ("left 2 1 0.25", 170, 340)]
)
def test_other_jobs_use_the_links_of_one_subtree(
    smpi: None, left: str, slow: int, fast: int
) -> None:
    """Of eagle nodes 196 to 223 are below the eighth switch, and 168 to 335 in the second pod."""

    def one_way_s(other: int, more: str) -> float:
        where = (empty("eagle"), Layout(341, 1), "pingpong", more)
        (found,) = points_on(*where, sizes=2**26, pairs=f"0-{other}")
        return found

    assert one_way_s(slow, left) == pytest.approx(4 * one_way_s(slow, ""), rel=0.01)
    assert one_way_s(fast, left) == pytest.approx(one_way_s(fast, ""), rel=1e-9)


def test_a_tapered_tree_is_slower_for_distant_nodes(smpi: None) -> None:
    """Of eagle, 7 links for 28 nodes of a switch, and 7 for the 168 of a pod."""
    size = 2**20

    def alltoall_s(**allocation: Any) -> float:
        layout = Layout(16, 1, **allocation)
        (found,) = points_s("eagle", layout, "collectives", operation="alltoall", sizes=size)
        return found

    together = alltoall_s()
    scattered, apart, anywhere, elsewhere = (
        alltoall_s(allocation="by_switch"),
        alltoall_s(allocation="by_pod"),
        alltoall_s(allocation="random", allocation_seed=1),
        alltoall_s(allocation="random", allocation_seed=2),
    )
    assert together == pytest.approx(15 * size / 6.8e9, rel=0.02)
    assert 1.05 * together < apart < min(scattered, anywhere, elsewhere)
    assert anywhere != elsewhere
    assert anywhere == alltoall_s(allocation="random", allocation_seed=1)


def test_other_jobs_slow_distant_nodes_only_in_a_tapered_tree(smpi: None) -> None:
    """Of eagle and of a non-blocking copy, with the same other jobs, some of which send much."""
    eagle = cluster_file.load(ROOT / "clusters" / "eagle.toml")

    def apart_over_together(cluster: Cluster) -> float:
        together, apart = (
            points_on(
                cluster,
                Layout(24, 1, allocation=allocation),
                "collectives",
                operation="alltoall",
                sizes=2**20,
            )
            for allocation in ("contiguous", "by_pod")
        )
        return apart[0] / together[0]

    assert apart_over_together(eagle) > 1.3
    assert apart_over_together(untapered(eagle)) < 1.1


def test_a_trace_contains_the_bytes_between_ranks(smpi: None, tmp_path: Path) -> None:
    words = ["poisson_cg", "n=64", "variant=textbook", "iterations=10"]
    where = ["--out", str(tmp_path / "record.json"), "--machine", str(GOLDEN / "machine.txt")]
    trace = tmp_path / "trace"
    arguments = [*where, "--execute", "no", *words]
    with counted(trace) as pairs:
        smpirun(program_of(words, SMPI), arguments, options=simgrid_files.traced(trace))
    sent = {(one, other): count for one, other, count in pairs()}
    rows = {pair: count // (8 * 64) for pair, count in sent.items()}
    assert {pair for pair in rows if rows[pair] > 1} == {
        (one, other) for one in range(4) for other in range(4) if abs(one - other) == 1
    }, "others get the messages of sums alone"
    assert sent[1, 2] == sent[2, 1] == sent[3, 2] == 20 * 8 * 64


def test_a_pending_sum_progresses_while_ranks_compute(smpi: None) -> None:
    """In each of 21 sums a round goes between nodes where there is little to compute, then none."""

    def reduce_s(n: int) -> float:
        record = simulate(f"poisson_cg n={n} iterations=20 variant=pipelined", "no")
        (phase,) = (each for each in record["phases"] if each["name"] == "reduce")
        return float(phase["time_s"]["max"])

    assert reduce_s(64) > 21 * 8e-6
    assert reduce_s(1024) < 1e-6


def test_a_pending_sum_is_correct(smpi: None) -> None:
    pipelined, textbook = (
        simulate(f"poisson_cg n=64 variant={variant}", "yes")["result"]
        for variant in ("pipelined", "textbook")
    )
    assert pipelined["iterations"] == textbook["iterations"]
    assert pipelined["error_max"] == pytest.approx(textbook["error_max"], rel=1e-6)


def test_unused_memory_costs_nothing(smpi: None) -> None:
    """Five arrays of 8 GiB in all, and messages between them, as the laboratory runs it."""
    arguments = ["--machine", str(GOLDEN / "machine.txt"), "--execute", "no"]
    arguments += ["poisson_cg", "n=32768", "iterations=2", "repetitions=1"]
    ended = smpirun(
        program("poisson_cg", SMPI), arguments, options=["--cfg=smpi/shared-malloc:local"]
    )
    assert ended.peak_bytes < 200e6


def test_forecasts_work_for_programs_that_smpi_cannot_run_alone(smpi: None) -> None:
    asked = build.asked(program("poisson_cg", SMPI))
    assert asked != program("poisson_cg", SMPI)
    planner = halobench.Planner(asked)
    forecast = planner.forecast("poisson_cg", {"n": 4, "exchange": "rma"}, ranks=5)
    assert [problem.where for problem in forecast.problems]
    assert planner.forecast("poisson_cg", {"n": 64}, ranks=4).memory_bytes > 4 * 8 * 64**2


def test_every_kernel_has_a_golden_time() -> None:
    registered = re.findall(r"^KERNEL\((\w+)\)", (ROOT / "halobench/kernels.def").read_text(), re.M)
    commands = " ".join(golden()).split()
    on_a_device = {"launches"}  # alone: tests/test_simulated_device.py
    assert registered and set(registered) - on_a_device <= set(commands)


def update() -> None:
    """Simulate every case anew; one line a case."""
    build_it()
    lines = (f"{json.dumps(case)}: {json.dumps(times(simulate(case, 'yes')))}" for case in golden())
    TIMES.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    update()
