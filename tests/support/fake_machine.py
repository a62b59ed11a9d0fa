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
