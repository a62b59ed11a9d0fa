# SPDX-License-Identifier: BSD-3-Clause
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_machine import FakeMachine, big_little, epyc_node, hybrid_laptop, two_sockets

from haloscope.host import cgroups, machine
from haloscope.quantities import cpu_list, parse_cpu_list

EVERY = range(8)


@pytest.fixture
def fake(tmp_path: Path) -> FakeMachine:
    return two_sockets(tmp_path)


def test_the_kernels_list_format() -> None:
    assert parse_cpu_list("0-2,8,10-11\n") == [0, 1, 2, 8, 10, 11]
    assert parse_cpu_list("") == []
    assert cpu_list([11, 8, 0, 1, 2, 10]) == "0-2,8,10-11"
    assert cpu_list([]) == ""


def test_one_processor_per_core_is_listed_socket_by_socket(fake: FakeMachine) -> None:
    assert machine.physical_cores(fake.root, EVERY) == [0, 2, 1, 3]


def test_places_threads_lists_all_threads_core_by_core(fake: FakeMachine) -> None:
    assert machine.processors("threads", fake.root, EVERY) == [0, 4, 2, 6, 1, 5, 3, 7]


def test_the_affinity_mask_decides_which_thread_represents_its_core(fake: FakeMachine) -> None:
    assert machine.physical_cores(fake.root, [7, 4, 5, 1]) == [4, 1, 7]


def test_a_kernel_that_terminates_its_files_with_nul_is_read(fake: FakeMachine) -> None:
    """As that of a Kunpeng 920 among hwloc's test data."""
    for cpu in EVERY:
        fake.cpu(cpu, "topology/physical_package_id", f"{cpu % 2}\n\0")
    assert machine.describe(fake.root)["sockets"] == 2


def test_without_topology_every_processor_counts_as_a_core(tmp_path: Path) -> None:
    assert machine.physical_cores(tmp_path, [3, 1]) == [1, 3]


def test_placements_of_two_ranks(fake: FakeMachine) -> None:
    for cpu in EVERY:
        own = "0,2,4,6" if cpu % 2 == 0 else f"{cpu % 4},{cpu % 4 + 4}"
        fake.cpu(cpu, "cache/index0/level", "3")
        fake.cpu(cpu, "cache/index0/shared_cpu_list", own)
    assert machine.placements(fake.root, EVERY) == {
        "same-core": (0, 4),
        "same-cache": (0, 2),
        "same-socket": (1, 3),
        "other-socket": (0, 1),
        "other-node": None,
    }
    assert machine.placements(fake.root, [0, 2])["same-core"] is None
    assert machine.placements(fake.root, [3]) == dict.fromkeys(machine.PLACEMENTS)


def test_describe_returns_the_content_of_a_record(fake: FakeMachine) -> None:
    described = machine.describe(fake.root)
    assert list(described) == [
        *("host", "cpu", "sockets", "cores", "threads_per_core", "caches"),
        *("memory_bytes", "governor", "os", "topology", "allowed"),
    ]
    assert described["cpu"] == "Example CPU 9000"
    assert (described["sockets"], described["cores"], described["threads_per_core"]) == (2, 4, 2)
    assert described["memory_bytes"] == 1000 * 1024
    assert described["governor"] == "performance"
    assert described["os"].startswith("Example Linux 1, Linux ")
    assert described["caches"] == [
        {"level": 1, "size_bytes": 32768, "shared_by": 1},
        {"level": 2, "size_bytes": 1048576, "shared_by": 1},
        {"level": 3, "size_bytes": 8388608, "shared_by": 2},
    ]


def test_the_topology_groups_processors_from_the_innermost_level(fake: FakeMachine) -> None:
    for cpu in EVERY:
        fake.cpu(cpu, "cache/index0/level", "3")
        fake.cpu(cpu, "cache/index0/shared_cpu_list", "0,2,4,6" if cpu % 2 == 0 else "1,5")
    fake.write("sys/devices/system/node/node0/cpulist", "0-3")
    fake.write("sys/devices/system/node/node1/cpulist", "4-7")
    found = machine.topology(fake.root)
    assert tuple(found) == machine.GROUPS
    assert found["core"] == ["0,4", "1,5", "2,6", "3,7"]
    assert found["cache"] == ["0,2,4,6", "1,5"]
    assert found["numa"] == ["0-3", "4-7"]
    assert found["socket"] == ["0,2,4,6", "1,3,5,7"]


def test_unreadable_values_are_null(tmp_path: Path) -> None:
    described = machine.describe(tmp_path)
    assert described["governor"] is None
    assert described["memory_bytes"] is None
    assert described["caches"] == []


LATER = "cpu  110 0 60 1055 15 0 0 25 0 0"


@pytest.fixture
def idle(fake: FakeMachine, monkeypatch: pytest.MonkeyPatch) -> FakeMachine:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sysconf", lambda _: 100)
    fake.write("proc/stat", "cpu  100 0 50 1000 10 0 0 5 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0")
    return fake


@pytest.mark.parametrize(
    ("later", "busy"),
    [
        (LATER, pytest.approx(8 * 40 / 100)),
        ("cpu  100 0 50 1020 10 0 0 5 0 0", 0.0),
        ("cpu  100 0 50 1000 10 0 0 5 0 0", 0.0),
        ("nonsense", None),
    ],
)
def test_busy_processors_are_sampled_over_a_short_time(
    idle: FakeMachine, monkeypatch: pytest.MonkeyPatch, later: str, busy: float | None
) -> None:
    monkeypatch.setattr(machine, "_own_s", lambda: 0.0)
    pauses: list[float] = []

    def wait(pause_s: float) -> None:
        pauses.append(pause_s)
        idle.write("proc/stat", later)

    assert machine.busy_processors(idle.root, wait=wait) == busy
    assert pauses == [pytest.approx(0.1)]


@pytest.mark.parametrize(("own_s", "busy"), [(0.1, 8 * 30 / 100), (9.0, 0.0)])
def test_busy_processors_since_a_sample_exclude_our_own(
    idle: FakeMachine, monkeypatch: pytest.MonkeyPatch, own_s: float, busy: float
) -> None:
    since = machine.used(idle.root)
    assert since
    monkeypatch.setattr(machine, "_own_s", lambda: since.own + own_s)
    idle.write("proc/stat", LATER)  # 0.125 s of 8 processors, which is long enough
    found = machine.busy_processors(idle.root, since, lambda _: pytest.fail("a pause"))
    assert found == pytest.approx(busy)


def test_different_governors_are_all_named(fake: FakeMachine) -> None:
    fake.cpu(3, "cpufreq/scaling_governor", "powersave")
    assert machine.governor(fake.root) == "performance, powersave"


def test_without_a_cgroup_all_free_memory_is_available(fake: FakeMachine) -> None:
    assert machine.memory_available_bytes(fake.root) == 400 * 1024
    assert machine.cpu_quota(fake.root) is None


def test_cgroup_v2_limits_memory_and_the_tightest_level_counts(fake: FakeMachine) -> None:
    fake.write("proc/self/cgroup", "0::/batch/job7")
    job = "sys/fs/cgroup/batch/job7"
    fake.write(f"{job}/memory.max", "max").write(f"{job}/memory.current", "50000")
    fake.write("sys/fs/cgroup/batch/memory.max", "100000")
    fake.write("sys/fs/cgroup/batch/memory.current", "70000")
    fake.write("sys/fs/cgroup/batch/memory.stat", "anon 1\ninactive_file 5000")
    assert machine.memory_available_bytes(fake.root) == 35000


def test_cgroup_v1_limits_memory_if_only_the_container_root_is_mounted(
    fake: FakeMachine,
) -> None:
    fake.write("proc/self/cgroup", "5:memory:/docker/0123\n4:cpu,cpuacct:/docker/0123")
    memory = "sys/fs/cgroup/memory"
    fake.write(f"{memory}/memory.limit_in_bytes", "300000")
    fake.write(f"{memory}/memory.usage_in_bytes", "290000")
    fake.write(f"{memory}/memory.stat", "inactive_file 1\ntotal_inactive_file 2000")
    assert machine.memory_available_bytes(fake.root) == 12000


def test_available_memory_is_never_negative(fake: FakeMachine) -> None:
    fake.write("proc/self/cgroup", "0::/")
    fake.write("sys/fs/cgroup/memory.max", "10").write("sys/fs/cgroup/memory.current", "20")
    assert machine.memory_available_bytes(fake.root) == 0


@pytest.mark.parametrize(
    ("limit", "quota", "cores"),
    [
        ("max 100000", None, [0, 2, 1, 3]),
        ("250000 100000", 2.5, [0, 2]),
        ("50000 100000", 0.5, [0]),
    ],
)
def test_a_cgroup_v2_quota_reduces_the_number_of_cores(
    fake: FakeMachine, limit: str, quota: float | None, cores: list[int]
) -> None:
    fake.write("proc/self/cgroup", "0::/").write("sys/fs/cgroup/cpu.max", limit)
    assert machine.cpu_quota(fake.root) == quota
    assert machine.physical_cores(fake.root, EVERY) == cores


def test_cgroup_v1_quota(fake: FakeMachine) -> None:
    fake.write("proc/self/cgroup", "4:cpuacct,cpu:/a").write("sys/fs/cgroup/cpu/a/x", "")
    fake.write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "150000")
    fake.write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000")
    fake.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1")
    fake.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000")
    assert machine.cpu_quota(fake.root) == 1.5


def test_this_machine_can_be_described() -> None:
    described = machine.describe()
    assert 1 <= len(machine.physical_cores()) <= described["cores"]
    assert 0 < machine.memory_available_bytes() <= described["memory_bytes"]


def test_placements_cover_a_node_with_many_cores(tmp_path: Path) -> None:
    fake = epyc_node(tmp_path, cores=16, per_cache=4)

    assert machine.placements(fake.root, range(64)) == {
        "same-core": (0, 32),
        "same-cache": (0, 1),
        "same-socket": (0, 4),
        "other-socket": (0, 16),
        "other-node": None,
    }
    assert machine.placements(fake.root, [3, 4, 5, 17, 30]) == {
        "same-core": None,
        "same-cache": (4, 5),
        "same-socket": (3, 4),
        "other-socket": (3, 17),
        "other-node": None,
    }


def test_placements_visit_each_core_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They looked at each pair: 12 s on a node of 256 cores."""
    looks: list[Path] = []
    read = cgroups.read

    def counted(path: Path) -> str | None:
        looks.append(path)
        return read(path)

    monkeypatch.setattr(cgroups, "read", counted)
    numbers = []
    for cores in (8, 16):
        fake = epyc_node(tmp_path / str(cores), cores)
        looks.clear()
        machine.placements(fake.root, range(2 * cores))
        numbers.append(len(looks))

    assert numbers[1] <= 2 * numbers[0]


@pytest.mark.parametrize(
    ("build", "kinds", "first"),
    [
        (
            hybrid_laptop,
            {("P-cores", "4.7 GHz"): [*range(8)], ("E-cores", "3.4 GHz"): [*range(8, 16)]},
            [0, 2, 4, 6, 8],
        ),
        (
            big_little,
            {
                ("cores of capacity 1024", "2.4 GHz"): [4, 5, 6, 7],
                ("cores of capacity 530", "1.8 GHz"): [0, 1, 2, 3],
            },
            [4, 5, 6, 7, 0],
        ),
        (two_sockets, {("cores",): [*range(8)]}, [0, 2, 1, 3]),
    ],
)
def test_cores_of_different_types_are_distinguished_and_the_fastest_used_first(
    tmp_path: Path,
    build: Callable[[Path], FakeMachine],
    kinds: dict[tuple[str, ...], list[int]],
    first: list[int],
) -> None:
    root = build(tmp_path).root

    told = machine.core_kinds(root)
    assert {tuple(kind.split(" up to ")): cores for kind, cores in told.items()} == kinds
    assert machine.physical_cores(root, range(16 if build is hybrid_laptop else 8))[:5] == first
    found = machine.topology(root).get("kind")
    assert found == ([cpu_list(one) for one in kinds.values()] if len(kinds) > 1 else None)


def test_two_ranks_are_placed_on_cores_of_the_same_type(tmp_path: Path) -> None:
    fake = big_little(tmp_path)

    assert machine.placements(fake.root, range(8))["same-socket"] == (4, 5)
    assert machine.placements(fake.root, [0, 1, 2, 7])["same-socket"] == (0, 1)
    assert machine.placements(fake.root, [0, 7])["same-socket"] is None


def test_frequencies_missing_for_some_cores_define_no_core_types(tmp_path: Path) -> None:
    fake = two_sockets(tmp_path).cpu(0, "cpufreq/cpuinfo_max_freq", "3000000")

    assert [*machine.core_kinds(fake.root)] == ["cores"]
