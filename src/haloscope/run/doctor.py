# SPDX-License-Identifier: BSD-3-Clause
"""Check this machine for sources of noise and for problems that would prevent runs.

A check is a function from a Patient to one CheckResult; CHECKS lists them all.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from haloscope.batch import srun_kinds
from haloscope.batch.asking import NoAnswerError, RefusedError
from haloscope.batch.slurm import Slurm
from haloscope.errors import UserError
from haloscope.host import gpus, machine
from haloscope.host.cpulist import cpu_list, parse_cpu_list
from haloscope.host.scratch import may_execute, program_folder, scratch
from haloscope.paths import cache_path
from haloscope.quantities import count
from haloscope.sites import file as site_file
from haloscope.toolchains import (
    build,
    gpu_aware,
    gpu_compilers,
    library,
    pypi,
    simgrid,
    tuning,
)
from haloscope.toolchains.job import Job
from haloscope.toolchains.launch import launch_command
from haloscope.toolchains.library import DEFAULT, Toolchain, available, compiler_family

Severity = Literal["ok", "note", "warn", "fail"]

_CXX20 = """\
#include <concepts>
#include <numeric>
#include <omp.h>
#include <ranges>
#include <span>
template <std::integral T> T sum(std::span<const T> values) {
  T total = 0;
  for (const T value : values | std::views::filter([](T v) { return v > 0; })) total += value;
  return total;
}
int main() {
  const int values[] = {1, -2, 3};
  return sum<int>(values) == 4 && omp_get_max_threads() > 0 ? 0 : 1;
}
"""
_GIB = 1 << 30


@dataclass(frozen=True)
class CheckResult:
    """One check's result.

    level: ok; note; warn: measurements would be disturbed; fail: runs would not work.
    remedy:  what to do, or None.
    """

    check: str
    level: Severity
    what: str
    remedy: str | None = None


@dataclass(frozen=True)
class Patient:
    """What is checked: a machine's /proc and /sys below root, and the toolchain of runs."""

    root: Path = machine.ROOT
    toolchain: Toolchain | None = None


def examine(patient: Patient | None = None) -> Iterator[CheckResult]:
    """Yield the result of every check, in the order of CHECKS."""
    if patient is None:
        patient = Patient(toolchain=next(iter(available()), None))
    for check in CHECKS:
        yield check(patient)


def exit_code(results: list[CheckResult]) -> int:
    """Return 1 if any check failed, else 0."""
    return int(any(result.level == "fail" for result in results))


def check_cores(patient: Patient) -> CheckResult:
    """Whether more than one rank can run without sharing a core."""
    online = machine.online_cpus(patient.root)
    usable, allowed = len(machine.physical_cores(patient.root)), os.sched_getaffinity(0)
    what = f"{count(usable, 'core')} usable, {count(len(online), 'processor')} online"
    if forbidden := [cpu for cpu in online if cpu not in allowed]:
        what += f", processors {cpu_list(forbidden)} not allowed"
    if off := sorted({*machine.present_cpus(patient.root)} - {*online}):
        what += f", processors {cpu_list(off)} offline"
    if usable == 1:
        remedy = (
            "several ranks need --oversubscribe, and their times then include waiting for a core"
        )
        return CheckResult("cores", "warn", what, remedy)
    if forbidden:
        remedy = (
            "remove the affinity mask or cpuset (of a batch job, container, or taskset) to use "
        )
        return CheckResult("cores", "note", what, f"{remedy}all processors")
    return CheckResult("cores", "note" if off else "ok", what)


def check_core_kinds(patient: Patient) -> CheckResult:
    """Whether cores are of several kinds, whose ranks would wait for the slowest."""
    kinds = machine.core_kinds(patient.root)
    if len(kinds) == 1:
        return CheckResult("kinds of cores", "ok", "all cores are of one kind")
    usable = machine.physical_cores(patient.root)
    each = [f"{len({*usable} & {*cpus})} {name}" for name, cpus in kinds.items()]
    first = len({*usable} & {*next(iter(kinds.values()))})
    remedy = f"the fastest cores are used first; to measure one kind, use at most {first} of them "
    remedy += "(ppn x threads)"
    return CheckResult("kinds of cores", "note", f"{len(kinds)}: {', '.join(each)}", remedy)


def check_threads_per_core(patient: Patient) -> CheckResult:
    """Whether cores have hardware threads that ranks could end up sharing."""
    threads = max(
        len(machine.siblings(cpu, patient.root)) for cpu in machine.online_cpus(patient.root)
    )
    if threads == 1:
        return CheckResult("SMT", "ok", "one hardware thread per core")
    remedy = 'haloscope uses one per core; to use all, set places = "threads" in a layout'
    return CheckResult("SMT", "note", f"{threads} hardware threads per core", remedy)


def check_quota(patient: Patient) -> CheckResult:
    """Whether a cgroup takes processors away in the middle of a measurement."""
    quota = machine.cpu_quota(patient.root)
    if quota is None:
        return CheckResult("processor quota", "ok", "none")
    remedy = "assign whole processors to the container instead (docker run --cpuset-cpus=0-3)"
    what = f"a cgroup limits this process to {quota:g} processors by pausing all its threads"
    return CheckResult("processor quota", "warn", what, remedy)


def check_governor(patient: Patient) -> CheckResult:
    """Whether the clock frequency waits for load before it rises."""
    governor = machine.governor(patient.root)
    if governor is None:
        return CheckResult("frequency governor", "note", "not visible (a virtual machine?)")
    if governor == "performance":
        return CheckResult("frequency governor", "ok", governor)
    remedy = "sudo cpupower frequency-set --governor performance"
    return CheckResult(
        "frequency governor", "warn", f"{governor}: the clock frequency follows the load", remedy
    )


def check_turbo(patient: Patient) -> CheckResult:
    """Whether one busy core runs faster than many, which makes speedups look worse."""
    cpu = patient.root / "sys/devices/system/cpu"
    for switch, turbo_on in (("intel_pstate/no_turbo", "0"), ("cpufreq/boost", "1")):
        value = _read(cpu / switch)
        if value == turbo_on:
            off = "1" if turbo_on == "0" else "0"
            remedy = f"to compare few cores with many, switch it off: echo {off} | sudo tee "
            remedy += str(cpu / switch)
            what = "on: the clock frequency is higher if few cores are busy"
            return CheckResult("turbo", "note", what, remedy)
        if value is not None:
            return CheckResult("turbo", "ok", "off")
    return CheckResult("turbo", "note", "not visible")


def check_load(patient: Patient) -> CheckResult:
    """Whether something else is running."""
    busy = machine.busy_processors(patient.root)
    if busy is None:
        return CheckResult("load", "note", "not visible")
    cores = len(machine.physical_cores(patient.root))
    what = f"other processes use {busy:.2f} of {count(cores, 'core')}"
    if busy > 0.25 * cores:
        return CheckResult("load", "warn", what, "wait, or stop other processes (see top)")
    return CheckResult("load", "ok", what)


def check_memory(patient: Patient) -> CheckResult:
    """Whether there is room for a problem that doesn't fit in the caches."""
    free = machine.memory_available_bytes(patient.root)
    what = f"{free / _GIB:.1f} GiB free"
    if free < _GIB // 4:
        remedy = "stop other processes, or raise the container's memory limit"
        return CheckResult("memory", "fail", what, remedy)
    if free < _GIB:
        what += ": too little for large cases"
        return CheckResult("memory", "warn", what, "stop other processes")
    return CheckResult("memory", "ok", what)


def check_huge_pages(patient: Patient) -> CheckResult:
    """Whether large vectors get large pages, as halobench asks for them."""
    text = _read(patient.root / "sys/kernel/mm/transparent_hugepage/enabled")
    match = re.search(r"\[(\w+)\]", text or "")
    if match is None:
        return CheckResult("huge pages", "note", "not visible")
    if match[1] == "never":
        remedy = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
        what = "transparent huge pages are off, which slows large arrays"
        return CheckResult("huge pages", "warn", what, remedy)
    return CheckResult("huge pages", "ok", f"transparent huge pages: {match[1]}")


def check_numa_balancing(patient: Patient) -> CheckResult:
    """Whether the kernel moves pages while a kernel is timed."""
    if _read(patient.root / "proc/sys/kernel/numa_balancing") in (None, "0"):
        return CheckResult("NUMA balancing", "ok", "off")
    remedy = "echo 0 | sudo tee /proc/sys/kernel/numa_balancing"
    return CheckResult(
        "NUMA balancing", "warn", "on: the kernel may move pages during a run", remedy
    )


def check_clock(patient: Patient) -> CheckResult:
    """Whether reading the time is cheap and steady."""
    clock = _read(patient.root / "sys/devices/system/clocksource/clocksource0/current_clocksource")
    if clock is None:
        return CheckResult("clock", "note", "not visible")
    if clock in ("tsc", "arch_sys_counter", "timebase", "kvm-clock"):
        return CheckResult("clock", "ok", clock)
    remedy = "boot with clocksource=tsc if the processor has an invariant TSC, or increase `steps`"
    return CheckResult(
        "clock", "warn", f"{clock}: reading the clock needs a system call, which is slow", remedy
    )


def check_compiler(patient: Patient) -> CheckResult:
    """Whether a C++20 program with OpenMP really compiles and runs."""
    plain = build.compiler() or "c++"
    compiler = str(patient.toolchain.mpicxx) if patient.toolchain else plain
    remedy = "install a C++20 compiler with OpenMP (Debian, Ubuntu: apt install g++)"
    with scratch() as own:
        source, program = own.folder / "trial.cpp", own.folder / "trial"
        source.write_text(_CXX20, encoding="utf-8")
        words = ["-std=c++20", "-fopenmp", str(source), "-o", str(program)]
        extra = build.environment(patient.toolchain) if patient.toolchain else {}
        if why := _failure([compiler, *words], extra):
            if patient.toolchain and _failure([plain, *words], {}) is None:
                remedy = _wrapper_remedy(patient.toolchain, plain)
            return CheckResult("C++ compiler", "fail", f"{compiler}: {why}", remedy)
        if not may_execute(own.folder):  # a check of its own says so
            what = f"{compiler} compiles C++20 with OpenMP (the program was not run)"
            return CheckResult("C++ compiler", "ok", what)
        if why := _failure([str(program)], extra):
            return CheckResult("C++ compiler", "fail", f"{compiler}: {why}", remedy)
    return CheckResult("C++ compiler", "ok", f"{compiler} compiles C++20 with OpenMP")


def _wrapper_remedy(toolchain: Toolchain, compiler: str) -> str:
    """Return the remedy if a wrapper does not find its compiler."""
    variable = {"openmpi": "OMPI_CXX", "impi": "I_MPI_CXX"}.get(toolchain.family, "MPICH_CXX")
    remedy = f"export {variable}={compiler} (that compiler works), or install the compiler of the "
    return f"{remedy}wrapper (with conda: conda install cxx-compiler)"


def check_scratch(patient: Patient) -> CheckResult:
    """Whether programs may run in TMPDIR, where small ones are tried."""
    asked = os.environ.get("TMPDIR")
    with scratch() as own:
        if asked and not Path(asked).is_dir():
            what = f"{asked}: folder not found; {own.folder.parent} is used instead"
            return CheckResult("TMPDIR", "warn", what, "set TMPDIR to a folder, or unset it")
        if may_execute(own.folder):
            return CheckResult("TMPDIR", "ok", str(own.folder.parent))
        what = f"{own.folder.parent} is mounted noexec: programs compiled there cannot run"
    return CheckResult("TMPDIR", "warn", what, "set TMPDIR to a folder that is not noexec")


def check_mpi(patient: Patient) -> CheckResult:
    """Whether there is an MPI library whose wrapper and launcher belong together."""
    toolchain = patient.toolchain
    added = toolchain is None or toolchain.prefix is not None
    if added and (part := library.unusable()) is not None:
        return CheckResult("MPI", "fail", part.what, part.remedy)
    if toolchain is None:
        what = f"not installed; the first run installs {DEFAULT} from PyPI"
        remedy = f"to install it now: haloscope toolchain add {DEFAULT}"
        return CheckResult("MPI", "note", what, remedy)
    wrapped = compiler_family(toolchain)
    if wrapped not in (None, toolchain.family):
        what = f"mpicxx in PATH belongs to {wrapped}, but mpirun to {toolchain.version}"
        remedy = (
            "put the folder of one library first in PATH (Debian: update-alternatives --config "
            "mpirun)"
        )
        return CheckResult("MPI", "fail", what, remedy)
    if why := _does_not_compile(toolchain):
        what = f"{toolchain.mpicxx} cannot compile an MPI program: {why}"
        remedy = _wrapper_remedy(toolchain, build.compiler() or "c++")
        return CheckResult("MPI", "fail", what, remedy)
    return CheckResult("MPI", "ok", f"{toolchain.version} ({toolchain.mpirun})")


def _does_not_compile(toolchain: Toolchain) -> str | None:
    """Why a wrapper cannot compile an MPI program, or None if it can."""
    with scratch() as own:
        source = own.folder / "smallest.cpp"
        source.write_text(library.SMALLEST, encoding="utf-8")
        words = [str(toolchain.mpicxx), str(source), "-o", str(own.folder / "smallest")]
        return _failure(words, build.environment(toolchain))


def check_srun(patient: Patient) -> CheckResult:
    """How Slurm starts ranks here, and which of its plugins cannot be loaded."""
    site = site_file.of_the_lab()
    conf = os.environ.get("SLURM_CONF") or (site and site.environment["SLURM_CONF"])
    if shutil.which("srun") is None or not Path(conf or _SLURM_CONF).exists():
        return CheckResult("srun", "ok", "Slurm is not installed")
    try:
        kinds = srun_kinds.asked(Slurm({"SLURM_CONF": conf} if conf else {}))
    except (NoAnswerError, RefusedError, UserError) as error:
        return CheckResult("srun", "note", f"Slurm does not answer: {error}"[:300])
    usable = f"srun starts MPI ranks with {', '.join(kinds.usable)}"
    if not kinds.usable:
        usable = "srun cannot start MPI ranks"
    if kinds.broken:
        what = f"{usable}. {' '.join(srun_kinds.notes(kinds))}"
        return CheckResult("srun", "note", what, srun_kinds.NO_PMIX)
    return CheckResult("srun", "ok", usable)


_SLURM_CONF = "/etc/slurm/slurm.conf"


def check_binding(patient: Patient) -> CheckResult:
    """Whether ranks really land on the cores they are given: tried with a launch."""
    toolchain = patient.toolchain
    if toolchain is None:
        return CheckResult("binding", "note", "not tested: MPI is not installed")
    job = Job(ranks=min(2, len(machine.physical_cores())))
    try:
        command, environment = launch_command(toolchain, job, ["cat", "/proc/self/status"])
    except UserError as error:  # it has no launcher but srun, and this is no job
        (problem,) = error.problems
        return CheckResult("binding", "note", f"not tested: {problem.what}", problem.remedy)
    try:
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=60,
        )
    except subprocess.TimeoutExpired:
        return CheckResult(
            "binding",
            "fail",
            "the launcher did not end within 60 s",
            f"run it by hand: {' '.join(command)}",
        )
    found = re.findall(r"^Cpus_allowed_list:\s*(\S+)$", done.stdout, re.MULTILINE)
    seen = sorted(tuple(parse_cpu_list(text)) for text in found)
    if done.returncode != 0 or seen != sorted(job.cpus_of_ranks()):
        why = done.stderr.strip()[-500:] or f"requested {job.cpus_of_ranks()}, got {seen}"
        return CheckResult("binding", "fail", why, f"run it by hand: {' '.join(command)}")
    return CheckResult(
        "binding", "ok", f"works: ranks ran on processors {', '.join(sorted(found))}"
    )


def check_gpus(patient: Patient) -> CheckResult:
    """Which GPUs there are, with their driver, and the compiler that studies would use them by."""
    found, driver = gpus.gpus(patient.root), gpus.driver(patient.root)
    if not found:
        with_driver = f", although a driver is loaded ({driver})" if driver else ""
        return CheckResult("GPU", "note", f"none{with_driver}; memory=device emulates a device")
    named = [
        f"{number} x {name}" if number > 1 else name
        for name, number in Counter(one.name for one in found).items()
    ]
    what = f"{', '.join(named)}; driver {driver or 'unknown'}"
    device = found[0].device
    try:
        compiler = gpu_compilers.find(device)
    except UserError as error:
        return CheckResult("GPU", "note", what, error.problems[0].remedy)
    what = f"{what}; {compiler}; to use it: haloscope run STUDY --device {device}"
    return CheckResult("GPU", "ok", what)


def check_gpu_awareness(patient: Patient) -> CheckResult:
    """Whether the MPI library says that it takes addresses of a GPU's memory."""
    if patient.toolchain is None:
        return CheckResult("GPU-aware MPI", "note", "unknown: MPI is not installed")
    with scratch() as own:
        try:
            answers = gpu_aware.asked(patient.toolchain, own.folder)
        except UserError as error:
            (problem,) = error.problems
            return CheckResult("GPU-aware MPI", "note", f"unknown: {problem.what}", problem.remedy)
    words = {True: "yes", False: "no", None: "unknown"}
    each = [f"{name.upper()} {words[answer]}" for name, answer in answers.items()]
    what = f"{patient.toolchain.version}: {', '.join(each) or 'unknown'}"
    there = {one.device for one in gpus.gpus(patient.root)}
    if any(answers.get(device) is False for device in there):
        remedy = (
            "use mpi=staged, or load a GPU-aware MPI library (studies test mpi=gpu_aware before "
            "they measure)"
        )
        return CheckResult("GPU-aware MPI", "note", what, remedy)
    return CheckResult("GPU-aware MPI", "ok" if answers else "note", what)


def check_tuning(patient: Patient) -> CheckResult:
    """Whether variables and files hold settings of MPI that would shape every run."""
    found = tuning.given(os.environ, patient.toolchain)
    if not found:
        return CheckResult("MPI variables", "ok", "none set")
    remedy = "unset them unless intended: they affect every run, and are kept in its records"
    return CheckResult("MPI variables", "note", tuning.in_words({"given": found}), remedy)


def check_simulation(patient: Patient) -> CheckResult:
    """Whether the tools for simulated runs are there; only they need them."""
    where = simgrid.folder() or "PATH"
    if simgrid.programs():
        return CheckResult("SimGrid", "ok", f"smpicxx and smpirun found in {where}")
    remedy = f"needed only for simulated runs; {simgrid.INSTALL}"
    return CheckResult("SimGrid", "note", f"smpicxx and smpirun not found in {where}", remedy)


def check_python(patient: Patient) -> CheckResult:
    """Whether this Python can add toolchains."""
    what = f"{sys.version.split()[0]} in {sys.prefix}"
    if pypi.can_install():
        return CheckResult("Python", "ok", what)
    remedy = f"run {sys.executable} -m ensurepip, or install uv"
    what += ": neither pip nor uv found, so toolchains cannot be installed"
    return CheckResult("Python", "warn", what, remedy)


def check_stack(patient: Patient) -> CheckResult:
    """Whether the stack is as large as usual."""
    limit, _ = resource.getrlimit(resource.RLIMIT_STACK)
    what = _limit(limit)
    if limit != resource.RLIM_INFINITY and limit < 8 << 20:
        return CheckResult("stack limit", "warn", what, "ulimit -s 8192")
    return CheckResult("stack limit", "ok", what)


def check_locked_memory(patient: Patient) -> CheckResult:
    """Whether a fast network could pin its buffers; shared memory and TCP need no such thing."""
    limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if limit == resource.RLIM_INFINITY:
        return CheckResult("locked memory", "ok", _limit(limit))
    remedy = "only InfiniBand needs more: ulimit -l unlimited (/etc/security/limits.conf)"
    return CheckResult("locked memory", "note", _limit(limit), remedy)


def check_host_name(patient: Patient) -> CheckResult:
    """Whether this host's name leads to an address, as some MPI libraries need."""
    name = socket.gethostname()
    if any(len(part) > _LONGEST_LABEL for part in name.split(".")):
        what = f"'{name}' has a label of more than {_LONGEST_LABEL} characters, so that it cannot "
        remedy = f"set a shorter name: sudo hostnamectl hostname {name[:12]}"
        return CheckResult("host name", "warn", f"{what}be resolved", remedy)
    try:
        socket.getaddrinfo(name, None)
    except UnicodeError as error:
        remedy = "use letters, digits, and '-': sudo hostnamectl hostname NAME"
        return CheckResult("host name", "warn", f"{name!r} is not a valid name: {error}", remedy)
    except OSError as error:
        remedy = f"echo '127.0.1.1 {name}' | sudo tee -a /etc/hosts"
        return CheckResult(
            "host name", "warn", f"'{name}' does not resolve: {error.strerror}", remedy
        )
    return CheckResult("host name", "ok", f"{name} resolves")


_LONGEST_LABEL = 63
"""_LONGEST_LABEL is the most letters of a part of a host's name (RFC 1035); Linux takes 64."""


def check_shared_memory(patient: Patient) -> CheckResult:
    """Whether ranks have room to talk in."""
    folder = patient.root / "dev/shm"
    if not folder.is_dir():
        remedy = "mount a tmpfs there: ranks of one host communicate through it"
        return CheckResult("/dev/shm", "fail", "does not exist", remedy)
    size = shutil.disk_usage(folder)
    what = f"{size.free / _GIB:.2f} GiB free"
    if size.free < _GIB // 4:
        return CheckResult(
            "/dev/shm", "warn", what, "enlarge it (docker run --shm-size=1g, or remount it)"
        )
    return CheckResult("/dev/shm", "ok", what)


def check_cache(patient: Patient) -> CheckResult:
    """Whether toolchains and builds can be stored."""
    folder = cache_path()
    try:
        program_folder("")
    except UserError as error:
        (problem,) = error.problems
        return CheckResult("cache", "fail", f"{problem.where} {problem.what}", problem.remedy)
    free = shutil.disk_usage(folder).free
    what = f"{folder}, {free / _GIB:.0f} GiB free"
    if free < _GIB:
        return CheckResult(
            "cache", "warn", what, "free space, or set HALOSCOPE_CACHE to another disk"
        )
    return CheckResult("cache", "ok", what)


CHECKS: tuple[Callable[[Patient], CheckResult], ...] = (
    check_cores,
    check_core_kinds,
    check_threads_per_core,
    check_quota,
    check_governor,
    check_turbo,
    check_load,
    check_memory,
    check_huge_pages,
    check_numa_balancing,
    check_clock,
    check_scratch,
    check_compiler,
    check_mpi,
    check_srun,
    check_binding,
    check_gpus,
    check_gpu_awareness,
    check_tuning,
    check_simulation,
    check_python,
    check_stack,
    check_locked_memory,
    check_host_name,
    check_shared_memory,
    check_cache,
)


def _failure(command: list[str], extra: dict[str, str]) -> str | None:
    """Why a command failed, or None if it did not."""
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **extra},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=120,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    return _first_error(done.stderr) or f"exit code {done.returncode}"


def _first_error(output: str) -> str:
    """Return the output of a compiler or a program from its first error on, without rulers."""
    lines = [line.strip() for line in output.splitlines() if line.strip("- \t")]
    first = next((n for n, line in enumerate(lines) if re.search(r"\berror\b", line)), 0)
    return " ".join(lines[first:])[:300]


def _limit(limit: int) -> str:
    return "unlimited" if limit == resource.RLIM_INFINITY else f"{limit / (1 << 20):g} MiB"


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
