"""Cluster files: what calibration finds, written, read again, and refused where it is wrong."""

from __future__ import annotations

import re
import tomllib
from argparse import Namespace
from pathlib import Path

import pytest
import tomli_w
from recorded import MACHINE, Raw, cases, pingpong, poisson, stream
from test_fits_tables import overheads

from haloscope import cluster
from haloscope.calibration import calibrate, summary
from haloscope.cluster import Cluster
from haloscope.commands.calibrate import execute
from haloscope.errors import UserError
from haloscope.node_calibration import quantity
from haloscope.stats import Estimate


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


def test_bandwidths_latencies_and_overheads_are_there_with_interval_and_source() -> None:
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


def test_an_interval_that_is_open_on_one_side_keeps_its_other_end() -> None:
    half_open = Estimate(5e9, 4e9, float("inf"), 8, "bootstrap interval", 0.95)

    found = quantity(half_open, "pingpong")

    assert (found.value, found.low, found.high) == (5e9, 4e9, None)
    assert found.source == "pingpong; bootstrap interval over 8 launches, unbounded above"
    assert quantity(Estimate(5e9, None, None, 3, "none"), "pingpong").low is None


def test_what_was_found_is_told_line_by_line() -> None:
    memory, messages, rendezvous, small = summary(calibrated(measured()))

    assert memory.startswith("memory: ") and "on 1 core" in memory and "on 2 cores" in memory
    assert messages.startswith("messages, same-cache: 446 ns + ") and "pieces from 0 B" in messages
    assert rendezvous == "rendezvous from 64 KiB on"
    assert small.startswith("small messages: latency L 1,000 ns, overhead of sending o_s 200 ns")


def test_it_says_all_that_a_simulation_needs() -> None:
    raws = [poisson(512, launch=k, phases=[SWEEP]) for k in range(6)]
    found = calibrated(measured() + raws)

    assert cluster.missing_for_simulation(found) == []
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


def test_the_last_cache_holds_what_the_sweep_finds_there() -> None:
    last = calibrated([stream(launch=k) for k in range(6)]).node.caches[-1]
    assert last.usable_bytes is not None
    # 20 GB/s up to 16 MiB, 13 GB/s from 32 MiB on, which is what the cache has by its name.
    assert 0.9 * 2**24 <= last.usable_bytes.value < 1.5 * 2**24


def test_what_does_not_wait_has_no_rendezvous_so_far() -> None:
    eager = [overheads(k) for k in range(6)]
    for raw in eager:
        for point in raw["points"]:
            point["result"]["send_s"] = 0.2e-6
    raws = [raw for raw in measured() if raw["kernel"] != "loggp"] + eager
    mpi = calibrated(raws).mpi
    assert mpi is not None
    assert mpi.rendezvous_bytes.value == 2 * 65536
    assert "no message of up to 65536 bytes waited" in mpi.rendezvous_bytes.source


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = calibrated(measured())
    path = tmp_path / "clusters" / "mine.toml"
    cluster.write(found, path)
    assert cluster.load(path) == found


def test_without_memory_nothing_is_written() -> None:
    with pytest.raises(UserError, match="memory's bandwidth"):
        calibrated([pingpong()])


def test_all_that_is_wrong_in_a_file_is_named_with_its_key(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    cluster.write(calibrated(measured()), path)
    data = tomllib.loads(path.read_text())
    data["node"]["memory"][0]["bandwidth_bytes_per_s"]["value"] = -1.0
    del data["node"]["sockets"]
    data["node"]["core"] = 3
    path.write_text(tomli_w.dumps(data))

    with pytest.raises(UserError) as caught:
        cluster.load(path)

    assert {problem.where.removeprefix(f"{path}: ") for problem in caught.value.problems} == {
        "node.memory.0.bandwidth_bytes_per_s.value",
        "node.sockets",
        "node.core",
    }
    assert any("did you mean 'cores'" in problem.mend for problem in caught.value.problems)


def test_a_file_that_is_not_there_or_no_toml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        cluster.load(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("= 3")
    with pytest.raises(UserError, match="not TOML"):
        cluster.load(tmp_path / "bad.toml")


def test_numbers_that_no_machine_has_are_named_with_their_unit(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    cluster.write(calibrated(measured()), path)
    data = tomllib.loads(path.read_text())
    data["messages"][0]["latency_s"]["value"] = 1.2e3  # ns?
    data["node"]["memory"][0]["bandwidth_bytes_per_s"]["value"] = 13.0  # GB/s?
    path.write_text(tomli_w.dumps(data))

    with pytest.raises(UserError) as caught:
        cluster.load(path)

    told = {p.where.removeprefix(f"{path}: "): (p.what, p.mend) for p in caught.value.problems}
    assert told == {
        "messages.0.latency_s": (
            "1200 seconds can't be",
            "give seconds: a number from 1e-11 to 0.01",
        ),
        "node.memory.0.bandwidth_bytes_per_s": (
            "13 bytes a second can't be",
            "give bytes a second: a number from 100000 to 1e+15",
        ),
    }


@pytest.mark.parametrize("name", ["../evil", "a b", ".toml", "-x", "/etc/x"])
def test_a_cluster_file_stays_in_its_folder(name: str) -> None:
    with pytest.raises(UserError, match="is no name of a cluster file"):
        execute(Namespace(name=name, folder="nowhere", launches=None))


def test_a_described_machine_is_not_written_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="is described there, not calibrated"):
        execute(Namespace(name="stampede2", folder="nowhere", launches=None))
    Path("clusters").mkdir()
    cluster.write(calibrated(measured()), Path("clusters", "vm.toml"))
    with pytest.raises(UserError, match="nowhere"):
        execute(Namespace(name="vm", folder="nowhere", launches=None))


def refused(tmp_path: Path, *changes: tuple[str, str]) -> tuple[Path, UserError]:
    """What a ready cluster file with changes is refused for."""
    path = tmp_path / "odd.toml"
    text = cluster.ready()["stampede2"].read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as raised:
        cluster.load(path)
    return path, raised.value


@pytest.mark.parametrize(
    ("old", "new", "key", "what"),
    [
        ("cores = 32\n", "cores = 320\n", "node.memory.5.cores", "320 cores can't use it, a node"),
        ("cores = 32\n", "cores = 16\n", "node.memory.5.cores", "16 is there already"),
        (
            "value = 199.9e9",
            "value = 1.999e9",
            "node.memory.5.bandwidth_bytes_per_s",
            "2.00 GB/s to 32 cores, 176 GB/s to 16",
        ),
        ("level = 3", "level = 2", "node.caches", "L2 more than once"),
        ("34603008", "34603", "node.caches", "L2 of 1 MiB, L3 of 33.8 KiB"),
        ("178e9", "10e9", "node.caches", "10.0 GB/s from L2, 29.9 GB/s from L3"),
        ("memory_bytes = 206158430208", "memory_bytes = 1", "node.memory_bytes", "1 B, less than"),
        (
            "memory_bytes = 206158430208",
            "memory_bytes = 206158430208\nsmt_gain = { value = 3, source = 'x' }",
            "node.smt_gain",
            "3 from 2 hardware threads",
        ),
        (
            "memory_bytes = 206158430208",
            "memory_bytes = 206158430208\nsharpness = { value = 99, source = 'x' }",
            "node.sharpness",
            "99 can't be",
        ),
        ("levels = [", "dimensions = [1] # [", "network.levels", "a fat tree without any"),
        ('"fat_tree"', '"torus"', "network.dimensions", "a torus without any"),
        ("allreduce =", "allreduc =", "mpi.collectives.allreduc", "is no operation"),
        (
            'algorithm = "redbcast"',
            'algorithm = "foo"',
            "mpi.collectives.allreduce.algorithm",
            "there is no 'foo'",
        ),
    ],
)
def test_each_contradiction_is_named_with_its_key(
    tmp_path: Path, old: str, new: str, key: str, what: str
) -> None:
    path, error = refused(tmp_path, (old, new))
    (problem,) = error.problems
    assert problem.where == f"{path}: {key}"
    assert problem.what.startswith(what)


@pytest.mark.parametrize("nodes", ["true", '"1736"', "0", "1.5"])
def test_counts_are_whole_numbers(tmp_path: Path, nodes: str) -> None:
    path, error = refused(tmp_path, ("nodes = 1736", f"nodes = {nodes}"))
    assert [problem.where for problem in error.problems] == [f"{path}: nodes"]


def test_an_unknown_algorithm_is_told_what_there_is(tmp_path: Path) -> None:
    _, error = refused(tmp_path, ('"redbcast"', '"redbcst"'))
    assert re.search("did you mean 'redbcast'.*lr, mpich, mvapich2", str(error))


def test_numbers_that_contradict_each_other_are_named(tmp_path: Path) -> None:
    path, error = refused(tmp_path, ("sockets = 2", "sockets = 5"), ("by = 24", "by = 96"))
    assert [(problem.where, problem.what) for problem in error.problems] == [
        (f"{path}: node.cores", "48 can't be shared out to 5 sockets"),
        (f"{path}: node.caches.1.shared_by", "96 cores can't share it, a node has 48"),
    ]
