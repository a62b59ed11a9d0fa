# SPDX-License-Identifier: BSD-3-Clause
"""Cluster files: what calibration finds, written, read again, and refused where it is wrong."""

from __future__ import annotations

import re
from argparse import Namespace
from pathlib import Path

import pytest
from noted import shows
from recorded import MACHINE, Raw, cases, overheads, pingpong, poisson, record, stream, write_folder

from haloscope.clusters import file as cluster_file
from haloscope.clusters import schema
from haloscope.clusters.schema import Cluster, require_undisturbed
from haloscope.commands.machines.calibrate import execute
from haloscope.errors import UserError
from haloscope.findings.caveats import EXPLAINED, Caveat
from haloscope.paths import share
from haloscope.predict import node_calibration
from haloscope.predict.calibration import calibrate, summary
from haloscope.predict.node_calibration import quantity
from haloscope.stats.estimates import Estimate
from haloscope.study import file as study_file


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals of the last cache by fewer resamples: each is a fit, and its value needs none."""
    monkeypatch.setattr(node_calibration, "RESAMPLES", 20)


def measured() -> list[Raw]:
    raws = [stream(ranks=ranks, launch=k) for ranks in (1, 2) for k in range(6)]
    raws += [pingpong(launch=k, layout={"placement": "same-cache"}) for k in range(6)]
    return raws + [overheads(k) for k in range(6)]


SWEEP = {
    "name": "sweep",
    "calls": 40,
    "time_s": {"min": 1e-3, "mean": 1e-3, "max": 1e-3},
    "bytes": 4e7,
    "flops": 2e7,
    "model_s": None,
}


def calibrated(raws: list[Raw]) -> Cluster:
    return calibrate("mine", cases(raws), MACHINE, "2026-11-21")


def test_bandwidths_latencies_and_overheads_have_intervals_and_sources() -> None:
    found = calibrated(measured())

    core, node = (one.bandwidth_bytes_per_s for one in found.node.memory)
    assert core.value < node.value
    assert core.low is not None and core.low < core.value
    assert "stream, all loops" in core.source and "over 6 launches" in core.source
    copied, summed, multiplied = 0.95 * 3 / 2, 4 / 3, 1.1  # with the lines that are fetched
    slower = (3 + 4 + 2) / (3 / copied + 4 / summed + 2 / multiplied)
    assert core.value == pytest.approx(13e9 * slower, rel=0.03)
    assert [cache.level for cache in found.node.caches] == [
        cache["level"] for cache in MACHINE["caches"]
    ]
    (messages,) = found.messages
    assert messages.placement == "same-cache"
    assert messages.latency_s.value == pytest.approx(0.45e-6, rel=0.05)
    assert messages.bandwidth_bytes_per_s.value == pytest.approx(9e9, rel=0.2)
    assert messages.protocols[0].first_bytes == 0
    assert messages.protocols[-1].last_bytes == 2**22
    assert found.overheads is not None and found.overheads.gap_s is not None
    assert found.overheads.gap_s.value == pytest.approx(0.5e-6)


def with_all_loops(raw: Raw, cost: float, bytes_per_s: float) -> Raw:
    """One launch of stream whose stored bytes take so many times as long as those it loads."""
    loops = {"copy": (1, 2), "scale": (1, 2), "add": (2, 2), "triad": (2, 2), "dot": (2, 0)}
    template = {point["size_bytes"]: point for point in raw["points"]}
    points = []
    for size, point in template.items():
        for loop, (loaded, stored) in loops.items():
            array = size / 3
            time_s = (loaded + cost * stored) * array / bytes_per_s
            result = {"traffic_bytes": (loaded + stored) * array, "bytes_per_s": 1.0}
            own = {"operation": loop, "times_s": [time_s] * 5, "result": result}
            points.append({**point, **own})
    return {**raw, "points": points}


@pytest.mark.parametrize(("cost", "found"), [(0.3, 0.3), (1.0, 1.0), (1.4, 1.4), (-0.2, 0.05)])
def test_store_costs_come_from_loops_with_more_and_fewer_stores(cost: float, found: float) -> None:
    raws = [with_all_loops(raw, cost, 10e9) for raw in measured() if raw["kernel"] == "stream"]
    (alone, _) = calibrated(raws).node.memory
    assert alone.store_cost is not None
    assert alone.store_cost.value == pytest.approx(found)
    assert "stream, separate loops" in alone.store_cost.source
    assert alone.bandwidth_bytes_per_s.value == pytest.approx(10e9 * 16 / (8 + 8 * cost))


def test_parallel_region_costs_depend_on_the_thread_count() -> None:
    raws = [
        record(
            "parallel_region",
            {},
            [64 * cost_s],
            threads=threads,
            launch=k,
            result={"region_s": cost_s},
        )
        for threads, cost_s in ((4, 3e-6), (1, 1e-7), (2, 1e-6))
        for k in range(6)
    ]
    found = calibrated([*measured(), *raws]).node.regions
    assert [(one.threads, one.cost_s.value) for one in found] == [(2, 1e-6), (4, 3e-6)]
    assert found[0].cost_s.source.startswith("parallel_region, 2 threads")
    assert calibrated(measured()).node.regions == ()


def test_without_all_loops_store_costs_are_unknown() -> None:
    assert [one.store_cost for one in calibrated(measured()).node.memory] == [None, None]


def test_a_half_open_interval_keeps_its_finite_end() -> None:
    half_open = Estimate(5e9, 4e9, float("inf"), 8, "bootstrap interval", 0.95)

    found = quantity(half_open, "pingpong")

    assert (found.value, found.low, found.high) == (5e9, 4e9, None)
    assert shows(found.source, "bootstrap", "8 launches", "unbounded")
    assert quantity(Estimate(5e9, None, None, 3, "none"), "pingpong").low is None


def test_a_number_outside_its_interval_becomes_its_end() -> None:
    found = quantity(Estimate(5e9, 3e9, 4e9, 8, "bootstrap interval", 0.95), "pingpong")
    assert (found.low, found.value, found.high) == (3e9, 5e9, 5e9)


def test_messages_without_a_placement_apply_to_the_node() -> None:
    raws = [raw for raw in measured() if raw["kernel"] != "pingpong"]
    (messages,) = calibrated(raws + [pingpong(launch=k) for k in range(6)]).messages
    assert messages.placement == "same-node"


def test_results_are_printed_line_by_line() -> None:
    memory, sockets, messages, rendezvous, small = summary(calibrated(measured()))

    assert sockets.startswith("sockets: one, ")
    assert memory.startswith("memory: ") and "on 1 core" in memory and "on 2 cores" in memory
    assert messages.startswith("messages, same-cache: 446 ns + ") and "pieces from 0 B" in messages
    assert rendezvous == "rendezvous from 64 KiB on"
    assert shows(small, "small messages: ", " L 1,000 ns, ", " oₛ 200 ns")


TWO_SOCKETS = {
    **MACHINE,
    "sockets": 2,
    "cores": 4,
    "caches": [*MACHINE["caches"][:-1], {**MACHINE["caches"][-1], "shared_by": 2}],
}
"""A machine with two sockets of two cores."""
LINK_BYTES_PER_S = 21e9


def across(launch: int) -> Raw:
    """Streams of messages between halves of four ranks, the largest the fastest."""
    points = [
        {
            "size_bytes": size,
            "operation": None,
            "steps": 10,
            "times_s": [1e-3],
            "bytes": 8 * size,
            "messages": 8,
            "result": {"latency_s": None, "bandwidth_bytes_per_s": rate, "messages_per_s": 1.0},
        }
        for size, rate in ((65536, 0.5 * LINK_BYTES_PER_S), (2**20, LINK_BYTES_PER_S))
    ]
    given = {"mode": "stream", "pairs": "halves", "sizes": "64K,1M"}
    return record("pingpong", given, [2e-3], ranks=4, launch=launch, points=points)


def on_two_sockets(*left_out: str) -> Cluster:
    """The calibration of that machine: side by side a second rank adds little, apart all of it."""
    own = {"close": {1: 1.0, 2: 1.3, 4: 2.6}, "spread": {1: 1.0, 2: 2.0, 4: 2.6}}
    raws = [overheads(k) for k in range(6)]
    for k in range(6):
        raws += [pingpong(launch=k, layout={"placement": "same-cache"})]
        raws += [pingpong(launch=k, layout={"placement": "other-socket"})]
        raws += [across(k)]
        raws += [
            with_rate(stream(ranks=ranks, launch=k, layout={"bind": bind}), times)
            for bind, rates in own.items()
            for ranks, times in rates.items()
        ]
    kept = [raw for raw in raws if not any(word in str(raw["layout"]) for word in left_out)]
    return calibrate("mine", cases(kept), TWO_SOCKETS, "2026-11-23")


def with_rate(raw: Raw, times: float) -> Raw:
    """One launch of stream whose ranks together have so many times what one has of memory."""
    points = []
    for point in raw["points"]:
        alone_s = point["result"]["traffic_bytes"] / raw["layout"]["ranks"] / 13e9
        slow = [alone_s * raw["layout"]["ranks"] / times] * len(point["times_s"])
        points.append({**point, "times_s": slow if point["size_bytes"] > 2**24 else [alone_s] * 5})
    return {**raw, "points": points}


def test_each_of_two_sockets_has_a_memory_and_a_link_to_the_other(tmp_path: Path) -> None:
    found = on_two_sockets()
    socket = found.node.socket
    assert socket is not None
    own = {one.cores: one.bandwidth_bytes_per_s.value for one in socket.memory}
    both = {one.cores: one.bandwidth_bytes_per_s.value for one in found.node.memory}
    assert own == pytest.approx({1: 13e9, 2: 1.3 * 13e9})
    assert both == pytest.approx({1: 13e9, 2: 2 * 13e9, 4: 2.6 * 13e9})
    assert socket.link.bandwidth_bytes_per_s.value == LINK_BYTES_PER_S
    assert socket.link.bandwidth_bytes_per_s.source.startswith("pingpong, streams of 2 pairs")
    assert socket.link.latency_s is None, "messages of the placement say it"
    assert {one.placement for one in found.messages} == {"same-cache", "other-socket"}
    lines = [line for line in summary(found) if line.startswith("sockets: ")]
    assert len(lines) == 1
    assert shows(lines, "16.9 GB/s on 2 cores", "21.0 GB/s")
    cluster_file.write(found, tmp_path / "mine.toml")
    assert cluster_file.load(tmp_path / "mine.toml") == found


@pytest.mark.parametrize("left_out", ["other-socket", "'ppn': 4, 'ranks': 4"])
def test_sockets_not_measured_separately_share_one_memory(left_out: str) -> None:
    found = on_two_sockets(left_out)
    assert found.node.sockets == 2 and found.node.socket is None
    lines = [line for line in summary(found) if line.startswith("sockets: ")]
    assert len(lines) == 1 and shows(lines, "sockets: 2, ", " one memory")


def test_a_single_socket_machine_measures_nothing_between_sockets() -> None:
    """Only the one with two has the cases that tell."""
    study = study_file.load(share("studies") / "calibrate.toml")
    apart = {str(run.name) for run in study.runs if run.several_sockets}
    assert len(apart) == 2
    assert shows(apart, "memory of several sockets")
    assert shows(apart, "messages ", "one socket")


def test_the_file_has_everything_a_simulation_needs() -> None:
    raws = [poisson(512, launch=k, phases=[SWEEP]) for k in range(6)]
    found = calibrated(measured() + raws)

    assert schema.missing_for_simulation(found) == []
    assert found.node.core_flops_per_s is not None
    assert found.node.core_flops_per_s.value == pytest.approx(20e9)
    assert found.mpi is not None
    assert found.mpi.rendezvous_bytes.value == 65536  # the first whose send takes as long as a wait
    assert {name: one.algorithm for name, one in found.mpi.collectives.items()} == {
        "selector": "ompi"
    }
    send, receive = found.mpi.send_overhead_s, found.mpi.receive_overhead_s
    assert send is not None and receive is not None
    smallest = found.messages[0].protocols[0].latency_s
    assert smallest is not None
    assert send.value + receive.value <= smallest.value * 1.0001  # of 0.2 and 0.3 us
    assert send.value / receive.value == pytest.approx(2 / 3)


def test_the_last_level_cache_has_the_size_found_by_the_sweep() -> None:
    last = calibrated([stream(launch=k) for k in range(6)]).node.caches[-1]
    assert last.usable_bytes is not None
    # 20 GB/s up to 16 MiB, 13 GB/s from 32 MiB on, which is what the cache has by its name.
    assert 0.9 * 2**24 <= last.usable_bytes.value < 1.5 * 2**24


def test_shared_cache_bandwidth_is_measured_within_the_usable_part() -> None:
    """Of a virtual machine's 256 MiB others use most: it has 20 GB/s up to 16 MiB, then 13 GB/s."""
    caches = [
        {**one, "size_bytes": 2**28} if one["level"] == 3 else one for one in MACHINE["caches"]
    ]
    raws = [stream(ranks=ranks, launch=k) for ranks in (1, 2) for k in range(6)]
    found = calibrate("mine", cases(raws), {**MACHINE, "caches": caches}, "2026-11-21").node
    memory, last = found.memory[0].bandwidth_bytes_per_s, found.caches[-1]
    alone, crowded = last.bandwidth_bytes_per_s, last.crowded_bytes_per_s
    assert alone is not None and crowded is not None and last.usable_bytes is not None
    assert alone.value == pytest.approx(memory.value * 20 / 13, rel=0.05)
    assert alone.low is not None and alone.low <= alone.value
    assert 0.85 * alone.value < crowded.value <= alone.value
    assert last.usable_bytes.value < 2**26


def test_messages_that_never_wait_put_rendezvous_beyond_the_largest() -> None:
    eager = [overheads(k) for k in range(6)]
    for raw in eager:
        for point in raw["points"]:
            point["result"]["send_s"] = 0.2e-6
    raws = [raw for raw in measured() if raw["kernel"] != "loggp"] + eager
    mpi = calibrated(raws).mpi
    assert mpi is not None
    assert mpi.rendezvous_bytes.value == 2 * 65536
    assert " up to 65536 bytes " in mpi.rendezvous_bytes.source


def test_a_written_file_is_read_back_unchanged(tmp_path: Path) -> None:
    found = calibrated(measured())
    path = tmp_path / "clusters" / "mine.toml"
    cluster_file.write(found, path)
    assert cluster_file.load(path) == found


@pytest.mark.parametrize(
    ("says", "sockets", "shared"),
    [
        ({"cores": 3, "sockets": 2}, 1, [1, 1, 3]),
        ({"cores": 8, "sockets": 2}, 2, [1, 1, 4]),
        ({"cores": 6, "sockets": 1}, 1, [1, 1, 3]),
    ],
)
def test_an_inconsistent_virtual_machine_becomes_a_valid_one(
    tmp_path: Path, says: dict[str, int], sockets: int, shared: list[int]
) -> None:
    """Odd cores of sockets, a cache that sockets share, four cores of six to a cache."""
    levels = [{**cache, "shared_by": 1} for cache in MACHINE["caches"][:-1]]
    last = {**MACHINE["caches"][-1], "shared_by": 8 if says["cores"] == 8 else 4}
    machine = {**MACHINE, **says, "caches": [*levels, last]}
    found = calibrate("mine", cases(measured()), machine, "2026-11-21")
    assert found.node.sockets == sockets
    assert [cache.shared_by for cache in found.node.caches] == shared
    cluster_file.write(found, tmp_path / "mine.toml")


def test_values_made_impossible_by_noise_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two cores with less than half of what one had."""
    monkeypatch.chdir(tmp_path)
    raws = [raw for raw in measured() if (raw["kernel"], raw["layout"]["ranks"]) != ("stream", 2)]
    slow = [stream(ranks=2, launch=k) for k in range(6)]
    for raw in slow:
        for point in raw["points"]:
            point["times_s"] = [8 * time for time in point["times_s"]]
    folder = write_folder(tmp_path / "run", raws + slow)
    with pytest.raises(UserError) as raised:
        execute(Namespace(name="mine", folder=str(folder), launches=None))
    (problem,) = raised.value.problems
    assert problem.where == "clusters/mine.toml: node.memory#2.bandwidth_bytes_per_s"
    assert str(folder) in problem.remedy
    assert not (tmp_path / "clusters").exists()


def test_without_memory_measurements_nothing_is_written() -> None:
    with pytest.raises(UserError, match="memory bandwidth"):
        calibrated([pingpong()])


@pytest.mark.parametrize("name", ["../evil", "a b", ".toml", "-x", "/etc/x"])
def test_a_cluster_file_is_written_inside_its_folder(name: str) -> None:
    with pytest.raises(UserError, match=f"--name {re.escape(name)}: "):
        execute(Namespace(name=name, folder="nowhere", launches=None))


def test_an_existing_cluster_file_is_not_overwritten(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="--name stampede2: .*stampede2.toml"):
        execute(Namespace(name="stampede2", folder="nowhere", launches=None))
    Path("clusters").mkdir()
    cluster_file.write(calibrated(measured()), Path("clusters", "vm.toml"))
    with pytest.raises(UserError, match="nowhere"):
        execute(Namespace(name="vm", folder="nowhere", launches=None))


def test_a_disturbed_machine_is_marked_and_needs_consent(tmp_path: Path) -> None:
    busy = calibrate("mine", cases(measured()), {**MACHINE, "busy_processors": 1.0}, "2026-11-21")
    slow = measured()
    slow[0]["times_s"] = [2 * time for time in slow[0]["times_s"]]

    assert calibrated(measured()).disturbed == ()
    (why,) = busy.disturbed
    assert why.startswith(EXPLAINED[Caveat.BUSY].text.removesuffix("."))
    (unsteady,) = calibrated(slow).disturbed
    assert unsteady.startswith(EXPLAINED[Caveat.UNSTEADY].text.removesuffix("."))
    assert next(summary(busy)) == f"marked as disturbed: {why}"
    path = tmp_path / "mine.toml"
    cluster_file.write(busy, path)
    assert cluster_file.load(path).disturbed == (why,)
    cluster_file.write(calibrated(measured()), path)
    assert "disturbed" not in path.read_text(encoding="utf-8")

    require_undisturbed(calibrated(measured()), "--disturbed")
    with pytest.raises(UserError, match="or accept it: --disturbed"):
        require_undisturbed(busy, "--disturbed")
