# SPDX-License-Identifier: BSD-3-Clause
"""Checks of processors and memory: what makes times differ from run to run."""

from __future__ import annotations

import os
import re

from haloscope.host import machine
from haloscope.host.cgroups import read
from haloscope.quantities import count, cpu_list
from haloscope.run.doctor import CheckResult, Patient

_GIB = 1 << 30
_UNKNOWN = "unknown on this system"


def check_cores(patient: Patient) -> CheckResult:
    """Check whether more than one rank can run without sharing a core."""
    online = machine.online_cpus(patient.root)
    usable, allowed = len(machine.physical_cores(patient.root)), os.sched_getaffinity(0)
    what = f"{count(usable, 'core')} usable, {count(len(online), 'processor')} online"
    if forbidden := [cpu for cpu in online if cpu not in allowed]:
        what += f"; the affinity mask excludes processors {cpu_list(forbidden)}"
    if off := sorted({*machine.present_cpus(patient.root)} - {*online}):
        what += f"; processors {cpu_list(off)} are offline"
    if usable == 1:
        remedy = (
            "running more than one rank requires --oversubscribe; times then include time spent "
            "waiting for the core"
        )
        return CheckResult("cores", "warn", what, remedy)
    if forbidden:
        remedy = (
            "to use all processors, remove the affinity mask or cpuset (set by a batch job, "
            "container, or taskset)"
        )
        return CheckResult("cores", "note", what, remedy)
    return CheckResult("cores", "note" if off else "ok", what)


def check_core_kinds(patient: Patient) -> CheckResult:
    """Check whether cores are of several kinds; ranks would wait for the slowest kind."""
    kinds = machine.core_kinds(patient.root)
    if len(kinds) == 1:
        return CheckResult("kinds of cores", "ok", "all cores are the same")
    usable = machine.physical_cores(patient.root)
    each = [f"{len({*usable} & {*cpus})} {name}" for name, cpus in kinds.items()]
    first = len({*usable} & {*next(iter(kinds.values()))})
    remedy = f"the fastest cores are used first; to use only these, run at most {first} threads in "
    remedy += "total (ppn x threads)"
    return CheckResult("kinds of cores", "note", ", ".join(each), remedy)


def check_threads_per_core(patient: Patient) -> CheckResult:
    """Check whether cores have hardware threads that ranks could end up sharing."""
    threads = max(
        len(machine.siblings(cpu, patient.root)) for cpu in machine.online_cpus(patient.root)
    )
    if threads == 1:
        return CheckResult("SMT", "ok", "one hardware thread per core")
    remedy = 'haloscope uses one per core; to use all, set places = "threads" in a layout'
    return CheckResult("SMT", "note", f"{threads} hardware threads per core", remedy)


def check_quota(patient: Patient) -> CheckResult:
    """Check whether a cgroup takes processors away in the middle of a measurement."""
    quota = machine.cpu_quota(patient.root)
    if quota is None:
        return CheckResult("processor quota", "ok", "none")
    remedy = "assign whole CPUs to the container instead (docker run --cpuset-cpus=0-3)"
    what = f"a cgroup limits this process to {quota:g} processors, and pauses all its threads when "
    what += "the quota is used up"
    return CheckResult("processor quota", "warn", what, remedy)


def check_governor(patient: Patient) -> CheckResult:
    """Check whether the clock frequency rises only under load."""
    governor = machine.governor(patient.root)
    if governor is None:
        return CheckResult(
            "frequency governor", "note", "unknown; many virtual machines do not report it"
        )
    if governor == "performance":
        return CheckResult("frequency governor", "ok", governor)
    remedy = "keep the frequency high: sudo cpupower frequency-set --governor performance"
    return CheckResult(
        "frequency governor",
        "warn",
        f"{governor.replace(', ', ' and ')}; the clock frequency varies with the load",
        remedy,
    )


def check_turbo(patient: Patient) -> CheckResult:
    """Check whether one busy core has a higher clock than many, which lowers measured speedups."""
    cpu = patient.root / "sys/devices/system/cpu"
    for switch, turbo_on in (("intel_pstate/no_turbo", "0"), ("cpufreq/boost", "1")):
        value = read(cpu / switch)
        if value == turbo_on:
            off = "1" if turbo_on == "0" else "0"
            remedy = f"to compare runs on few and many cores, disable turbo: echo {off} | sudo tee "
            remedy += str(cpu / switch)
            what = "on; the clock frequency is higher when few cores are busy"
            return CheckResult("turbo", "note", what, remedy)
        if value is not None:
            return CheckResult("turbo", "ok", "off")
    return CheckResult("turbo", "note", _UNKNOWN)


def check_load(patient: Patient) -> CheckResult:
    """Check whether something else is running."""
    busy = machine.busy_processors(patient.root)
    if busy is None:
        return CheckResult("load", "note", _UNKNOWN)
    cores = len(machine.physical_cores(patient.root))
    what = f"other processes use {busy:.2f} of {count(cores, 'core')}"
    if busy > 0.25 * cores:
        return CheckResult("load", "warn", what, "wait, or stop other processes (see top)")
    return CheckResult("load", "ok", what)


def check_memory(patient: Patient) -> CheckResult:
    """Check whether memory is free for a problem that does not fit in the caches."""
    free = machine.memory_available_bytes(patient.root)
    what = f"{free / _GIB:.1f} GiB free"
    if free < _GIB // 4:
        remedy = "stop other processes, or raise the container's memory limit"
        return CheckResult("memory", "fail", what, remedy)
    if free < _GIB:
        what += ", too little for large cases"
        return CheckResult("memory", "warn", what, "stop other processes")
    return CheckResult("memory", "ok", what)


def check_huge_pages(patient: Patient) -> CheckResult:
    """Check whether large vectors get large pages, as halobench requests them."""
    text = read(patient.root / "sys/kernel/mm/transparent_hugepage/enabled")
    match = re.search(r"\[(\w+)\]", text or "")
    if match is None:
        return CheckResult("huge pages", "note", _UNKNOWN)
    if match[1] == "never":
        remedy = "enable them: echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
        what = "transparent huge pages are disabled, which slows down access to large arrays"
        return CheckResult("huge pages", "warn", what, remedy)
    return CheckResult("huge pages", "ok", f"{match[1]} (transparent huge pages)")


def check_numa_balancing(patient: Patient) -> CheckResult:
    """Check whether Linux moves pages between NUMA nodes during a measurement."""
    if read(patient.root / "proc/sys/kernel/numa_balancing") in (None, "0"):
        return CheckResult("NUMA balancing", "ok", "off")
    remedy = "disable it: echo 0 | sudo tee /proc/sys/kernel/numa_balancing"
    return CheckResult(
        "NUMA balancing", "warn", "on; Linux may move pages between NUMA nodes during a run", remedy
    )


def check_clock(patient: Patient) -> CheckResult:
    """Check whether reading the time is cheap and steady."""
    clock = read(patient.root / "sys/devices/system/clocksource/clocksource0/current_clocksource")
    if clock is None:
        return CheckResult("clock source", "note", _UNKNOWN)
    if clock in ("tsc", "arch_sys_counter", "timebase", "kvm-clock"):
        return CheckResult("clock source", "ok", clock)
    remedy = "boot with clocksource=tsc if the processor has an invariant TSC, or increase the "
    remedy += "parameter 'steps'"
    what = f"{clock}, which is slow to read because it requires a system call"
    return CheckResult("clock source", "warn", what, remedy)
