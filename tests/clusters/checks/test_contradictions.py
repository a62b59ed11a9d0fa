# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of cluster files that contradict each other, or are impossible for any machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cluster_files import changed, described, quantity, refused
from noted import shows

from haloscope.clusters import file as cluster_file
from haloscope.clusters.checks.contradictions import contradictions
from haloscope.clusters.schema import Cluster
from haloscope.errors import UserError


@pytest.mark.parametrize(
    ("old", "new", "key", "what"),
    [
        (
            "cores = 32\n",
            "cores = 320\n",
            "node.memory#6.cores",
            "320 is more than the 48 cores",
        ),
        ("cores = 32\n", "cores = 16\n", "node.memory#6.cores", "16 is given twice"),
        (
            "value = 190.5e9",
            "value = 1.9e9",
            "node.memory#7.bandwidth_bytes_per_s",
            "1.90 GB/s for 48 cores is much less",
        ),
        (
            "value = 17.1e9",
            "value = 14.4e9",
            "node.memory#2.bandwidth_bytes_per_s",
            "16.7 GB/s per core with 2 cores exceeds 14.4 GB/s per core with 1",
        ),
        (
            "value = 179.34e9",
            "value = 275.6e9",
            "node.memory#5.bandwidth_bytes_per_s",
            "17.2 GB/s per core with 16 cores exceeds 15.3 GB/s per core with 8",
        ),
        (
            "shared_by = 24\n",
            "shared_by = 24\nusable_bytes = { value = 34603009, source = 'x' }\n",
            "node.caches#2.usable_bytes",
            "34,603,009 bytes exceed size_bytes = 34,603,008",
        ),
        (
            "value = 22.6e9",
            "value = 37.4e9",
            "node.caches#2.crowded_bytes_per_s",
            "37.4 GB/s per core exceeds 29.9 GB/s of a single core",
        ),
        ("sockets = 2", "sockets = 5", "node.cores", "48 cores cannot be divided among 5 sockets"),
        *(
            (
                "shared_by = 24",
                f"shared_by = {cores}",
                "node.caches#2.shared_by",
                f"the 24 cores of a socket cannot be divided into groups of {cores}",
            )
            for cores in (7, 48)
        ),
        ("level = 3", "level = 2", "node.caches", "duplicate entries for L2"),
        ("34603008", "34603", "node.caches", "L2 is larger than L3: 1 MiB and 33.8 KiB"),
        ("29.9e9", "400e9", "node.caches", "L2 is slower than L3: 178 GB/s and 400 GB/s"),
        (
            "memory_bytes = 206158430208",
            "memory_bytes = 1",
            "node.memory_bytes",
            "1 B is less than",
        ),
        *(
            (
                "memory_bytes = 206158430208",
                f"memory_bytes = 206158430208\nsmt_gain = {{ value = {gain}, source = 'x' }}",
                "node.smt_gain",
                f"{gain} is out of range for 2 hardware threads",
            )
            for gain in (0.4, 3)
        ),
        *(
            (
                f"[node.{key}]\nvalue = {value}",
                f"[node.{key}]\nvalue = 99",
                f"node.{key}",
                "99 is out of range",
            )
            for key, value in (("sharpness", 1.8), ("knee", 1.7))
        ),
        *(
            (
                "slowest = true\nnodes = { value = 0.012",
                f"{key} = {{ value = 1.2",
                f"node.spread.{key}",
                "1.2 is out of range",
            )
            for key in ("nodes", "phases")
        ),
        *(
            (
                "[node.spread]",
                "[[node.unbound]]\nprocesses = 1\n"
                f"share = {{ value = {share}, source = 'x' }}\n"
                f"slower = {{ value = {slower}, source = 'x' }}\n[node.spread]",
                f"node.unbound#1.{key}",
                f"{value} is out of range",
            )
            for key, share, slower, value in (("share", 1.5, 2, "1.5"), ("slower", 1, 0.5, "0.5"))
        ),
        (
            "cores = 1\n",
            "cores = 1\nstore_cost = { value = 0.5, source = 'x' }\n",
            "node.memory",
            "'store_cost' is given for only some numbers of cores",
        ),
        (
            "[node.spread]\nslowest = true\nnodes",
            "[node.spread]\n# nodes",
            "node.spread",
            "the table is empty",
        ),
        (
            "slowest = true\nnodes =",
            "slowest = true\nphases =",
            "node.spread.slowest",
            "the variability between nodes is missing",
        ),
        (
            "{ children = 62,",
            "{ left = { value = 1.2, source = 'x' }, children = 62,",
            "network.levels#2.left",
            "1.2 is out of range",
        ),
        *(
            (
                "[mpi]\n",
                f"[others]\n{said}\n[mpi]\n",
                f"others.{key}",
                what,
            )
            for said, key, what in (
                ("occupancy = { value = 1, source = 'x' }", "occupancy", "1 is out of range"),
                (
                    "occupancy = { value = 0.9, source = 'x' }\n"
                    "traffic = { value = 1.5, source = 'x' }",
                    "traffic",
                    "1.5 is out of range",
                ),
            )
        ),
        ("levels = [", "# [", "network.levels", "required for a fat tree"),
        ('"fat_tree"\nlevels', '"torus"\n# levels', "network.dimensions", "required for a torus"),
        (
            "levels = [",
            "dimensions = [1]\nlevels = [",
            "network.dimensions",
            "not allowed for a fat",
        ),
        (
            '"fat_tree"',
            '"torus"\ndimensions = [31, 56]',
            "network.levels",
            "not allowed for a torus",
        ),
        ('"fat_tree"', '"flat"', "network.levels", "not allowed for a flat network"),
        (
            '"fat_tree"\nlevels',
            '"flat"\ndimensions = [31, 56]\n# levels',
            "network.dimensions",
            "not allowed for a flat network",
        ),
        (
            "{ children = 62,",
            "{ children = 61,",
            "network.levels",
            "a 28 x 61 fat tree has room for 1,708 nodes, but the cluster has 1,736",
        ),
        *(
            (
                "ports = 48 }, { children = 62, parents = 20 }",
                f"ports = 99 }}, {level}",
                "network.levels#2",
                f"a switch has 28 links down, but {up} up",
            )
            for level, up in (
                ("{ children = 62, parents = 29 }", "29"),
                ("{ children = 62, parents = 15, links = 2 }", "30"),
            )
        ),
        (
            "levels = [{ children = 28, ports = 48 }",
            "levels = [{ children = 28, parents = 17 }",
            "network.levels#1",
            "17 links per node is out of range",
        ),
        (
            "ports = 48",
            "ports = 36",
            "network.levels#1.ports",
            "36 ports are fewer than the 48 links",
        ),
        (
            "link_bandwidth_bytes_per_s = { value = 12.5e9",
            "link_bandwidth_bytes_per_s = { value = 12.5e12",
            "network.link_bandwidth_bytes_per_s",
            "12,500 GB/s is out of range",
        ),
        (
            "link_latency_s = { value = 0.55e-6",
            "link_latency_s = { value = 0.55e-9",
            "network.link_latency_s",
            "0.550 ns is out of range",
        ),
        (
            "memory_bytes = 206158430208",
            "memory_bytes = 40000000",
            "node.memory_bytes",
            "38.1 MiB is too little for 48 cores",
        ),
        (
            'placement = "same-node"',
            'placement = "samenode"',
            "messages#1.placement",
            "unknown placement 'samenode'",
        ),
        ("allreduce =", "allreduc =", "mpi.collectives.allreduc", "unknown operation"),
        (
            'algorithm = "redbcast"',
            'algorithm = "foo"',
            "mpi.collectives.allreduce.algorithm",
            "unknown algorithm 'foo'",
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


@pytest.mark.parametrize(
    ("levels", "most"),
    [
        ("{ children = 28, ports = 99 }, { children = 62, parents = 29 }", 28),
        ("{ children = 28, parents = 17 }, { children = 62, parents = 20 }", 16),
    ],
)
def test_the_remedy_for_too_many_links_has_their_limit(
    tmp_path: Path, levels: str, most: int
) -> None:
    """As many as there are links down from a switch, or cards of a node."""
    _, error = refused(
        tmp_path, ("{ children = 28, ports = 48 }, { children = 62, parents = 20 }", levels)
    )
    (problem,) = error.problems
    assert re.search(rf"at most {most}\b", problem.remedy)


SOCKET = """
[[node.socket.memory]]
cores = 1
bandwidth_bytes_per_s = { value = 16e9, source = "a test" }
[[node.socket.memory]]
cores = 24
bandwidth_bytes_per_s = { value = 93e9, source = "a test" }
[node.socket.link]
bandwidth_bytes_per_s = { value = 41.6e9, source = "a test" }
latency_s = { value = 0.2e-6, source = "a test" }

[[node.caches]]
level = 2
"""


def with_sockets(*changes: tuple[str, str]) -> tuple[str, str]:
    """The change that gives a file's sockets memories of their own, with changes of that."""
    text = SOCKET
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return "[[node.caches]]\nlevel = 2\n", text


@pytest.mark.parametrize(
    ("old", "new", "key", "what"),
    [
        (
            "cores = 24",
            "cores = 25",
            ".memory#2.cores",
            "25 is more than the 24 cores",
        ),
        ("cores = 24", "cores = 1", ".memory#2.cores", "1 is given twice"),
        (
            "value = 93e9",
            "value = 7e9",
            ".memory#2.bandwidth_bytes_per_s",
            "7.00 GB/s for 24 cores is much less than 16.0 GB/s for 1",
        ),
        (
            "value = 93e9",
            "value = 930e9",
            ".memory#2.bandwidth_bytes_per_s",
            "38.8 GB/s per core with 24 cores exceeds 16.0 GB/s per core with 1",
        ),
        ("value = 93e9", "value = 40e9", ".memory", "2 sockets together have 80.0 GB/s"),
        ("value = 93e9", "value = 200e9", ".memory", "2 sockets together have 400 GB/s"),
        ("41.6e9", "41.6e12", ".link.bandwidth_bytes_per_s", "41,600 GB/s is out of range"),
        ("0.2e-6", "0.2", ".link.latency_s", "0.2 seconds is out of range"),
        ("latency_s", "# latency_s", ".link.latency_s", "missing"),
    ],
)
def test_impossible_socket_counts_are_named(
    tmp_path: Path, old: str, new: str, key: str, what: str
) -> None:
    cluster_file.load(changed(tmp_path, with_sockets()))
    path, error = refused(tmp_path, with_sockets((old, new)))
    assert f"{path}: node.socket{key}" == error.problems[0].where
    assert error.problems[0].what.startswith(what)


def test_socket_counts_that_are_one_or_do_not_divide_the_cores_are_named(tmp_path: Path) -> None:
    path, error = refused(tmp_path, with_sockets(), ("sockets = 2", "sockets = 5"))
    assert error.problems[0].where == f"{path}: node.cores"
    assert shows(error.problems[0].what, "48 cores", "5 sockets")
    path, error = refused(tmp_path, with_sockets(), ("sockets = 2", "sockets = 1"))
    (problem,) = error.problems
    assert problem.where == f"{path}: node.socket"
    assert shows(problem.what, "one socket")


@pytest.mark.parametrize("key", ["memory", "link"])
def test_socket_settings_must_be_complete(tmp_path: Path, key: str) -> None:
    parts = re.split(r"(?=\n\[)", SOCKET)
    left = "".join(part for part in parts if f"node.socket.{key}]" not in part)
    path, error = refused(tmp_path, ("[[node.caches]]\nlevel = 2\n", left))
    assert f"{path}: node.socket.{key}" in [problem.where for problem in error.problems]


def test_messages_between_sockets_require_their_own_latency(tmp_path: Path) -> None:
    other = """
[[messages]]
placement = "other-socket"
mpi = "Intel MPI 18.0.0"
latency_s = { value = 0.9e-6, source = "a test" }
bandwidth_bytes_per_s = { value = 6e9, source = "a test" }
"""
    path = changed(tmp_path, with_sockets(("latency_s", "# latency_s")))
    path.write_text(path.read_text(encoding="utf-8") + other)
    assert cluster_file.load(path).node.socket is not None


def test_an_unknown_algorithm_error_lists_the_valid_ones(tmp_path: Path) -> None:
    _, error = refused(tmp_path, ('"redbcast"', '"xyzzy"'))
    assert shows(str(error), "'xyzzy'", "lr, mpich, mvapich2")


def test_contradictory_numbers_are_named(tmp_path: Path) -> None:
    path, error = refused(tmp_path, ("by = 1\n", "by = 5\n"), ("by = 24", "by = 96"))
    for problem, number, cores in zip(error.problems, (1, 2), (5, 96), strict=True):
        assert problem.where == f"{path}: node.caches#{number}.shared_by"
        assert shows(problem.what, "24 cores", f" {cores}")


def test_an_excessive_store_cost_is_named(tmp_path: Path) -> None:
    text = cluster_file.ready()["stampede2"].read_text(encoding="utf-8")
    path = tmp_path / "odd.toml"
    cost = "store_cost = { value = 5, source = 'x' }"
    path.write_text(text.replace("[[node.memory]]\n", f"[[node.memory]]\n{cost}\n"))
    with pytest.raises(UserError) as raised:
        cluster_file.load(path)
    first, *others = raised.value.problems
    assert (first.where, first.what) == (f"{path}: node.memory#1.store_cost", "5 is out of range")
    assert len(others) == 6


@pytest.mark.parametrize(
    ("regions", "key", "what"),
    [
        ([(1, 1e-6)], "#1.threads", "1 is out of range for a node with 96 hardware threads"),
        ([(97, 1e-6)], "#1.threads", "97 is out of range for a node with 96 hardware threads"),
        ([(2, 1e-6), (4, 1e-6), (4, 2e-6)], "#2.threads", "4 is given twice"),
        ([(2, 20.0)], "#1.cost_s", "20 seconds is out of range"),
    ],
)
def test_impossible_parallel_regions_are_named(
    tmp_path: Path, regions: list[tuple[int, float]], key: str, what: str
) -> None:
    text = cluster_file.ready()["stampede2"].read_text(encoding="utf-8")
    path = tmp_path / "odd.toml"
    tables = [
        f"[[node.regions]]\nthreads = {threads}\ncost_s = {{ value = {cost_s}, source = 'x' }}\n"
        for threads, cost_s in regions
    ]
    path.write_text(text + "\n" + "".join(tables))
    with pytest.raises(UserError) as raised:
        cluster_file.load(path)
    first = raised.value.problems[0]
    assert (first.where, first.what) == (f"{path}: node.regions{key}", what)


def test_memory_bandwidth_that_falls_with_cores_is_named(tmp_path: Path) -> None:
    """Though no step of the curve falls by half."""
    falls = (("179.34e9", "90e9"), ("201.43e9", "65e9"), ("190.5e9", "50e9"))
    changes = [(f"value = {old}", f"value = {new}") for old, new in falls]
    path, error = refused(tmp_path, *changes)
    (problem,) = error.problems
    assert problem.where == f"{path}: node.memory#7.bandwidth_bytes_per_s"
    assert shows(problem.what, "50.0 GB/s", "48 cores", "122 GB/s", " 8")
    assert "combined bandwidth" in problem.remedy
    cluster_file.load(changed(tmp_path, *changes[:2], ("value = 190.5e9", "value = 62e9")))


@pytest.mark.parametrize(
    "change",
    [
        ("value = 17.1e9", "value = 15.4e9"),  # 7.9 % less than each of two cores has
        ("value = 22.6e9", "value = 37.3e9"),
        (
            "shared_by = 24\n",
            "shared_by = 24\nusable_bytes = { value = 34603008, source = 'x' }\n",
        ),
        ("shared_by = 24", "shared_by = 8"),
    ],
)
def test_plausible_measurement_gaps_are_not_contradictions(
    tmp_path: Path, change: tuple[str, str]
) -> None:
    cluster_file.load(changed(tmp_path, change))


def pieces(tmp_path: Path, *ends: tuple[int, int]) -> Path:
    """A ready cluster file with protocols of these first and last sizes."""
    path = changed(tmp_path)
    takes = "latency_s = { value = 1e-6, source = 'x' }"
    said = (f"{{ first_bytes = {one}, last_bytes = {last}, {takes} }}" for one, last in ends)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"protocols = [{', '.join(said)}]\n")
    return path


@pytest.mark.parametrize(
    ("ends", "key", "what"),
    [
        (((0, 8), (64, 9)), "protocols#2.last_bytes", "9 is less than first_bytes = 64"),
        (
            ((0, 8), (8, 64)),
            "protocols#2.first_bytes",
            "8 overlaps the previous piece, which ends at 8",
        ),
        (
            ((65, 128), (0, 64)),
            "protocols#2.first_bytes",
            "0 overlaps the previous piece, which ends at 128",
        ),
    ],
)
def test_pieces_are_in_ascending_order_of_size(
    tmp_path: Path, ends: tuple[tuple[int, int], ...], key: str, what: str
) -> None:
    path = pieces(tmp_path, *ends)
    with pytest.raises(UserError) as raised:
        cluster_file.load(path)
    (problem,) = raised.value.problems
    assert problem.where == f"{path}: messages#1.{key}"
    assert problem.what == what


def test_pieces_may_cover_a_single_size_and_leave_gaps(tmp_path: Path) -> None:
    (found,) = cluster_file.load(pieces(tmp_path, (0, 0), (1, 64), (128, 256))).messages
    assert [piece.last_bytes for piece in found.protocols] == [0, 64, 256]


def test_a_piece_gives_the_time_of_its_messages(tmp_path: Path) -> None:
    path = changed(tmp_path)
    with path.open("a", encoding="utf-8") as file:
        file.write("protocols = [{ first_bytes = 0, last_bytes = 8 }]\n")
    with pytest.raises(UserError) as raised:
        cluster_file.load(path)
    (problem,) = raised.value.problems
    assert problem.where == f"{path}: messages#1.protocols#1"
    assert "'latency_s'" in problem.what


@pytest.mark.parametrize(
    ("table", "said", "key", "what"),
    [
        ("[[messages]]", "memory_bytes_per_byte = inf", "messages#1.memory_bytes_per_byte", "inf"),
        ("[[messages]]", "memory_bytes_per_byte = 0.9", "messages#1.memory_bytes_per_byte", "0.9"),
        ("[mpi]", "rendezvous_latencies = inf", "mpi.rendezvous_latencies", "inf is out of range"),
        ("[mpi]", "rendezvous_latencies = 0.5", "mpi.rendezvous_latencies", "0.5 is out of range"),
        (
            "[mpi]",
            "cached_bytes = 41943040",
            "mpi.cached_bytes",
            "40 MiB exceeds",
        ),
        ("[mpi]", "send_overhead_s = 0.8e-6", "mpi.send_overhead_s", "800 ns at both ends"),
        ("[mpi]", "receive_overhead_s = 1e-6", "mpi.receive_overhead_s", "1.00 µs at both ends"),
        ("[network]", "left = 1e-4", "network.levels#1.left", "0.0001 is out of range"),
        ("[network]", "left = 1.1", "network.levels#1.left", "1.1 is out of range"),
    ],
)
def test_numbers_beyond_the_limits_of_simulation_are_named(
    tmp_path: Path, table: str, said: str, key: str, what: str
) -> None:
    """Before anything is launched: SimGrid would end with words of its own, or never."""
    name, value = said.split(" = ")
    given = f"{name} = {{ value = {value}, source = 'x' }}"
    change = (
        ("levels = [{", f"levels = [{{ {given},")
        if name == "left"
        else (f"{table}\n", f"{table}\n{given}\n")
    )
    path, error = refused(tmp_path, change)
    (problem,) = error.problems
    assert problem.where == f"{path}: {key}"
    assert problem.what.startswith(what)


def test_impossible_hardware_threads_are_named(tmp_path: Path) -> None:
    path, error = refused(tmp_path, ("threads_per_core = 2", "threads_per_core = 1000000000000"))
    (problem,) = error.problems
    assert problem.where == f"{path}: node.threads_per_core"
    assert shows(problem.what, "48,000,000,000,000 hardware threads")


def test_messages_of_a_placement_are_defined_once_per_library(tmp_path: Path) -> None:
    path = changed(tmp_path)
    head, messages = path.read_text(encoding="utf-8").split("[[messages]]")
    other = messages.replace("Intel MPI 18.0.0", "Intel MPI 19")
    path.write_text("[[messages]]".join([head, messages, other]), encoding="utf-8")
    assert len(cluster_file.load(path).messages) == 2
    path.write_text("[[messages]]".join([head, messages, other, messages]), encoding="utf-8")
    with pytest.raises(UserError) as raised:
        cluster_file.load(path)
    (problem,) = raised.value.problems
    assert problem.where == f"{path}: messages#3.placement"
    assert shows(problem.what, "'same-node'", "Intel MPI 18.0.0")


_OTHERS = "[others]\noccupancy = { value = 0.9, source = 'x' }\n\n[mpi]\n"


@pytest.mark.parametrize(
    ("change", "key", "what"),
    [
        (
            ("{ children = 62,", "{ left = { value = 0.5, source = 'x' }, children = 62,"),
            "network.levels#2.left",
            "cannot be combined with [others]",
        ),
        (
            (
                '"fat_tree"\nlevels = [{ children = 28, ports = 48 }, { children = 62, '
                "parents = 20 }]",
                '"torus"\ndimensions = [31, 56]',
            ),
            "others",
            "the network is a torus",
        ),
    ],
)
def test_other_jobs_without_defined_traffic_are_refused(
    tmp_path: Path, change: tuple[str, str], key: str, what: str
) -> None:
    path, error = refused(tmp_path, ("[mpi]\n", _OTHERS), change)
    (problem,) = error.problems
    assert (problem.where, problem.what) == (f"{path}: {key}", what)


def test_other_jobs_need_a_network(tmp_path: Path) -> None:
    given = described(nodes=1).model_dump(exclude_none=True)
    given["others"] = {"occupancy": quantity(0.5)}
    del given["network"]
    cluster = Cluster.model_validate({**given, "name": "tiny"})
    assert [found.where for found in contradictions(tmp_path, cluster)] == [f"{tmp_path}: others"]
