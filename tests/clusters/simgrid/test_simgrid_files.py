# SPDX-License-Identifier: BSD-3-Clause
"""Cluster files as SimGrid takes them, and what they must say for that."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cluster_files import described, divided, quantity
from noted import shows

from haloscope.cli import main
from haloscope.clusters import file as cluster_file
from haloscope.clusters import schema
from haloscope.clusters.network import NetworkLevel
from haloscope.clusters.node import (
    KernelRate,
    Node,
    NodeSpread,
    ParallelRegion,
    Unbound,
    expected_slowest,
)
from haloscope.clusters.quantity import Quantity
from haloscope.clusters.schema import Cluster
from haloscope.clusters.simgrid import files as simgrid_files
from haloscope.commands.machines.cluster import drawing
from haloscope.errors import Problem, UserError
from haloscope.layout import Layout
from haloscope.run.places.places import place
from haloscope.run.places.simulated import SimulatedCluster
from haloscope.study.case import Case
from haloscope.toolchains.build import Build
from haloscope.toolchains.library import Toolchain
from haloscope.toolchains.simgrid import make, smpi


def case(kernel: str, **layout: Any) -> Case:
    return Case(kernel, {}, {}, Layout(**layout), "simgrid", 0, 1, 1.0, 0)


def lines(one: Cluster, *ranks_on_nodes: int) -> list[str]:
    """Those of the platform's file."""
    return simgrid_files.platform(one, ranks_on_nodes or (0,)).splitlines()


def rows(one: Cluster, place: str) -> list[list[float]]:
    """Of the messages "within" a node or "between" nodes: size, latency, bandwidth."""
    split = (line.split() for line in lines(one))
    return [[float(word) for word in words] for key, *words in split if key == place]


def test_a_fat_tree_has_the_given_levels_links_and_shared_memory() -> None:
    assert lines(described(), 0, 0, 2) == [
        "nodes 4 8",
        *("fat_tree 2 1 1", "fat_tree 2 1 2"),
        "link 10000000000.0 5e-07",
        *("within 0 4e-07 8000000000.0", "within 12303 1.2e-06 8000000000.0"),
        *("between 0 1.0 1.0", "between 12303 3.0 1.0"),
        "overheads 0.0 0.0",
        "cached 524288.0",
        "copied 6.0",
        *("memory 1 10000000000.0", "memory 4 30000000000.0"),
        *("ranks 0 2", "ranks 2 1"),
    ]
    of_three = lines(described(nodes=3), 0, 0, 2)
    assert of_three[0] == "nodes 4 8"  # as many as the tree has places for


def test_socket_memories_are_written_in_addition_to_the_node_memory() -> None:
    """0.4 us and 8 GB/s within one, 0.1 us more across, where the link gives 6 GB/s."""
    nodes, sockets = (0, 0, 2, 2), (0, 1, 0, 0)
    both = simgrid_files.platform(divided(), nodes, sockets).splitlines()
    alone = simgrid_files.platform(described(), nodes).splitlines()
    assert both[: len(alone)] == alone
    assert both[len(alone) :] == [
        "sockets 2",
        *("socket_memory 1 10000000000.0", "socket_memory 2 15000000000.0"),
        "socket_link 6000000000.0 1e-07",
        f"across 0 {4e-7 + 1e-7!r} 6000000000.0",
        f"across 12303 {3 * 4e-7 + 3 * 1e-7!r} 6000000000.0",
        *("seats 0 0 1", "seats 0 1 1", "seats 2 0 2"),
    ]
    assert simgrid_files.hosts(nodes, sockets).splitlines() == [
        *("node-0-socket-0", "node-0-socket-1", "node-2-socket-0", "node-2-socket-0")
    ]
    machine = simgrid_files.machine_file(divided(), case("stream")).splitlines()
    assert machine[4:6] == ["socket 1 10000000000.0", "socket 2 15000000000.0"]


def test_placement_messages_apply_within_sockets_and_across_them() -> None:
    (node,) = described().messages
    near, far = (
        node.model_copy(update={"placement": placement, "latency_s": Quantity(**quantity(slow))})
        for placement, slow in (("same-cache", 2e-7), ("other-socket", 9e-7))
    )
    found = divided().model_copy(update={"messages": (node, far, near)})
    lines = [line.split() for line in simgrid_files.platform(found, (0, 0), (0, 1)).splitlines()]
    (within, *_), (across, *_) = (
        [words for words in lines if words[0] == key] for key in ("within", "across")
    )
    assert within == ["within", "0", "2e-07", "8000000000.0"]
    assert across == ["across", "0", "9e-07", "6000000000.0"]
    assert rows(found, "within")[0] == [0, 4e-7, 8e9], "in a node that is not divided"


def test_a_file_without_sockets_is_unchanged_and_keeps_its_hash() -> None:
    """The state of a cluster file, to the digit, from before there were any."""
    one = Case("stream", {}, {}, Layout(1, 4), "simgrid", 0, 1, 1.0, 0)
    files = simgrid_files.files(described(), one)
    assert files["hosts"].splitlines() == ["node-0"] * 4
    assert "socket" not in "".join(files.values())
    assert schema.state(described()) == "90114961c53b"
    assert schema.state(divided()) != schema.state(described())


def test_other_networks() -> None:
    network = described().network
    assert network is not None
    torus = network.model_copy(update={"topology": "torus", "dimensions": (2, 3), "levels": ()})
    flat = network.model_copy(update={"topology": "flat", "levels": ()})
    six = described(nodes=6)
    assert lines(six.model_copy(update={"network": torus}))[:3] == [
        *("nodes 6 8", "torus 2", "torus 3")
    ]
    assert lines(six.model_copy(update={"network": flat}))[:2] == [
        "nodes 6 8",
        "fat_tree 6 1 1",
    ]
    alone = described(nodes=1).model_copy(update={"network": None})
    assert lines(alone)[:2] == ["nodes 1 8", "fat_tree 1 1 1"]


def test_messages_larger_than_the_cache_share_of_a_core_use_memory() -> None:
    """Half of 16 KiB that a core does not share; the source contains the number of copies."""
    node = described().node
    small = node.caches[0].model_copy(update={"size_bytes": 2**14})
    (within,) = described().messages
    single = within.model_copy(update={"memory_bytes_per_byte": Quantity(value=3, source="a test")})
    one = described().model_copy(
        update={"node": node.model_copy(update={"caches": (small,)}), "messages": (single,)}
    )
    assert "cached 8192.0" in lines(one)
    assert "copied 3.0" in lines(one)
    none = node.model_copy(update={"caches": ()})
    assert "cached 0.0" in lines(described().model_copy(update={"node": none}))


def test_halobench_can_read_the_node_file() -> None:
    assert simgrid_files.machine_file(described(), case("stream", bind="spread")).splitlines() == [
        "core_flops_per_s 4000000000.0 4000000000.0",
        "cores 4 2",
        "memory 1 10000000000.0",
        "memory 4 30000000000.0",
        "cache 1048576 1 50000000000.0 40000000000.0",
        "sharpness 1.5",
    ]


@pytest.mark.parametrize(
    ("layout", "packed"),
    [
        ({"ppn": 2}, True),
        ({"ppn": 2, "bind": "spread"}, False),
        ({"ppn": 2, "threads": 2, "bind": "spread"}, False),
        ({"ppn": 1, "threads": 2, "bind": "spread"}, True),
        ({"ppn": 1, "threads": 2, "bind": "spread", "thread_bind": "spread"}, False),
        ({"ppn": 1, "threads": 2, "bind": "close", "thread_bind": "spread"}, False),
        ({"ppn": 1, "threads": 2, "bind": "none"}, False),
    ],
)
def test_cores_in_use_are_packed_like_ranks_or_threads_of_one_rank(
    layout: dict[str, Any], packed: bool
) -> None:
    found = simgrid_files.machine_file(described(), case("stream", **layout)).splitlines()

    assert ("packed" in found) is packed


def test_only_the_usable_part_of_a_cache_counts() -> None:
    node = described().node
    usable = Quantity(value=2.0**19, source="a test")
    cache = node.caches[0].model_copy(update={"usable_bytes": usable})
    one = described().model_copy(update={"node": node.model_copy(update={"caches": (cache,)})})
    machine = simgrid_files.machine_file(one, case("stream")).splitlines()
    assert "cache 524288.0 1 50000000000.0 40000000000.0" in machine


def test_a_last_level_cache_may_have_a_knee_and_an_adjacent_level() -> None:
    node = described().node
    (inner,) = node.caches
    last = inner.model_copy(update={"level": 3, "size_bytes": 2**23, "inclusive": False})
    knee = Quantity(value=1.7, source="a test")

    def machine(**changes: object) -> list[str]:
        one = described().model_copy(update={"node": node.model_copy(update=changes)})
        return simgrid_files.machine_file(one, case("stream", bind="spread")).splitlines()

    assert machine(caches=(inner, last), knee=knee)[-3:] == ["beside", "sharpness 1.5", "knee 1.7"]
    lower = inner.model_copy(update={"inclusive": False})
    assert "beside" not in machine(caches=(lower, last.model_copy(update={"inclusive": True})))
    assert machine(knee=None) == machine()


def test_all_nodes_run_at_the_slowest_speed_if_the_file_says_so() -> None:
    apart = NodeSpread(nodes=Quantity(value=0.02, source="a test"), slowest=True)

    def spread(node: Node, nodes: int, seed: int | None = None) -> list[str]:
        one = described().model_copy(update={"node": node})
        asked = Case("stream", {}, {}, Layout(nodes, 1), "simgrid", 0, 1, 1.0, 0)
        machine = simgrid_files.files(one, asked, seed)["machine"].splitlines()
        return [line for line in machine if line.startswith(("slowest", "spread"))]

    node = described().node
    slow = node.model_copy(update={"spread": apart})
    assert spread(slow, 4) == [f"slowest {expected_slowest(0.02, 4)!r}"]
    assert spread(slow, 1) == []
    assert spread(slow, 4, seed=7) == ["spread 0.02 0.0 7"]
    middle = node.model_copy(update={"spread": apart.model_copy(update={"slowest": False})})
    assert spread(middle, 4) == spread(node, 4) == []
    assert schema.state(described().model_copy(update={"node": middle})) != schema.state(
        described().model_copy(update={"node": slow})
    )


def test_unbound_ranks_are_slower_and_resume_later() -> None:
    costs = Unbound(
        processes=1,
        share=Quantity(value=1.0, source="a test"),
        slower=Quantity(value=1.5, source="a test"),
        resume_s=Quantity(value=1e-4, source="a test"),
    )
    node = described().node.model_copy(update={"unbound": (costs,)})
    one = described().model_copy(update={"node": node})

    def machine(bind: str) -> list[str]:
        asked = Case("stream", {}, {}, Layout(2, 1, bind=bind), "simgrid", 0, 1, 1.0, 0)
        return simgrid_files.files(one, asked)["machine"].splitlines()

    assert machine("none") == [*machine("spread"), "resume 0.0001", "slowest 1.5"]
    assert schema.state(one) != schema.state(described())


def test_a_kernel_may_have_its_own_rate_and_thread_speedup() -> None:
    rate = KernelRate.model_validate(
        {
            "kernel": "stream",
            "core_flops_per_s": quantity(3e9),
            "crowded_flops_per_s": quantity(2e9),
        }
    )
    whole = described()
    gain = Quantity(value=1.25, source="a test")
    node = whole.node.model_copy(update={"kernels": (rate,), "smt_gain": gain})
    one = whole.model_copy(update={"node": node})
    machine = simgrid_files.machine_file(one, case("stream")).splitlines()
    assert machine[0] == "core_flops_per_s 3000000000.0 2000000000.0"
    assert machine[-2:] == ["smt_gain 1.25", "packed"]
    on_threads = simgrid_files.machine_file(one, case("stream", places="threads")).splitlines()
    assert on_threads[-1] == "packed 2"  # both hardware threads of a core before the next core
    others = simgrid_files.machine_file(one, case("ring")).splitlines()
    assert others[0] == "core_flops_per_s 4000000000.0 4000000000.0"


def test_the_rate_of_one_variant_does_not_apply_to_others() -> None:
    thin = cluster_file.find("orfeo-thin")
    assert thin.node.variants == {"jacobi3d": ["plain"]}
    plain, temporal = (
        replace(case("jacobi3d"), params={"variant": name}) for name in ("plain", "temporal")
    )
    first = simgrid_files.machine_file(thin, plain).splitlines()[0]
    assert first == "core_flops_per_s 676400000.0 655400000.0"
    with pytest.raises(ValueError, match="jacobi3d temporal"):
        simgrid_files.machine_file(thin, temporal)


def test_options_set_the_protocol_switch_and_the_algorithms() -> None:
    options = simgrid_files.settings(described())
    assert "--cfg=smpi/send-is-detached-thresh:12288" in options
    assert "--cfg=smpi/async-small-thresh:12288" in options
    assert "--cfg=smpi/allreduce:rdb" in options
    assert "--cfg=maxmin/precision:1e-3" in options
    names = {one.split("=")[1].split(":")[0] for one in options}
    ours = {"smpi/bw-factor", "smpi/lat-factor", "smpi/os", "smpi/ois", "smpi/or"}
    assert not names & ours, "SimGrid refuses them beside a platform that says them"
    selected = described(
        mpi={
            "library": "Example MPI",
            "rendezvous_bytes": quantity(1),
            "send_overhead_s": quantity(1e-7),
            "collectives": {"selector": {"algorithm": "mpich", "source": "a test"}},
        }
    )
    assert "--cfg=smpi/coll-selector:mpich" in simgrid_files.settings(selected)
    assert "overheads 1e-07 0.0" in lines(selected)


def test_a_size_beyond_the_limit_of_mpi_acts_as_unlimited() -> None:
    """Without waiting sends, the limit may exceed SimGrid's integers."""
    cluster = described()
    assert cluster.mpi is not None
    endless = cluster.mpi.model_copy(update={"rendezvous_bytes": Quantity(value=1e12, source="x")})
    settings = simgrid_files.settings(cluster.model_copy(update={"mpi": endless}))
    assert f"--cfg=smpi/send-is-detached-thresh:{2**31 - 1}" in settings
    assert f"--cfg=smpi/async-small-thresh:{2**31 - 1}" in settings


def test_protocols_give_the_time_of_messages_of_their_size() -> None:
    pieces = [
        {"first_bytes": 0, "last_bytes": 1024, "latency_s": quantity(4e-7)},
        {
            "first_bytes": 1025,
            "last_bytes": 2**20,
            "latency_s": quantity(8e-7),
            "bandwidth_bytes_per_s": quantity(4e9),
        },
    ]
    within = [
        {
            "placement": "same-cache",
            "mpi": "Example MPI",
            "latency_s": quantity(4e-7),
            "bandwidth_bytes_per_s": quantity(8e9),
            "protocols": pieces,
        }
    ]
    one = described(messages=within)
    found = [[0, 4e-7, 8e12], [1040, 8e-7, 4e9], [12303, 8e-7, 4e9]]
    assert rows(one, "within") == found
    assert rows(one.model_copy(update={"network": None}), "within") == found
    assert rows(one, "between") == rows(described(), "between")


def test_overheads_are_not_part_of_small_message_latencies() -> None:
    """Of the wire's 0.25 us, without overheads of 0.15 us; by rendezvous SMPI adds none."""
    small = {"first_bytes": 0, "last_bytes": 1024, "latency_s": quantity(4e-7)}
    large = {"first_bytes": 1025, "last_bytes": 2**20, "latency_s": quantity(8e-7)}
    overheads = {"send_overhead_s": quantity(1e-7), "receive_overhead_s": quantity(5e-8)}
    mpi = {"library": "Example MPI", "rendezvous_bytes": quantity(12288), **overheads}
    one = described(nodes=1, messages=[messages("same-node", small, large)], mpi=mpi)
    above, latencies, _ = zip(*rows(one, "within"), strict=True)
    assert above == (0, 1040, 12303)
    assert latencies == pytest.approx((2.5e-7, 6.5e-7, 8e-7))
    assert "overheads 1e-07 5e-08" in lines(one)


def messages(placement: str, *pieces: dict[str, Any]) -> dict[str, Any]:
    one = {"placement": placement, "mpi": "Example MPI", "protocols": pieces}
    return {**one, "latency_s": quantity(4e-7), "bandwidth_bytes_per_s": quantity(8e9)}


def test_protocols_between_nodes_apply_to_nodes_of_one_switch() -> None:
    """Over links of 0.5 us and 10 GB/s. Messages within a node stay as they are."""
    small = {"first_bytes": 8, "last_bytes": 1024, "latency_s": quantity(2e-6)}  # and less
    large = {"first_bytes": 1025, "last_bytes": 2**20, "bandwidth_bytes_per_s": quantity(5e9)}
    pieces = [{**small, "bandwidth_bytes_per_s": quantity(2e9)}, {**large, **small, **large}]
    one = described(messages=[messages("same-node"), messages("other-node", *pieces)])
    found = rows(one, "between")
    assert found == [[0, 2.0, 0.2], [1040, 2.0, 0.5], [12303, 2.0, 0.5]]
    assert rows(one, "within") == rows(described(), "within")


def test_an_entry_between_nodes_without_protocols_keeps_the_links() -> None:
    both = described(messages=[messages("same-node"), messages("other-node")])
    assert simgrid_files.settings(both) == simgrid_files.settings(described())
    assert lines(both) == lines(described())


def test_missing_simulation_values_are_named() -> None:
    whole = described()
    assert schema.missing_for_simulation(whole) == []
    node = whole.node.model_copy(update={"core_flops_per_s": None})
    bare = whole.model_copy(update={"node": node, "network": None, "mpi": None, "messages": ()})
    missing = [problem.where.split(": ")[1] for problem in schema.missing_for_simulation(bare)]
    assert missing == ["node.core_flops_per_s", "mpi", "messages", "network"]


def test_memory_bandwidth_of_one_core_does_not_apply_to_several() -> None:
    whole = described()
    node = whole.node.model_copy(update={"memory": whole.node.memory[:1]})
    (problem,) = schema.missing_for_simulation(whole.model_copy(update={"node": node}))
    assert problem.where == "cluster tiny: node.memory"
    single = node.model_copy(update={"cores": 1, "sockets": 1})
    assert schema.missing_for_simulation(whole.model_copy(update={"node": single})) == []


def test_a_network_too_large_to_simulate_is_named() -> None:
    """However few of its nodes a case takes, SimGrid has all of them."""
    levels = (NetworkLevel(children=1000), NetworkLevel(children=201))
    few = described()
    assert few.network is not None
    network = few.network.model_copy(update={"levels": levels})
    (problem,) = schema.missing_for_simulation(few.model_copy(update={"network": network}))
    assert problem.where == "cluster tiny: network"
    assert problem.what.startswith("has room for 201,000 nodes")


def test_a_fat_tree_is_displayed_with_its_blocking_factor() -> None:
    """Eagle's, as task-mapping-drop, section 3.3 has it: 4:1 in a group, 24:1 between groups."""
    network = cluster_file.find("eagle").network
    assert network is not None
    assert list(drawing(network, 1008)) == [
        ("▢   ▢   ▢  …  ▢", "7 switches, 6 links down"),
        ("│ ╳ │ ╳ │     │", "blocking 24:1 (nodes : links up)"),
        ("▢   ▢   ▢  …  ▢", "42 switches, 6 links down, 1 up"),
        ("│ ╳ │ ╳ │     │", "blocking 4:1 (nodes : links up)"),
        ("▢   ▢   ▢  …  ▢", "36 switches, 28 links down, 7 up"),
        ("├┬┐ ├┬┐ ├┬┐   ├┬┐", ""),
        ("●●● ●●● ●●● … ●●●", "1,008 nodes, 28 under each switch"),
    ]


@pytest.mark.parametrize("name", ["cab", "helios", "summit"])
def test_a_network_declared_non_blocking_does_not_block(name: str) -> None:
    """Nor has it more links up than down, which would be "blocking 0.889:1"."""
    found = cluster_file.find(name)
    assert found.network is not None
    assert re.search("non-blocking|blocking 1:1", found.network.source)
    links = {words for _, words in drawing(found.network, found.nodes) if "blocking" in words}
    assert links == {"blocking 1:1 (nodes : links up)"}


def test_a_flat_network_is_one_switch_and_a_torus_has_rings() -> None:
    flat = cluster_file.find("tara").network
    assert flat is not None
    switch, _, nodes = (words for _, words in drawing(flat, 42))
    assert shows(switch, "1 switch", "42 links") and shows(nodes, "42 nodes", "one switch")
    torus = flat.model_copy(update={"topology": "torus", "dimensions": (4, 4, 2)})
    assert next(drawing(torus, 32))[1] == "torus of 4 x 4 x 2 nodes"


def test_a_cluster_is_shown_with_its_sources(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "show", "stampede2"]) == 0
    out = capsys.readouterr().out
    assert "blocking 1.4:1" in out
    assert "33 MiB shared by 24 cores" in out
    assert "48" in next(line for line in out.splitlines() if "port" in line)
    assert "I_MPI_EAGER_THRESHOLD" in out


def test_every_number_of_a_file_is_displayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What simulations take in place of a default, too."""
    given = {
        name: Quantity(value=v, source=f"of {name}")
        for name, v in (
            ("rendezvous_latencies", 2.5),
            ("cached_bytes", 4096),
            ("send_overhead_s", 1e-7),
            ("receive_overhead_s", 2e-7),
            ("memory_bytes_per_byte", 3),
            ("left", 0.4),
        )
    }
    moved, left = given.pop("memory_bytes_per_byte"), given.pop("left")
    cluster = described()
    assert cluster.mpi is not None and cluster.network is not None
    *lower, top = cluster.network.levels
    levels = (*lower, top.model_copy(update={"left": left}))
    changes = {
        "mpi": cluster.mpi.model_copy(update=given),
        "network": cluster.network.model_copy(update={"levels": levels}),
        "messages": tuple(
            one.model_copy(update={"memory_bytes_per_byte": moved}) for one in cluster.messages[:1]
        ),
    }
    cluster_file.write(cluster.model_copy(update=changes), tmp_path / "mine.toml")
    assert main(["cluster", "show", str(tmp_path / "mine.toml")]) == 0
    out = capsys.readouterr().out
    for words in (
        "2.5 latencies",
        "up to 4 KiB",
        "send overhead per message: 100 ns",
        "receive overhead per message: 200 ns",
        "3 bytes of memory traffic",
        "40 % of the links up to level 2",
        *(f"of {name}" for name in given),
        "of memory_bytes_per_byte",
        "of left",
    ):
        assert words in out


def test_a_file_is_printed_as_simulated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    cluster_file.write(described(), path)
    assert main(["cluster", "show", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1] == str(path)
    assert any({"allreduce", "rdb"} <= set(re.findall(r"\w+", line)) for line in out.splitlines())


def test_a_user_file_that_hides_a_shipped_one_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    cluster_file.write(described(), Path("clusters", "tara.toml"))
    assert main(["cluster", "show", "tara"]) == 0
    hiding = f"\n{tmp_path / 'clusters' / 'tara.toml'}, which replaces haloscope's own\n"
    assert hiding in capsys.readouterr().out
    assert cluster_file.of_the_user("stampede2") == ""


def test_every_cluster_file_can_be_simulated() -> None:
    assert {"stampede2", "tara"} <= set(cluster_file.ready())
    for name in cluster_file.ready():
        one = place(name)
        assert isinstance(one, SimulatedCluster)
        assert one.cluster.name == name


def test_simgrid_is_found_by_its_prefix_or_installation_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "own" / "bin"
    programs.mkdir(parents=True)
    for name in ("smpicxx", "smpirun"):
        (programs / name).write_text("#!/bin/sh\necho SimGrid version 9.9\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("SIMGRID_ROOT", str(tmp_path / "own"))
    found = smpi()
    assert (found.mpicxx, found.mpirun) == (programs / "smpicxx", programs / "smpirun")
    assert found.version == "SimGrid 9.9"
    monkeypatch.delenv("SIMGRID_ROOT")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="apt install simgrid libsimgrid-dev"):
        smpi()


def test_traffic_of_other_jobs_reduces_the_bandwidth_of_a_level() -> None:
    eagle = cluster_file.find("eagle")
    assert eagle.network is not None
    *lower, top = eagle.network.levels
    busy = top.model_copy(update={"left": Quantity(value=0.4, source="a test")})
    network = eagle.network.model_copy(update={"levels": (*lower, busy)})
    text = simgrid_files.platform(eagle.model_copy(update={"network": network}), [0, 1, 200])
    lines = [line for line in text.splitlines() if line.startswith(("fat_tree", "left"))]
    assert lines[:3] == ["fat_tree 28 1 1", "fat_tree 6 7 1", "fat_tree 6 1 1"]
    assert lines[3:] == ["left 2 0 0.4", "left 2 1 0.4"]


@pytest.mark.parametrize(("version", "good"), [("3.31", False), ("3.32", True), ("4.1", True)])
def test_a_simgrid_that_cannot_build_platforms_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, good: bool
) -> None:
    for name in ("smpicxx", "smpirun"):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\necho SimGrid version {version}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("SIMGRID_ROOT", str(tmp_path))
    if good:
        assert smpi().version == f"SimGrid {version}"
        return
    with pytest.raises(UserError, match=r"SimGrid 3\.31.* 3\.32[^$]*SIMGRID_ROOT"):
        smpi()


@pytest.mark.parametrize(("version", "expected"), [("4.1", 1), ("3.32", 1), ("4.9", 2)])
def test_a_platform_build_failure_suggests_another_simgrid(
    monkeypatch: pytest.MonkeyPatch, version: str, expected: int
) -> None:
    """What the compiler said, and the version beside it where nobody has tried that."""

    def fails(*_: object, **__: object) -> Path:
        raise UserError(Problem("halobench", "it does not build", "see the log"))

    monkeypatch.setattr("haloscope.toolchains.build.build", fails)
    wrapper = Path("/opt/smpicxx")
    toolchain = Toolchain("simgrid", None, wrapper, wrapper, "simgrid", f"SimGrid {version}")
    with pytest.raises(UserError) as raised:
        make(Build(toolchain, Path("builds"), "hash"), [], say=print)
    assert len(raised.value.problems) == expected
    if expected == 2:
        other = raised.value.problems[1]
        assert other.where == "/opt/smpicxx"
        assert all(each in other.what for each in ("4.9", "3.32", "4.1"))
        assert "haloscope toolchain add simgrid" in other.remedy


def test_store_costs_are_displayed_if_the_file_has_them() -> None:
    one = described()
    assert "stores" not in simgrid_files.machine_file(one, case("stream"))
    cost = Quantity(value=0.25, source="a test")
    memory = tuple(each.model_copy(update={"store_cost": cost}) for each in one.node.memory)
    other = one.model_copy(update={"node": one.node.model_copy(update={"memory": memory})})
    machine = simgrid_files.machine_file(other, case("stream")).splitlines()
    assert [line for line in machine if line.startswith("stores")] == [
        "stores 1 0.25",
        "stores 4 0.25",
    ]
    assert "stores" not in "".join(lines(other))


def test_parallel_region_costs_are_displayed() -> None:
    one = described()
    assert "region" not in simgrid_files.machine_file(one, case("stream"))
    cost = Quantity(value=2e-6, source="a test")
    regions = (ParallelRegion(threads=4, cost_s=cost),)
    other = one.model_copy(update={"node": one.node.model_copy(update={"regions": regions})})
    assert "region 4 2e-06" in simgrid_files.machine_file(other, case("stream")).splitlines()


def test_an_unknown_cluster_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UserError, match="did you mean 'stampede2'"):
        place("stampeed2")


def test_a_user_file_is_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cluster_file.write(described(mpi=None), tmp_path / "clusters" / "tiny.toml")
    with pytest.raises(UserError, match="cluster tiny: mpi: "):
        place("tiny")
    cluster_file.write(described(), tmp_path / "clusters" / "tiny.toml")
    identity = dict(place("tiny").identity())
    assert len(identity.pop("platform")) == 12
    assert identity == {"host": "tiny", "cpu": "Example CPU, 2.5 GHz", "cores": 4}


def test_socket_settings_are_displayed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "show", "orfeo-thin"]) == 0
    shown = capsys.readouterr().out
    assert "102 GB/s to 12 cores" in shown
    assert "62.4 GB/s" in shown
    assert main(["cluster", "show", "orfeo-thin", "--assumed"]) == 0
    assert "node.socket.memory#2.bandwidth_bytes_per_s = 1.025e+11" in capsys.readouterr().out
