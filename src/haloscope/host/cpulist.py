# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of processors (and ranks) in the kernel's list format, cpuset(7): 0-3,8."""

from __future__ import annotations

from collections.abc import Iterable


def parse_cpu_list(text: str) -> list[int]:
    """Parse the kernel's list format: "0-2,8" is [0, 1, 2, 8]."""
    cpus: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        cpus.extend(range(int(first), int(last or first) + 1))
    return cpus


def cpu_list(cpus: Iterable[int]) -> str:
    """Format processor numbers in the kernel's list format: 0-3,8."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
