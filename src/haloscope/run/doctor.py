# SPDX-License-Identifier: BSD-3-Clause
"""What on this machine would spoil a measurement or a run, each result with its mend.

A check is a small function from what is examined to one CheckResult; CHECKS lists them all.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
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
from haloscope.host.scratch import may_execute, scratch
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
    """One check's answer.

    level: ok; note, to know; warn, it would spoil measurements; fail, runs would not work.
    mend:  what to do; None where there is nothing to do.
    """

    check: str
    level: Severity
    what: str
    mend: str | None = None


@dataclass(frozen=True)
class Patient:
    """What is examined: a machine's /proc and /sys below root, and the toolchain runs would use."""

    root: Path = machine.ROOT
    toolchain: Toolchain | None = None


def examine(patient: Patient | None = None) -> Iterator[CheckResult]:
    """Every check's result, in the order of CHECKS, as it is made."""
    if patient is None:
        patient = Patient(toolchain=next(iter(available()), None))
    for check in CHECKS:
        yield check(patient)


def exit_code(results: list[CheckResult]) -> int:
    """1 where any check failed, else 0."""
    return int(any(result.level == "fail" for result in results))


def check_cores(patient: Patient) -> CheckResult:
    """Whether more than one rank can run without sharing a core."""
    online = machine.online_cpus(patient.root)
    usable, allowed = len(machine.physical_cores(patient.root)), os.sched_getaffinity(0)
    what = f"{count(usable, 'core')} for ranks and threads, of {count(len(online), 'processor')}"
    if forbidden := [cpu for cpu in online if cpu not in allowed]:
        what += f": {len(online) - len(forbidden)} are allowed, not {cpu_list(forbidden)}"
    if off := sorted({*machine.present_cpus(patient.root)} - {*online}):
        what += f"; switched off: {cpu_list(off)}"
    if usable == 1:
        mend = "more than one rank needs --oversubscribe here, and measures the scheduler"
        return CheckResult("cores", "warn", what, mend)
    if forbidden:
        mend = "an affinity mask or cpuset holds this process to them: a batch job's, or taskset's"
        return CheckResult("cores", "note", what, mend)
    return CheckResult("cores", "note" if off else "ok", what)


def check_core_kinds(patient: Patient) -> CheckResult:
    """Whether cores are of several kinds, whose ranks would wait for the slowest."""
    kinds = machine.core_kinds(patient.root)
    if len(kinds) == 1:
        return CheckResult("kinds of cores", "ok", "one")
    usable = machine.physical_cores(patient.root)
    told = [f"{len({*usable} & {*cpus})} {name}" for name, cpus in kinds.items()]
    first = len({*usable} & {*next(iter(kinds.values()))})
    mend = f"the fastest are used first: give at most {first} ranks x threads to measure one kind"
    return CheckResult("kinds of cores", "note", f"{len(kinds)}: {', '.join(told)}", mend)


def check_threads_per_core(patient: Patient) -> CheckResult:
    """Whether cores have hardware threads that ranks could end up sharing."""
    threads = max(
        len(machine.siblings(cpu, patient.root)) for cpu in machine.online_cpus(patient.root)
    )
    if threads == 1:
        return CheckResult("SMT", "ok", "one hardware thread a core")
    mend = 'haloscope uses one of each core; places = "threads" in a layout uses all'
    return CheckResult("SMT", "note", f"{threads} hardware threads a core", mend)


def check_quota(patient: Patient) -> CheckResult:
    """Whether a cgroup takes processors away in the middle of a measurement."""
    quota = machine.cpu_quota(patient.root)
    if quota is None:
        return CheckResult("processor quota", "ok", "none")
    mend = "give the container whole processors instead (docker run --cpuset-cpus=0-3)"
    what = f"a cgroup grants {quota:g} processors' time and stops all threads when it is used up"
    return CheckResult("processor quota", "warn", what, mend)


def check_governor(patient: Patient) -> CheckResult:
    """Whether the clock frequency waits for load before it rises."""
    governor = machine.governor(patient.root)
    if governor is None:
        return CheckResult("frequency governor", "note", "not visible (a virtual machine?)")
    if governor == "performance":
        return CheckResult("frequency governor", "ok", governor)
    mend = "sudo cpupower frequency-set --governor performance"
    return CheckResult(
        "frequency governor", "warn", f"{governor}: the clock follows the load", mend
    )


def check_turbo(patient: Patient) -> CheckResult:
    """Whether one busy core runs faster than many, which makes speedups look worse."""
    cpu = patient.root / "sys/devices/system/cpu"
    for switch, turbo_on in (("intel_pstate/no_turbo", "0"), ("cpufreq/boost", "1")):
        value = _read(cpu / switch)
        if value == turbo_on:
            off = "1" if turbo_on == "0" else "0"
            mend = f"to compare runs on few and many cores: echo {off} | sudo tee {cpu / switch}"
            return CheckResult("turbo", "note", "on: few busy cores run faster than many", mend)
        if value is not None:
            return CheckResult("turbo", "ok", "off")
    return CheckResult("turbo", "note", "not visible")


def check_load(patient: Patient) -> CheckResult:
    """Whether something else is running."""
    busy = machine.busy_processors(patient.root)
    if busy is None:
        return CheckResult("load", "note", "not visible")
    cores = len(machine.physical_cores(patient.root))
    what = f"others keep {busy:.2f} of {count(cores, 'core')} busy"
    if busy > 0.25 * cores:
        return CheckResult(
            "load", "warn", what, "wait, or stop what else is running (top shows it)"
        )
    return CheckResult("load", "ok", what)


def check_memory(patient: Patient) -> CheckResult:
    """Whether there is room for a problem that doesn't fit in the caches."""
    free = machine.memory_available_bytes(patient.root)
    what = f"{free / _GIB:.1f} GiB can be taken"
    if free < _GIB // 4:
        return CheckResult("memory", "fail", what, "free some, or raise the container's limit")
    if free < _GIB:
        return CheckResult("memory", "warn", f"{what}: large cases will be refused", "free some")
    return CheckResult("memory", "ok", what)


def check_huge_pages(patient: Patient) -> CheckResult:
    """Whether large vectors get large pages, as halobench asks for them."""
    text = _read(patient.root / "sys/kernel/mm/transparent_hugepage/enabled")
    match = re.search(r"\[(\w+)\]", text or "")
    if match is None:
        return CheckResult("huge pages", "note", "not visible")
    if match[1] == "never":
        mend = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"
        return CheckResult("huge pages", "warn", "switched off: large vectors are slower", mend)
    return CheckResult("huge pages", "ok", f"transparent huge pages: {match[1]}")


def check_numa_balancing(patient: Patient) -> CheckResult:
    """Whether the kernel moves pages while a kernel is timed."""
    if _read(patient.root / "proc/sys/kernel/numa_balancing") in (None, "0"):
        return CheckResult("NUMA balancing", "ok", "off")
    mend = "echo 0 | sudo tee /proc/sys/kernel/numa_balancing"
    return CheckResult("NUMA balancing", "warn", "on: the kernel moves pages during a run", mend)


def check_clock(patient: Patient) -> CheckResult:
    """Whether reading the time is cheap and steady."""
    clock = _read(patient.root / "sys/devices/system/clocksource/clocksource0/current_clocksource")
    if clock is None:
        return CheckResult("clock", "note", "not visible")
    if clock in ("tsc", "arch_sys_counter", "timebase", "kvm-clock"):
        return CheckResult("clock", "ok", clock)
    mend = "boot with clocksource=tsc where the processor has a steady one; use larger `steps`"
    return CheckResult(
        "clock", "warn", f"{clock}: each reading is a slow trip into the kernel", mend
    )


def check_compiler(patient: Patient) -> CheckResult:
    """Whether a C++20 program with OpenMP really compiles and runs."""
    plain = build.compiler() or "c++"
    compiler = str(patient.toolchain.mpicxx) if patient.toolchain else plain
    mend = "install a C++20 compiler with OpenMP (Debian, Ubuntu: apt install g++)"
    with scratch() as own:
        source, program = own.folder / "trial.cpp", own.folder / "trial"
        source.write_text(_CXX20, encoding="utf-8")
        words = ["-std=c++20", "-fopenmp", str(source), "-o", str(program)]
        extra = build.environment(patient.toolchain) if patient.toolchain else {}
        if why := _complaint([compiler, *words], extra):
            if patient.toolchain and _complaint([plain, *words], {}) is None:
                mend = _mend_of_wrapper(patient.toolchain, plain)
            return CheckResult("C++ compiler", "fail", f"{compiler}: {why}", mend)
        if not may_execute(own.folder):  # a check of its own says so
            what = f"{compiler} compiles C++20 with OpenMP, and was not tried further"
            return CheckResult("C++ compiler", "ok", what)
        if why := _complaint([str(program)], extra):
            return CheckResult("C++ compiler", "fail", f"{compiler}: {why}", mend)
    return CheckResult("C++ compiler", "ok", f"{compiler} compiles C++20 with OpenMP")


def _mend_of_wrapper(toolchain: Toolchain, compiler: str) -> str:
    """What to do where a wrapper does not find the compiler that it was made for."""
    variable = {"openmpi": "OMPI_CXX", "impi": "I_MPI_CXX"}.get(toolchain.family, "MPICH_CXX")
    mend = (
        f"{compiler} itself works: export {variable}={compiler}; or install the compiler that the"
    )
    return f"{mend} wrapper was made for (of conda: conda install cxx-compiler)"


def check_scratch(patient: Patient) -> CheckResult:
    """Whether programs may run in TMPDIR, where small ones are tried."""
    with scratch() as own:
        if may_execute(own.folder):
            return CheckResult("TMPDIR", "ok", str(own.folder.parent))
        what = f"{own.folder.parent} is mounted noexec: what is compiled there can't be run"
    return CheckResult("TMPDIR", "warn", what, "set TMPDIR to a folder where programs may run")


def check_mpi(patient: Patient) -> CheckResult:
    """Whether there is an MPI library whose wrapper and launcher belong together."""
    toolchain = patient.toolchain
    if toolchain is None:
        if (part := library.unusable()) is not None and part.refused:
            return CheckResult("MPI", "fail", part.what, part.mend)
        what = f"none yet: the first run adds {DEFAULT} from PyPI"
        what = f"{part.what}; {what}" if part else what
        return CheckResult("MPI", "note", what, f"to do it now: haloscope toolchain add {DEFAULT}")
    wrapped = compiler_family(toolchain)
    if wrapped not in (None, toolchain.family):
        what = f"mpicxx in PATH is {wrapped}'s, but mpirun is of {toolchain.version}"
        mend = (
            "put one library's folder first in PATH (Debian: update-alternatives --config mpirun)"
        )
        return CheckResult("MPI", "fail", what, mend)
    if why := _does_not_compile(toolchain):
        what = f"{toolchain.mpicxx} compiles nothing: {why}"
        mend = _mend_of_wrapper(toolchain, build.compiler() or "c++")
        return CheckResult("MPI", "fail", what, mend)
    return CheckResult("MPI", "ok", f"{toolchain.version} ({toolchain.mpirun})")


def _does_not_compile(toolchain: Toolchain) -> str | None:
    """Why a wrapper makes no program with MPI; None if it does."""
    with scratch() as own:
        source = own.folder / "smallest.cpp"
        source.write_text(library.SMALLEST, encoding="utf-8")
        words = [str(toolchain.mpicxx), str(source), "-o", str(own.folder / "smallest")]
        return _complaint(words, build.environment(toolchain))


def check_srun(patient: Patient) -> CheckResult:
    """How Slurm starts ranks here, and which of its ways can't be loaded."""
    site = site_file.of_the_lab()
    conf = os.environ.get("SLURM_CONF") or (site and site.environment["SLURM_CONF"])
    if shutil.which("srun") is None or not Path(conf or _SLURM_CONF).exists():
        return CheckResult("srun", "ok", "no Slurm here")
    try:
        kinds = srun_kinds.asked(Slurm({"SLURM_CONF": conf} if conf else {}))
    except (NoAnswerError, RefusedError, UserError) as error:
        return CheckResult("srun", "note", f"Slurm does not answer: {error}"[:300])
    usable = ", ".join(kinds.usable) or "no kind of an MPI library"
    if kinds.broken:
        what = f"starts ranks by {usable}. {' '.join(srun_kinds.notes(kinds))}"
        return CheckResult("srun", "note", what, f"to change that: {srun_kinds.NO_PMIX}")
    return CheckResult("srun", "ok", f"starts ranks by {usable}")


_SLURM_CONF = "/etc/slurm/slurm.conf"


def check_binding(patient: Patient) -> CheckResult:
    """Whether ranks really land on the cores they are given: tried with a launch."""
    toolchain = patient.toolchain
    if toolchain is None:
        return CheckResult("binding", "note", "not tried: no MPI yet")
    job = Job(ranks=min(2, len(machine.physical_cores())))
    try:
        command, environment = launch_command(toolchain, job, ["cat", "/proc/self/status"])
    except UserError as error:  # it has no launcher but srun, and this is no job
        (problem,) = error.problems
        return CheckResult("binding", "note", f"not tried: {problem.what}", problem.mend)
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
            "binding", "fail", "the launcher did not end within 60 s", " ".join(command)
        )
    found = re.findall(r"^Cpus_allowed_list:\s*(\S+)$", done.stdout, re.MULTILINE)
    seen = sorted(tuple(parse_cpu_list(text)) for text in found)
    if done.returncode != 0 or seen != sorted(job.cpus_of_ranks()):
        why = done.stderr.strip()[-500:] or f"asked for {job.cpus_of_ranks()}, got {seen}"
        return CheckResult("binding", "fail", why, f"try by hand: {' '.join(command)}")
    return CheckResult(
        "binding", "ok", f"tried: ranks sit on processors {', '.join(sorted(found))}"
    )


def check_gpus(patient: Patient) -> CheckResult:
    """Which GPUs there are, with their driver, and the compiler that studies would use them by."""
    found, driver = gpus.gpus(patient.root), gpus.driver(patient.root)
    if not found:
        with_driver = f", though there is a driver ({driver})" if driver else ""
        return CheckResult("GPU", "note", f"none{with_driver}: memory=device is an emulated one")
    named = [
        f"{number} x {name}" if number > 1 else name
        for name, number in Counter(one.name for one in found).items()
    ]
    what = f"{', '.join(named)}; driver {driver or 'not told'}"
    device = found[0].device
    try:
        compiler = gpu_compilers.find(device)
    except UserError as error:
        return CheckResult("GPU", "note", what, error.problems[0].mend)
    return CheckResult("GPU", "ok", f"{what}; {compiler}: run STUDY --device {device}")


def check_gpu_awareness(patient: Patient) -> CheckResult:
    """Whether the MPI library says that it takes addresses of a GPU's memory."""
    if patient.toolchain is None:
        return CheckResult("GPU-aware MPI", "note", "not asked: no MPI yet")
    with scratch() as own:
        try:
            answers = gpu_aware.asked(patient.toolchain, own.folder)
        except UserError as error:
            (problem,) = error.problems
            return CheckResult("GPU-aware MPI", "note", f"not asked: {problem.what}", problem.mend)
    words = {True: "yes", False: "no", None: "it does not say"}
    said = [f"{name.upper()}: {words[answer]}" for name, answer in answers.items()]
    what = f"{patient.toolchain.version}: {', '.join(said) or 'could not be asked'}"
    there = {one.device for one in gpus.gpus(patient.root)}
    if any(answers.get(device) is False for device in there):
        mend = (
            "a study tries an exchange before it believes that; where this fails, give mpi=staged, "
            "or load your cluster's MPI library that takes a GPU's memory"
        )
        return CheckResult("GPU-aware MPI", "note", what, mend)
    return CheckResult("GPU-aware MPI", "ok" if answers else "note", what)


def check_tuning(patient: Patient) -> CheckResult:
    """Whether the user's variables and files hold settings of MPI that would shape every run."""
    names = [*tuning.given(os.environ)]
    if not names:
        return CheckResult("MPI variables", "ok", "none set")
    mend = "unset them, or keep them in mind: they shape every run; records hold them"
    return CheckResult("MPI variables", "note", f"{', '.join(names)} set", mend)


def check_simulation(patient: Patient) -> CheckResult:
    """Whether the tools for simulated runs are there; only they need them."""
    where = simgrid.folder() or "PATH"
    if simgrid.programs():
        what = f"smpicxx and smpirun are in {where}: simulated runs can be made"
        return CheckResult("SimGrid", "ok", what)
    mend = f"only for simulated runs: {simgrid.INSTALL}"
    return CheckResult("SimGrid", "note", f"smpicxx and smpirun are not in {where}", mend)


def check_python(patient: Patient) -> CheckResult:
    """Whether this Python can add toolchains."""
    what = f"{sys.version.split()[0]} in {sys.prefix}"
    if pypi.can_install():
        return CheckResult("Python", "ok", what)
    mend = f"{sys.executable} -m ensurepip, or install uv"
    return CheckResult(
        "Python", "warn", f"{what}: no pip and no uv, so no toolchain can be added", mend
    )


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
    mend = "InfiniBand wants `ulimit -l unlimited` (/etc/security/limits.conf); nothing else does"
    return CheckResult("locked memory", "note", _limit(limit), mend)


def check_host_name(patient: Patient) -> CheckResult:
    """Whether this host's name leads to an address, as some MPI libraries need."""
    name = socket.gethostname()
    if any(len(part) > _LONGEST_LABEL for part in name.split(".")):
        what = f"'{name}' has a part of more than {_LONGEST_LABEL} letters, so that no name server"
        mend = f"give it a shorter one: sudo hostnamectl hostname {name[:12]}"
        return CheckResult("host name", "warn", f"{what} can have it", mend)
    try:
        socket.getaddrinfo(name, None)
    except UnicodeError as error:
        mend = "give it one of letters, digits and '-': sudo hostnamectl hostname NAME"
        return CheckResult("host name", "warn", f"{name!r} is no host name: {error}", mend)
    except OSError as error:
        mend = f"echo '127.0.1.1 {name}' | sudo tee -a /etc/hosts"
        return CheckResult(
            "host name", "warn", f"'{name}' does not resolve: {error.strerror}", mend
        )
    return CheckResult("host name", "ok", f"{name} resolves")


_LONGEST_LABEL = 63
"""_LONGEST_LABEL is the most letters of a part of a host's name (RFC 1035); Linux takes 64."""


def check_shared_memory(patient: Patient) -> CheckResult:
    """Whether ranks have room to talk in."""
    folder = patient.root / "dev/shm"
    if not folder.is_dir():
        mend = "mount a tmpfs there: ranks of one host talk through it"
        return CheckResult("/dev/shm", "fail", "is not there", mend)
    size = shutil.disk_usage(folder)
    what = f"{size.free / _GIB:.2f} GiB free"
    if size.free < _GIB // 4:
        return CheckResult(
            "/dev/shm", "warn", what, "docker run --shm-size=1g, or remount it larger"
        )
    return CheckResult("/dev/shm", "ok", what)


def check_cache(patient: Patient) -> CheckResult:
    """Whether toolchains and builds can be stored."""
    folder = cache_path()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        mend = "set HALOSCOPE_CACHE to a folder that you may write to"
        return CheckResult("cache", "fail", str(error), mend)
    if not may_execute(folder):
        mend = "set HALOSCOPE_CACHE to a folder where programs may run"
        return CheckResult("cache", "fail", f"{folder} is mounted noexec", mend)
    free = shutil.disk_usage(folder).free
    what = f"{folder}, {free / _GIB:.0f} GiB free"
    if free < _GIB:
        return CheckResult(
            "cache", "warn", what, "free some, or set HALOSCOPE_CACHE to another disk"
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


def _complaint(command: list[str], extra: dict[str, str]) -> str | None:
    """Why a command did not end well; None if it did."""
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
    return None if done.returncode == 0 else _telling(done.stderr) or "it failed"


def _telling(said: str) -> str:
    """What a compiler or a program said, from its first error on, without lines of dashes."""
    lines = [line.strip() for line in said.splitlines() if line.strip("- \t")]
    first = next((n for n, line in enumerate(lines) if re.search(r"\berror\b", line)), 0)
    return " ".join(lines[first:])[:300]


def _limit(limit: int) -> str:
    return "unlimited" if limit == resource.RLIM_INFINITY else f"{limit / (1 << 20):g} MiB"


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
