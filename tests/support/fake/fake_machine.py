# SPDX-License-Identifier: BSD-3-Clause
"""A machine that is not this one, as /proc and /sys trees below a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class FakeMachine:
    """Files below root, as the kernel would show them."""

    root: Path

    def write(self, path: str, text: str) -> FakeMachine:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
        return self

    def cpu(self, number: int, path: str, text: str) -> FakeMachine:
        return self.write(f"sys/devices/system/cpu/cpu{number}/{path}", text)


def two_sockets(root: Path, governor: str = "performance") -> FakeMachine:
    """Two sockets of two cores of two threads.

    Numbered as many machines are: sockets in turn, second threads last. Socket 0 has the cores
    {0, 4} and {2, 6}, socket 1 has {1, 5} and {3, 7}.
    """
    fake = FakeMachine(root)
    fake.write("sys/devices/system/cpu/online", "0-7")
    fake.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Example  CPU 9000\nflags\t: fpu")
    fake.write("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 400 kB")
    fake.write("proc/stat", "cpu  10 20 30 40 50 60 70 80 0 0")
    fake.write("etc/os-release", 'NAME="x"\nPRETTY_NAME="Example Linux 1"')
    for cpu in range(8):
        core = cpu % 4
        fake.cpu(cpu, "topology/thread_siblings_list", f"{core},{core + 4}")
        fake.cpu(cpu, "topology/physical_package_id", str(core % 2))
        fake.cpu(cpu, "cpufreq/scaling_governor", governor)
    socket = "0,2,4,6"
    for index, (level, kind, size, shared) in enumerate(
        [
            ("1", "Data", "32K", "0,4"),
            ("1", "Instruction", "64K", "0,4"),
            ("2", "Unified", "1M", "0,4"),
            ("3", "Unified", "8192K", socket),
        ]
    ):
        for name, text in (("level", level), ("type", kind), ("size", size)):
            fake.cpu(0, f"cache/index{index}/{name}", text)
        fake.cpu(0, f"cache/index{index}/shared_cpu_list", shared)
    return fake


def hybrid_laptop(root: Path) -> FakeMachine:
    """An Intel Core i7-1260P: four P-cores of two threads, and eight E-cores, four to an L2 cache.

    Performance cores are clocked to 4.7 GHz, two of them a little less; the others to 3.4 GHz.
    """
    fake = FakeMachine(root)
    fake.write("sys/devices/system/cpu/online", "0-15")
    fake.write("sys/devices/system/cpu/present", "0-15")
    fake.write("sys/devices/cpu_core/cpus", "0-7").write("sys/devices/cpu_atom/cpus", "8-15")
    for cpu in range(16):
        first = cpu // 2 * 2
        core = f"{first}-{first + 1}" if cpu < 8 else str(cpu)
        fake.cpu(cpu, "topology/thread_siblings_list", core)
        fake.cpu(cpu, "topology/physical_package_id", "0")
        frequency = 3_400_000 if cpu >= 8 else 4_700_000 if cpu >= 4 else 4_600_000
        fake.cpu(cpu, "cpufreq/cpuinfo_max_freq", str(frequency))
        fake.cpu(cpu, "cache/index3/level", "3").cpu(cpu, "cache/index3/shared_cpu_list", "0-15")
    return fake


def big_little(root: Path) -> FakeMachine:
    """A Rockchip RK3588: four Cortex-A55 come first, then four Cortex-A76; each core its own L2."""
    fake = FakeMachine(root)
    fake.write("sys/devices/system/cpu/online", "0-7").write(
        "sys/devices/system/cpu/present", "0-7"
    )
    for cpu in range(8):
        fake.cpu(cpu, "topology/thread_siblings_list", str(cpu))
        fake.cpu(cpu, "topology/physical_package_id", "0")
        fake.cpu(cpu, "cpu_capacity", "530" if cpu < 4 else "1024")
        fake.cpu(cpu, "cpufreq/cpuinfo_max_freq", "1800000" if cpu < 4 else "2400000")
        fake.cpu(cpu, "cache/index2/level", "2").cpu(cpu, "cache/index2/shared_cpu_list", str(cpu))
    return fake


def epyc_node(root: Path, cores: int = 128, per_cache: int = 8) -> FakeMachine:
    """Two AMD EPYC: cores of two sockets, so many to an L3 cache, second threads numbered last."""
    fake = FakeMachine(root)
    fake.write("sys/devices/system/cpu/online", f"0-{4 * cores - 1}")
    for cpu in range(4 * cores):
        core = cpu % (2 * cores)
        first = core // per_cache * per_cache
        second = first + 2 * cores
        shared = f"{first}-{first + per_cache - 1},{second}-{second + per_cache - 1}"
        fake.cpu(cpu, "topology/thread_siblings_list", f"{core},{core + 2 * cores}")
        fake.cpu(cpu, "topology/physical_package_id", str(core // cores))
        fake.cpu(cpu, "cache/index3/level", "3").cpu(cpu, "cache/index3/shared_cpu_list", shared)
    return fake
