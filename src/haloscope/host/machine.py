# SPDX-License-Identifier: BSD-3-Clause
"""This machine's processors, caches, and memory, and how much of them this process may use.

Every function reads /proc and /sys below `root`, so that tests can pass another machine.
"""

from __future__ import annotations

import os
import platform
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from haloscope.grouped import grouped
from haloscope.host import cgroups
from haloscope.quantities import cpu_list, parse_cpu_list

ROOT = Path("/")


def describe(root: Path = ROOT) -> dict[str, Any]:
    """Return this machine as in a record's `machine`; what cannot be read is null."""
    cpus = online_cpus(root)
    cores = _cores(cpus, root)
    return {
        "host": platform.node(),
        "cpu": cpu_model(root),
        "sockets": len({_package(cpu, root) for cpu in cpus}),
        "cores": len(cores),
        "threads_per_core": max(len(core) for core in cores),
        "caches": caches(root),
        "memory_bytes": _meminfo("MemTotal", root),
        "governor": governor(root),
        "os": operating_system(root),
        "topology": topology(root),
        "allowed": cpu_list(sorted(os.sched_getaffinity(0))),
    }


GROUPS = ("core", "cache", "numa", "socket")
"""What groups of processors share, from the inside out; `cache` is the last level."""


def topology(root: Path = ROOT) -> dict[str, list[str]]:
    """Return the processors of each group, by GROUPS, in the kernel's list format."""
    cpus = online_cpus(root)
    numa = [
        parse_cpu_list(text)
        for node in (root / "sys/devices/system/node").glob("node[0-9]*")
        if (text := cgroups.read(node / "cpulist"))
    ]
    packages = {_package(cpu, root) for cpu in cpus}
    found: dict[str, Iterable[Iterable[int]]] = {
        "core": (siblings(cpu, root) for cpu in cpus),
        "cache": (_last_cache(cpu, root) for cpu in cpus),
        "numa": numa or [cpus],
        "socket": ([c for c in cpus if _package(c, root) == package] for package in packages),
    }
    groups_of = {
        name: [cpu_list(group) for group in sorted({tuple(sorted(group)) for group in groups})]
        for name, groups in found.items()
    }
    kinds = core_kinds(root)
    return groups_of | (
        {"kind": [cpu_list(cpus) for cpus in kinds.values()]} if len(kinds) > 1 else {}
    )


def core_kinds(root: Path = ROOT) -> dict[str, list[int]]:
    """Return the processors of each kind of core, the fastest first; one entry if all are alike.

    Intel's hybrid processors have a list per kind, and ARM's a capacity per core. Otherwise cores
    differ by their maximum frequency.
    """
    cpus = online_cpus(root)
    efficient = {
        cpu
        for name in ("cpu_atom", "cpu_lowpower")
        for cpu in parse_cpu_list(cgroups.read(root / f"sys/devices/{name}/cpus") or "")
    }
    capacity = _classes({cpu: _number(_cpu_path(cpu, root) / "cpu_capacity") for cpu in cpus})
    frequency = _classes(
        {cpu: _number(_cpu_path(cpu, root) / "cpufreq/cpuinfo_max_freq") for cpu in cpus}
    )
    kinds = grouped(cpus, lambda cpu: (cpu in efficient, -capacity[cpu], -frequency[cpu]))
    found: dict[str, list[int]] = {}
    for (efficiency, less_capacity, slower), own in sorted(kinds.items()):
        name = ("E-cores" if efficiency else "P-cores") if efficient else "cores"
        name += f" of capacity {-less_capacity:g}" if len({*capacity.values()}) > 1 else ""
        name += f" up to {-slower / 1e6:g} GHz" if slower else ""
        found.setdefault(name, []).extend(own)
    return found


_ALIKE = 0.9
"""Share of a kind's largest number: single cores of a kind may have a slightly higher clock."""


def _classes(numbers: Mapping[int, int]) -> dict[int, float]:
    """Return for each processor the largest number of its kind."""
    found: dict[int, float] = dict.fromkeys(numbers, 0.0)
    top = 0.0
    if not all(numbers.values()):  # some are unknown
        return found
    for cpu, number in sorted(numbers.items(), key=lambda item: -item[1]):
        top = number if number < _ALIKE * top or not top else top
        found[cpu] = top
    return found


def _number(path: Path) -> int:
    text = cgroups.read(path)
    return int(text) if text and text.isdecimal() else 0


def processors(
    places: str = "cores", root: Path = ROOT, allowed: Iterable[int] | None = None
) -> list[int]:
    """Return the processors for a job here, neighbours side by side: socket by socket.

    If there are several kinds of cores, the fastest come first, so that few ranks use cores of one
    kind. places: `threads` lists every hardware thread, core by core; otherwise one per core.
    allowed: the processors this process may run on; None: its affinity mask. A cgroup's quota of
    processor time shortens the list, because more processors would be throttled.
    """
    mask = os.sched_getaffinity(0) if allowed is None else allowed
    cores = _cores(sorted(mask), root)
    kinds = {cpu: kind for kind, own in enumerate(core_kinds(root).values()) for cpu in own}
    cores.sort(key=lambda core: kinds.get(core[0], 0))  # otherwise in their order
    cpus = [cpu for core in cores for cpu in (core if places == "threads" else core[:1])]
    quota = cpu_quota(root)
    return cpus if quota is None else cpus[: max(1, int(quota))]


OTHER_SOCKET = "other-socket"
PLACEMENTS = ("same-core", "same-cache", "same-socket", OTHER_SOCKET, "other-node")


def placements(
    root: Path = ROOT, allowed: Iterable[int] | None = None
) -> dict[str, tuple[int, int] | None]:
    """Return for each placement of two ranks two processors that have it, or None.

    same-core: two hardware threads of a core. same-cache: two cores that share their last cache.
    same-socket: two cores of a socket that do not. other-socket: two cores of two sockets.
    other-node is impossible on one machine.
    """
    mask = sorted(os.sched_getaffinity(0) if allowed is None else allowed)
    cores = _cores(mask, root)
    found: dict[str, tuple[int, int] | None] = dict.fromkeys(PLACEMENTS)
    found["same-core"] = next(((core[0], core[1]) for core in cores if len(core) > 1), None)
    for kind in core_kinds(root).values():
        own = {*kind}
        for name, pair in _pairs([core[0] for core in cores if core[0] in own], root):
            found[name] = found[name] or pair
    return found


def _pairs(cpus: Sequence[int], root: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield pairs of cores with the name of their placement; the first pair of each
    name is used.
    """
    first_of: dict[tuple[int, tuple[int, ...]], int] = {}  # by socket and last cache
    together: dict[tuple[int, tuple[int, ...]], tuple[int, int]] = {}
    for cpu in cpus:
        place = _package(cpu, root), tuple(_last_cache(cpu, root))
        if place in first_of:
            together.setdefault(place, (first_of[place], cpu))
        else:
            first_of[place] = cpu
    yield from (("same-cache", together[place]) for place in first_of if place in together)
    firsts: dict[int, int] = {}  # by socket
    for (package, _), cpu in first_of.items():
        if package in firsts:
            yield "same-socket", (firsts[package], cpu)
        elif firsts:
            yield OTHER_SOCKET, (next(iter(firsts.values())), cpu)
        firsts.setdefault(package, cpu)


def _last_cache(cpu: int, root: Path) -> list[int]:
    indices = (_cpu_path(cpu, root) / "cache").glob("index[0-9]*")
    last = max(indices, key=lambda index: int(cgroups.read(index / "level") or 0), default=None)
    text = cgroups.read(last / "shared_cpu_list") if last else None
    return parse_cpu_list(text) if text else [cpu]


def physical_cores(root: Path = ROOT, allowed: Iterable[int] | None = None) -> list[int]:
    """Return one processor of each core that this process may use."""
    return processors("cores", root, allowed)


def memory_available_bytes(root: Path = ROOT) -> int:
    """Return the bytes a job can use now without swapping: the machine's, or the rest of the
    cgroup.
    """
    free = _meminfo("MemAvailable", root)
    if free is None:
        import psutil  # if the kernel does not report it

        free = psutil.virtual_memory().available
    rooms = (cgroups.room_bytes(group) for group in cgroups.folders("memory", root))
    return max(0, min([free, *(room for room in rooms if room is not None)]))


def cpu_quota(root: Path = ROOT) -> float | None:
    """Return the processors whose time the cgroup grants, such as 1.5; None without a limit."""
    quotas = [quota for group in cgroups.folders("cpu", root) if (quota := cgroups.quota(group))]
    return min(quotas, default=None)


def online_cpus(root: Path = ROOT) -> list[int]:
    """Return the numbers of the processors that are online."""
    text = cgroups.read(root / "sys/devices/system/cpu/online")
    return parse_cpu_list(text) if text else list(range(os.cpu_count() or 1))


def present_cpus(root: Path = ROOT) -> list[int]:
    """Return the numbers of all processors, online or offline."""
    text = cgroups.read(root / "sys/devices/system/cpu/present")
    return parse_cpu_list(text) if text else online_cpus(root)


def cpu_model(root: Path = ROOT) -> str:
    """Return the processor's name, or the architecture's if the kernel has no name (as on ARM)."""
    for line in (cgroups.read(root / "proc/cpuinfo") or "").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "cpu model", "Processor", "cpu"):
            return " ".join(value.split())
    return platform.machine()


def caches(root: Path = ROOT) -> list[dict[str, int]]:
    """Return the data caches of the first processor: level, size, and number of cores
    sharing it.
    """
    found = []
    cpu = online_cpus(root)[0]
    for index in sorted((_cpu_path(cpu, root) / "cache").glob("index[0-9]*")):
        size, level = cgroups.read(index / "size"), cgroups.read(index / "level")
        if cgroups.read(index / "type") in ("Data", "Unified") and size and level:
            sharing = parse_cpu_list(cgroups.read(index / "shared_cpu_list") or str(cpu))
            found.append(
                {
                    "level": int(level),
                    "size_bytes": _size_bytes(size),
                    "shared_by": len(_cores(sharing, root)),
                }
            )
    return found


def governor(root: Path = ROOT) -> str | None:
    """Return the frequency governors in use, joined by a comma; None if none is visible."""
    paths = (_cpu_path(cpu, root) / "cpufreq/scaling_governor" for cpu in online_cpus(root))
    return ", ".join(sorted({text for path in paths if (text := cgroups.read(path))})) or None


def operating_system(root: Path = ROOT) -> str:
    """Return distribution and kernel: "Debian GNU/Linux 12 (bookworm), Linux 6.1.0"."""
    kernel = f"{platform.system()} {platform.release()}"
    for line in (cgroups.read(root / "etc/os-release") or "").splitlines():
        if line.startswith("PRETTY_NAME="):
            return f"{line.partition('=')[2].strip().strip(chr(34))}, {kernel}"
    return kernel


@dataclass(frozen=True)
class Used:
    """Processor time in seconds.

    busy, idle: of all processors since the machine started. own: of this process and of its ended
    children.
    """

    busy: float
    idle: float
    own: float


def used(root: Path = ROOT) -> Used | None:
    """Return the processor time used so far; None if it cannot be read (proc(5), stat)."""
    words = (cgroups.read(root / "proc/stat") or "").partition("\n")[0].split()
    if words[:1] != ["cpu"]:
        return None
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    user, nice, system, idle, iowait, irq, softirq, steal = (
        int(word) * tick_s for word in words[1:9]
    )
    return Used(user + nice + system + irq + softirq + steal, idle + iowait, _own_s())


def _own_s() -> float:
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def busy_processors(
    root: Path = ROOT, since: Used | None = None, wait: Callable[[float], None] = time.sleep
) -> float | None:
    """Return how many processors other programs and other guests of the hypervisor use.

    since: start of the interval; None: a pause of 0.1 s. The time of this process and its children
    is not counted. The load average is unsuitable: a minute later it still contains haloscope's own
    compilations.
    """
    processors = os.cpu_count() or 1
    before, after = since or used(root), used(root)
    if before and after:
        seen_s = (after.busy + after.idle - before.busy - before.idle) / processors
        if seen_s < _SEEN_S:
            wait(_SEEN_S - seen_s)
            after = used(root)
    if before is None or after is None:
        return None
    busy, idle = after.busy - before.busy, after.idle - before.idle
    others = max(0.0, busy - (after.own - before.own))
    return processors * others / (busy + idle) if busy + idle > 0 else 0.0


_SEEN_S = 0.1
"""_SEEN_S is ten ticks of each processor, so a tenth of a processor is detected."""


def siblings(cpu: int, root: Path = ROOT) -> list[int]:
    """Return the hardware threads of the core that `cpu` belongs to, including itself."""
    text = cgroups.read(_cpu_path(cpu, root) / "topology/thread_siblings_list")
    return parse_cpu_list(text) if text else [cpu]


def _cores(cpus: Iterable[int], root: Path) -> list[list[int]]:
    """Group processors by core; cores of a socket side by side, threads of a core in order."""
    cores = grouped(sorted(cpus), lambda cpu: min(siblings(cpu, root)))
    return sorted(cores.values(), key=lambda core: (_package(core[0], root), core[0]))


def _package(cpu: int, root: Path) -> int:
    return int(cgroups.read(_cpu_path(cpu, root) / "topology/physical_package_id") or 0)


def _cpu_path(cpu: int, root: Path) -> Path:
    return root / f"sys/devices/system/cpu/cpu{cpu}"


def _size_bytes(text: str) -> int:
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(text.rstrip("KMG")) * units.get(text[-1], 1)


def _meminfo(key: str, root: Path) -> int | None:
    for line in (cgroups.read(root / "proc/meminfo") or "").splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    return None
