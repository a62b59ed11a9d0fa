# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the compiler, the MPI library, its launcher, GPUs, and SimGrid."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from haloscope.errors import UserError
from haloscope.host import gpus, machine, process
from haloscope.host.scratch import may_execute, scratch
from haloscope.layout import Layout
from haloscope.quantities import cpu_list, listed, parse_cpu_list
from haloscope.run.doctor import CheckResult, Patient
from haloscope.sites import file as site_file
from haloscope.sites.schedulers import srun_kinds
from haloscope.sites.schedulers.asking import NoAnswerError, RefusedError
from haloscope.sites.schedulers.slurm import Slurm
from haloscope.toolchains import build, gpu_compilers, in_path, simgrid
from haloscope.toolchains.launching import Job, tuning
from haloscope.toolchains.launching.launch import launch_command
from haloscope.toolchains.library import DEFAULT, Toolchain, compiler_family

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


def check_compiler(patient: Patient) -> CheckResult:
    """Check whether a C++20 program with OpenMP really compiles and runs."""
    plain = build.compiler() or "c++"
    compiler = str(patient.toolchain.mpicxx) if patient.toolchain else plain
    remedy = "install or load a newer compiler that supports C++20 and OpenMP, for example g++ 11 "
    remedy += "(Debian, Ubuntu: apt install g++)"
    with scratch() as own:
        source, program = own.folder / "trial.cpp", own.folder / "trial"
        source.write_text(_CXX20, encoding="utf-8")
        words = ["-std=c++20", "-fopenmp", str(source), "-o", str(program)]
        extra = build.environment(patient.toolchain) if patient.toolchain else {}
        if why := _failure([compiler, *words], extra):
            if patient.toolchain and _failure([plain, *words], {}) is None:
                remedy = in_path.compiler_remedy(patient.toolchain.family, plain)
            return CheckResult("C++ compiler", "fail", f"{compiler}: {why}", remedy)
        if not program.exists():
            what = f"{compiler} reports no error, but writes no executable"
            return CheckResult("C++ compiler", "fail", what, remedy)
        if not may_execute(own.folder):  # a separate check reports this
            what = f"{compiler} compiles C++20 with OpenMP (the test program was not run)"
            return CheckResult("C++ compiler", "ok", what)
        if why := _failure([str(program)], extra):
            return CheckResult("C++ compiler", "fail", f"{compiler}: {why}", remedy)
    return CheckResult("C++ compiler", "ok", f"{compiler} compiles C++20 with OpenMP")


def check_mpi(patient: Patient) -> CheckResult:
    """Check whether the compiler wrapper and the launcher belong to the same MPI library."""
    toolchain = patient.toolchain
    added = toolchain is None or toolchain.prefix is not None
    if added and (part := in_path.unusable()) is not None:
        return CheckResult("MPI", "fail", part.what, part.remedy)
    if toolchain is None:
        what = f"not installed; the first run installs {DEFAULT} from PyPI"
        remedy = f"to install it now: haloscope toolchain add {DEFAULT}"
        return CheckResult("MPI", "note", what, remedy)
    wrapped = compiler_family(toolchain)
    if wrapped not in (None, toolchain.family):
        what = f"mpicxx in PATH belongs to {wrapped}, but mpirun belongs to {toolchain.version}"
        remedy = (
            "put the bin folder of the intended library first in PATH (Debian: update-alternatives "
            "--config mpirun)"
        )
        return CheckResult("MPI", "fail", what, remedy)
    if why := in_path.compiled(str(toolchain.mpicxx), build.environment(toolchain)):
        what = f"{toolchain.mpicxx} cannot compile an MPI program: {why}"
        remedy = in_path.compiler_remedy(toolchain.family, build.compiler() or "c++")
        return CheckResult("MPI", "fail", what, remedy)
    what = f"{toolchain.version} ({toolchain.mpirun})"
    pair = in_path.found() if toolchain.name == "system" else None
    if pair is not None and (others := in_path.passed_over(pair)):
        remedy = "put the bin folder of the intended library first in PATH, or remove those that "
        remedy += "do not work"
        return CheckResult("MPI", "warn", f"{what} is used, because {'; '.join(others)}", remedy)
    return CheckResult("MPI", "ok", what)


def check_srun(patient: Patient) -> CheckResult:
    """Check how Slurm starts ranks here, and whether its plugins can be loaded."""
    site = site_file.of_the_lab()
    conf = os.environ.get("SLURM_CONF") or (site and site.environment["SLURM_CONF"])
    if shutil.which("srun") is None:
        return CheckResult("srun", "ok", "Slurm is not installed")
    try:
        kinds = srun_kinds.asked(Slurm({"SLURM_CONF": conf} if conf else {}))
    except (NoAnswerError, RefusedError, UserError) as error:
        why = str(error).strip().splitlines()[-1].removeprefix("srun: ").removeprefix("error: ")
        what = f"Slurm is installed but does not respond: {why}"[:150]
        return CheckResult("srun", "note", what, _NO_SLURM)
    usable = f"can start MPI ranks with {listed(kinds.usable)}"
    if not kinds.usable:
        usable = "cannot start MPI ranks"
    if kinds.broken:
        what = f"{usable}. {' '.join(srun_kinds.notes(kinds))}"
        return CheckResult("srun", "note", what, srun_kinds.NO_PMIX)
    return CheckResult("srun", "ok", usable)


_NO_SLURM = (
    "set SLURM_CONF to the configuration file of the cluster; outside a cluster, ignore this result"
)


_LAUNCHED_S = 60.0
_STATUS_CHARACTERS = 1 << 16


def check_binding(patient: Patient) -> CheckResult:
    """Check with a launch whether ranks run on the cores that they were given."""
    toolchain = patient.toolchain
    if toolchain is None:
        what = "not tested, because no MPI library works"
        return CheckResult("binding", "note", what)
    job = Job(Layout(ppn=min(2, len(machine.physical_cores()))))
    try:
        command, environment = launch_command(toolchain, job, ["cat", "/proc/self/status"])
    except UserError as error:  # srun is the only launcher, and this is not a job
        (problem,) = error.problems
        return CheckResult("binding", "note", f"not tested: {problem.what}", problem.remedy)
    done = process.run(command, environment, _LAUNCHED_S, _STATUS_CHARACTERS)
    by_hand = f"to find the cause, run the command by hand: {shlex.join(command)}"
    if done.timed_out or done.code != 0:
        why = in_path.why_failed(done, _LAUNCHED_S)
        why = why.removeprefix(f"{toolchain.mpirun}: ")
        return CheckResult("binding", "fail", f"{toolchain.mpirun}: {why}", by_hand)
    found = re.findall(r"^Cpus_allowed_list:\s*(\S+)$", done.output, re.MULTILINE)
    seen = sorted(tuple(parse_cpu_list(text)) for text in found)
    if seen != sorted(job.cpus_of_ranks()):
        requested, got = (
            " and ".join(map(cpu_list, sorted(each))) or "none"
            for each in (job.cpus_of_ranks(), seen)
        )
        why = f"ranks should have run on processors {requested}, but reported {got}"
        return CheckResult("binding", "fail", why, by_hand)
    return CheckResult(
        "binding", "ok", f"ranks ran on the requested processors {listed(sorted(found))}"
    )


def check_gpus(patient: Patient) -> CheckResult:
    """List GPUs with their driver, and the compiler that studies would use for them."""
    found, driver = gpus.gpus(patient.root), gpus.driver(patient.root)
    if not found:
        with_driver = f", although a driver is loaded ({driver})" if driver else ""
        what = f"no GPU found{with_driver}; with memory=device, kernels use an emulated GPU"
        return CheckResult("GPU", "note", what)
    named = [
        f"{number} x {name}" if number > 1 else name
        for name, number in Counter(one.name for one in found).items()
    ]
    what = f"{', '.join(named)} with driver {driver or 'unknown'}"
    device = found[0].device
    try:
        compiler = gpu_compilers.find(device)
    except UserError as error:
        what = f"{what}, but no working {device.upper()} compiler"
        return CheckResult("GPU", "note", what, error.problems[0].remedy)
    what = f"{what} and compiler {compiler}; to use them, run studies with --device {device}"
    return CheckResult("GPU", "ok", what)


def check_gpu_awareness(patient: Patient) -> CheckResult:
    """Check whether the MPI library reports support for GPU memory."""
    if patient.toolchain is None:
        what = "not tested, because no MPI library works"
        return CheckResult("GPU-aware MPI", "note", what)
    with scratch() as own:
        try:
            answers = _gpu_aware(patient.toolchain, own.folder)
        except UserError as error:
            (problem,) = error.problems
            what = f"not tested: {problem.what}"
            return CheckResult("GPU-aware MPI", "note", what, problem.remedy)
    words = {True: "yes", False: "no", None: "unknown"}
    each = [f"{name.upper()}: {words[answer]}" for name, answer in answers.items()]
    what = f"{patient.toolchain.version} ({', '.join(each)})"
    if not each:
        what = f"{patient.toolchain.version} does not report whether it is GPU-aware"
    there = {one.device for one in gpus.gpus(patient.root)}
    if any(answers.get(device) is False for device in there):
        remedy = (
            "use mpi=staged, or load a GPU-aware MPI library (studies check mpi=gpu_aware before "
            "measuring)"
        )
        return CheckResult("GPU-aware MPI", "note", what, remedy)
    return CheckResult("GPU-aware MPI", "ok" if answers else "note", what)


def check_tuning(patient: Patient) -> CheckResult:
    """Check whether variables or files contain MPI settings that affect every run."""
    found = tuning.given(os.environ, patient.toolchain)
    if not found:
        return CheckResult("MPI variables", "ok", "none set")
    remedy = "unset variables that you did not set on purpose; they affect every run and are "
    remedy += "listed in its record"
    return CheckResult("MPI variables", "note", tuning.in_words({"given": found}), remedy)


def check_simulation(patient: Patient) -> CheckResult:
    """Check whether SimGrid is installed, which only simulated runs need."""
    where = simgrid.folder() or "PATH"
    if simgrid.programs():
        return CheckResult("SimGrid", "ok", f"smpicxx and smpirun found in {where}")
    remedy = f"only simulated runs need SimGrid; to install it, {simgrid.INSTALL}"
    return CheckResult("SimGrid", "note", f"smpicxx and smpirun not found in {where}", remedy)


def _failure(command: list[str], extra: dict[str, str]) -> str | None:
    ended = process.run(command, {**os.environ, **extra}, in_path.COMPILED_S)
    return in_path.why_failed(ended, in_path.COMPILED_S) if ended.code or ended.timed_out else None


_SOURCE = """\
#include <mpi.h>
#include <cstdio>
extern "C" {
[[gnu::weak]] int MPIX_Query_cuda_support();
[[gnu::weak]] int MPIX_Query_rocm_support();
[[gnu::weak]] int MPIX_Query_hip_support();
}
static const char* said(int (*query)()) {
  return query == nullptr ? "null" : query() == 1 ? "true" : "false";
}
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  auto* hip = MPIX_Query_rocm_support != nullptr ? MPIX_Query_rocm_support : MPIX_Query_hip_support;
  std::printf("{\\"cuda\\": %s, \\"hip\\": %s}\\n", said(MPIX_Query_cuda_support), said(hip));
  MPI_Finalize();
}
"""
"""_SOURCE calls the query functions of Open MPI and MPICH, any of which may be missing: HIP in one
is called ROCm in the other.
"""


def _gpu_aware(toolchain: Toolchain, folder: Path) -> Mapping[str, bool | None]:
    """Return the library's answer for "cuda" and "hip"; None if it has no query function.

    folder: for the small program. Empty if it could not be built or run.
    """
    source, program = folder / "aware.cpp", folder / "aware"
    source.write_text(_SOURCE, encoding="utf-8")
    compiled = [str(toolchain.mpicxx), str(source), "-o", str(program)]
    launched, environment = launch_command(toolchain, Job(Layout()), [str(program)])
    output = ""
    for command in (compiled, launched):
        ended = process.run(command, environment, _LAUNCHED_S)
        if ended.code != 0 or ended.timed_out:
            return {}
        output = ended.output
    line = next((one for one in output.splitlines() if one.startswith('{"cuda"')), "{}")
    answer: dict[str, bool | None] = json.loads(line)
    return answer
