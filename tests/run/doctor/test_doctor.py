# SPDX-License-Identifier: BSD-3-Clause
"""Each check, on a machine that is well and on one that is not."""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import fake_slurm
import pytest
from fake_machine import FakeMachine, hybrid_laptop, two_sockets
from noted import shows

from haloscope import __version__
from haloscope.commands.machines import doctor as command
from haloscope.host import gpus, machine, scratch
from haloscope.layout import Layout
from haloscope.quantities import cpu_list
from haloscope.run.doctor import (
    CheckResult,
    Patient,
    Severity,
    libraries,
    processors,
    system,
)
from haloscope.toolchains import in_path, library
from haloscope.toolchains.added import pypi
from haloscope.toolchains.launching import Job
from haloscope.toolchains.library import Toolchain
from haloscope.toolchains.transport import Family

Check = Callable[[Patient], CheckResult]
QUOTA = "sys/fs/cgroup/cpu.max"
THP = "sys/kernel/mm/transparent_hugepage/enabled"
CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"
CPU = "sys/devices/system/cpu"


@pytest.mark.parametrize(
    ("check", "path", "text", "level"),
    [
        (processors.check_quota, QUOTA, "max 100000", "ok"),
        (processors.check_quota, QUOTA, "150000 100000", "warn"),
        (processors.check_governor, "x", "", "ok"),
        (processors.check_governor, f"{CPU}/cpu1/cpufreq/scaling_governor", "powersave", "warn"),
        (processors.check_turbo, "x", "", "note"),
        (processors.check_turbo, f"{CPU}/cpufreq/boost", "1", "note"),
        (processors.check_turbo, f"{CPU}/cpufreq/boost", "0", "ok"),
        (processors.check_turbo, f"{CPU}/intel_pstate/no_turbo", "0", "note"),
        (processors.check_turbo, f"{CPU}/intel_pstate/no_turbo", "1", "ok"),
        (processors.check_memory, "proc/meminfo", "MemAvailable: 8000000 kB", "ok"),
        (processors.check_memory, "proc/meminfo", "MemAvailable: 800000 kB", "warn"),
        (processors.check_memory, "proc/meminfo", "MemAvailable: 80000 kB", "fail"),
        (processors.check_huge_pages, "x", "", "note"),
        (processors.check_huge_pages, THP, "always [madvise] never", "ok"),
        (processors.check_huge_pages, THP, "always madvise [never]", "warn"),
        (processors.check_numa_balancing, "proc/sys/kernel/numa_balancing", "0", "ok"),
        (processors.check_numa_balancing, "proc/sys/kernel/numa_balancing", "1", "warn"),
        (processors.check_clock, "x", "", "note"),
        (processors.check_clock, CLOCK, "tsc", "ok"),
        (processors.check_clock, CLOCK, "hpet", "warn"),
        (processors.check_threads_per_core, "x", "", "note"),
        (processors.check_threads_per_core, f"{CPU}/online", "", "ok"),
    ],
)
def test_proc_and_sys_are_checked(
    check: Check,
    path: str,
    text: str,
    level: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {*range(8)})
    fake = two_sockets(tmp_path).write("proc/self/cgroup", "0::/").write(path, text)
    if check is processors.check_threads_per_core and level == "ok":
        fake = FakeMachine(tmp_path / "plain").write(f"{CPU}/online", "0-3")
    result = check(Patient(fake.root))
    assert result.level == level
    assert result.level in ("ok", "note") or result.remedy


@pytest.mark.parametrize(("busy", "level"), [(None, "note"), (0.9, "ok"), (1.1, "warn")])
def test_other_busy_processes_are_reported(
    busy: float | None, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {*range(8)})
    monkeypatch.setattr(machine, "busy_processors", lambda _: busy)
    result = processors.check_load(Patient(two_sockets(tmp_path).root))
    assert result.level == level


def test_subsets_of_cores_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = two_sockets(tmp_path)
    for mask, level in (({0, 4}, "warn"), ({0, 1, 2}, "note"), ({*range(8)}, "ok")):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, mask=mask: mask)
        assert processors.check_cores(Patient(fake.root)).level == level


def test_online_cores_that_are_not_allowed_and_offline_cores_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = two_sockets(tmp_path).write(f"{CPU}/present", "0-9")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 4})

    found = processors.check_cores(Patient(fake.root))

    assert found.level == "warn"
    assert "1-3,5-7" in found.what and "8-9" in found.what
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {*range(8)})
    assert processors.check_cores(Patient(fake.root)).level == "note"


def test_core_types_are_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {*range(16)})
    assert processors.check_core_kinds(Patient(two_sockets(tmp_path / "a").root)).level == "ok"

    found = processors.check_core_kinds(Patient(hybrid_laptop(tmp_path / "b").root))

    assert found.level == "note"
    assert shows(found.what, "4 P-cores ", " 4.7 GHz", "8 E-cores ", " 3.4 GHz")
    assert found.remedy is not None and " 4 threads" in found.remedy


def test_shared_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert system.check_shared_memory(Patient(tmp_path)).level == "fail"
    (tmp_path / "dev" / "shm").mkdir(parents=True)
    for free, level in ((64 << 20, "warn"), (4 << 30, "ok")):
        usage = argparse.Namespace(free=free)
        monkeypatch.setattr(shutil, "disk_usage", lambda _, usage=usage: usage)
        assert system.check_shared_memory(Patient(tmp_path)).level == level


def test_limits_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, stack, locked in ((1 << 20, "warn", "note"), (resource.RLIM_INFINITY, "ok", "ok")):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limit=limit: (limit, limit))
        assert system.check_stack(Patient()).level == stack
        assert system.check_locked_memory(Patient()).level == locked


def test_the_host_name_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "no-such-host.invalid")
    assert system.check_host_name(Patient()).level == "warn"
    monkeypatch.setattr(socket, "gethostname", lambda: "localhost")
    assert system.check_host_name(Patient()).level == "ok"


@pytest.mark.parametrize("name", ["n" * 64, f"node.{'x' * 64}.example", "a..b", "\u00fc" * 40])
def test_an_unresolvable_host_name_is_a_warning(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's resolver raises no OSError for some of these: that was a traceback."""
    monkeypatch.setattr(socket, "gethostname", lambda: name)

    found = system.check_host_name(Patient())

    assert found.level == "warn"
    assert found.remedy is not None
    assert "hostnamectl" in found.remedy or "/etc/hosts" in found.remedy


def test_a_noexec_mount_is_reported_and_not_a_missing_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert system.check_scratch(Patient()).level == "ok"
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path))
    for module in (libraries, system, scratch):
        monkeypatch.setattr(module, "may_execute", lambda folder: False)

    assert system.check_scratch(Patient()).level == "warn"
    assert libraries.check_compiler(a_toolchain(tmp_path)).level == "ok"
    assert system.check_cache(Patient()).level == "fail"


def test_a_missing_temporary_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nosuch"))

    found = system.check_scratch(Patient())

    assert found.level == "warn"
    assert f"'{tmp_path / 'nosuch'}'" in found.what


def test_an_unusable_temporary_folder_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody can write to /proc."""
    monkeypatch.setenv("TMPDIR", "/proc")

    found = system.check_scratch(Patient())

    assert found.level == "warn"
    assert found.what.startswith("/proc is not writable") and found.remedy is not None


def test_the_cache_must_be_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / "new"))
    assert system.check_cache(Patient()).level in ("ok", "warn")
    (tmp_path / "file").touch()
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / "file" / "cache"))
    assert system.check_cache(Patient()).level == "fail"


def test_tuning_variables_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UCX_TLS", "tcp")
    result = libraries.check_tuning(Patient())
    assert result.level == "note"
    assert "UCX_TLS" in result.what


def test_a_python_without_an_installer_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pypi, "can_install", lambda: False)
    assert system.check_python(Patient()).level == "warn"


def test_simulation_is_optional_and_found_below_its_prefix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SIMGRID_ROOT", raising=False)
    monkeypatch.setenv("PATH", "")
    assert libraries.check_simulation(Patient()).level == "note"

    (tmp_path / "bin").mkdir()
    for name in ("smpicxx", "smpirun"):
        (tmp_path / "bin" / name).touch(0o755)
    monkeypatch.setenv("SIMGRID_ROOT", str(tmp_path))
    result = libraries.check_simulation(Patient())
    assert result.level == "ok"
    assert str(tmp_path / "bin") in result.what


LAUNCHER = """\
ranks=$2
while [ "$1" != sh ]; do shift; done
i=0
while [ $i -lt $ranks ]; do
  MPI_LOCALRANKID=$i "$@"
  i=$((i + 1))
done
"""


def a_toolchain(
    tmp_path: Path,
    launcher: str = "exit 1",
    wrapper: str = 'c++ "$@"',
    family: Family = "mpich",
) -> Patient:
    """A patient whose mpirun and mpicxx are these scripts."""
    for name, body in (("mpirun", launcher), ("mpicxx", wrapper)):
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    programs = tmp_path / "mpicxx", tmp_path / "mpirun"
    return Patient(toolchain=Toolchain("x", None, *programs, family, "X MPI 1.0"))


def test_the_compiler_is_tested(tmp_path: Path) -> None:
    assert libraries.check_compiler(a_toolchain(tmp_path)).level == "ok"
    too_old = a_toolchain(tmp_path, wrapper='echo "unknown option -std=c++20" >&2; exit 1')
    result = libraries.check_compiler(too_old)
    assert result.level == "fail"
    assert "unknown option -std=c++20" in result.what


NO_COMPILER = """\
cat >&2 <<'END'
--------------------------------------------------------------------------
The Open MPI wrapper compiler was unable to find the specified compiler
x86_64-conda-linux-gnu-c++ in your PATH.

Note that this compiler was either specified at configure time or in
one of several possible environment variables.
--------------------------------------------------------------------------
END
exit 1"""
"""NO_COMPILER is Open MPI's wrapper, of conda, without the compiler that it was made for."""
NOT_FOUND = "echo 'mpicxx: line 340: x86_64-conda-linux-gnu-c++: command not found' >&2; exit 127"


@pytest.mark.parametrize(
    ("wrapper", "family", "variable"),
    [(NO_COMPILER, "openmpi", "OMPI_CXX="), (NOT_FOUND, "mpich", "MPICH_CXX=")],
)
def test_a_wrapper_without_its_compiler_is_named_as_such(
    tmp_path: Path, wrapper: str, family: Family, variable: str
) -> None:
    broken = a_toolchain(tmp_path, wrapper=wrapper, family=family)

    for check in (libraries.check_mpi, libraries.check_compiler):
        found = check(broken)
        assert found.level == "fail"
        assert "x86_64-conda-linux-gnu-c++" in found.what
        assert found.remedy is not None
        assert variable in found.remedy and "conda install cxx-compiler" in found.remedy


def test_a_library_without_a_launcher_is_not_reported_as_uninstalled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = in_path.Unusable("no mpirun in PATH", "load an MPI module")
    monkeypatch.setattr(in_path, "unusable", lambda: part)
    toolchain = a_toolchain(tmp_path).toolchain
    assert toolchain is not None
    added = replace(toolchain, name="openmpi", prefix=tmp_path)

    for patient in (Patient(), Patient(toolchain=added)):
        found = libraries.check_mpi(patient)
        assert (found.level, found.what, found.remedy) == ("fail", part.what, part.remedy)


def test_a_library_started_only_by_srun_is_not_tested_outside_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLURMD_NODENAME", raising=False)
    toolchain = a_toolchain(tmp_path).toolchain
    assert toolchain is not None
    patient = Patient(toolchain=replace(toolchain, mpirun=Path("srun"), launcher="srun"))

    for check in (libraries.check_binding, libraries.check_gpu_awareness):
        found = check(patient)
        assert found.level == "note"
        assert "Slurm job" in found.what


@pytest.mark.parametrize(
    "text",
    [
        "#!/no/such/python3\n",
        "\x7fno first line\n",
        "#!/bin/sh\nexec sleep 600\n",
        "#!/bin/sh\nexit 0\n",
        "#!/bin/sh\necho 'libmpi.so.40: cannot open shared object file' >&2\nexit 127\n",
    ],
)
@pytest.mark.parametrize("name", ["mpirun", "mpicxx"])
def test_a_broken_launcher_or_wrapper_does_not_stop_other_checks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    """Each ended in a traceback, or hung, or was called ok."""
    for limit in ("ANSWER_S", "COMPILED_S"):
        monkeypatch.setattr(in_path, limit, 0.5 if "sleep" in text else 60.0)
    monkeypatch.setattr(libraries, "_LAUNCHED_S", 0.5)
    patient = a_toolchain(tmp_path, LAUNCHER)
    (tmp_path / name).write_text(text)

    found = [check(patient) for check in OF_LIBRARIES]

    failed = [one for one in found if one.level == "fail"]
    assert failed
    if name == "mpicxx":
        assert {one.check for one in failed} >= {"C++ compiler", "MPI"}
    assert any(str(tmp_path / name) in f"{one.what} {one.remedy}" for one in failed)


OF_LIBRARIES = (
    libraries.check_compiler,
    libraries.check_mpi,
    libraries.check_binding,
    libraries.check_gpu_awareness,
)


def test_a_check_that_cannot_run_fails_and_the_others_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def check_disk(patient: Patient) -> CheckResult:
        raise OSError(5, "Input/output error")

    def check_rest(patient: Patient) -> CheckResult:
        return CheckResult("rest", "ok", "fine")

    monkeypatch.setattr(command, "CHECKS", (check_disk, check_rest))

    failed, rest = command.examine(Patient())

    assert (failed.check, failed.level, rest.level) == ("disk", "fail", "ok")
    assert "Input/output error" in failed.what


def test_the_srun_start_method_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("srun", "scontrol"):
        (tmp_path / "bin" / name).symlink_to(fake_slurm.__file__)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_SLURM", str(tmp_path))
    monkeypatch.setenv("SLURM_CONF", str(tmp_path / "slurm.conf"))
    monkeypatch.delenv("SLURM_CONF")  # its file may be elsewhere than in /etc/slurm
    found = libraries.check_srun(Patient())
    assert found.level == "note"
    assert shows(found.what, "pmi2 and cray_shasta.", "PMIx")
    assert found.remedy is not None and "libpmix2" in found.remedy

    (tmp_path / "pmix").touch()
    assert libraries.check_srun(Patient()).what.endswith(" pmix, pmi2, and cray_shasta")


def test_a_slurm_client_without_a_cluster_is_a_note_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "srun").write_text("#!/bin/sh\necho 'srun: fatal: no configuration' >&2\nexit 1\n")
    (tmp_path / "srun").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_CONF", str(tmp_path / "slurm.conf"))
    found = libraries.check_srun(Patient())
    assert found.level == "note" and found.remedy and "SLURM_CONF" in found.remedy
    assert found.what.endswith("fatal: no configuration") and "\n" not in found.what


def test_wrapper_and_launcher_of_different_libraries_are_reported(tmp_path: Path) -> None:
    other = a_toolchain(tmp_path, wrapper='echo "#define OMPI_MAJOR_VERSION 4"')
    result = libraries.check_mpi(other)
    assert result.level == "fail"
    assert "openmpi" in result.what and "X MPI 1.0" in result.what
    last = "for word; do :; done"
    both = f"echo '#define MPICH_VERSION \"4\"'; {last}; : >$word"
    same = a_toolchain(tmp_path, wrapper=both)
    assert libraries.check_mpi(same).level == "ok"


def test_binding_is_tested(tmp_path: Path) -> None:
    bound = libraries.check_binding(a_toolchain(tmp_path, LAUNCHER))
    assert bound.level == "ok"
    unbound = LAUNCHER.replace("i=0", "shift 3; i=0", 1)
    if len(machine.physical_cores()) > 1:
        result = libraries.check_binding(a_toolchain(tmp_path, unbound))
        assert result.level == "fail"
        cpus = Job(Layout(ppn=2)).cpus_of_ranks()
        assert " and ".join(map(cpu_list, cpus)) in result.what
    result = libraries.check_binding(a_toolchain(tmp_path, "echo no slots >&2; exit 1"))
    assert (result.level, result.what) == ("fail", f"{tmp_path / 'mpirun'}: no slots")


NVIDIA = "proc/driver/nvidia"
KFD = "sys/class/kfd/kfd/topology/nodes"


def test_gpus_are_listed_with_driver_and_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALOSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CUDACXX", raising=False)
    fake = FakeMachine(tmp_path)
    assert libraries.check_gpus(Patient(tmp_path)).what.endswith("an emulated GPU")
    fake.write(f"{NVIDIA}/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54  x")
    assert "(NVIDIA 550.54)" in libraries.check_gpus(Patient(tmp_path)).what

    for number in (1, 2):
        fake.write(f"{NVIDIA}/gpus/0000:0{number}/information", "Model: \t NVIDIA H200 \nIRQ: 1")
    found = libraries.check_gpus(Patient(tmp_path))
    assert found.level == "note"
    assert shows(found.what, "2 x NVIDIA H200 ", " NVIDIA 550.54")
    assert found.remedy is not None and "haloscope toolchain add cuda" in found.remedy

    nvcc = tmp_path / "nvcc"
    nvcc.touch(0o755)
    monkeypatch.setenv("CUDACXX", str(nvcc))
    found = libraries.check_gpus(Patient(tmp_path))
    assert found.level == "ok"
    assert str(nvcc) in found.what and found.what.endswith(" --device cuda")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_driver_version_of_open_nvidia_modules_is_read(machine: str, tmp_path: Path) -> None:
    said = f"NVRM version: NVIDIA UNIX Open Kernel Module for {machine}  560.35.03  Release Build"
    fake = FakeMachine(tmp_path).write(f"{NVIDIA}/version", said)

    assert gpus.nvidia_driver(fake.root) == "560.35.03"


def test_amd_gpus_are_the_nodes_that_compute(tmp_path: Path) -> None:
    fake = FakeMachine(tmp_path).write("sys/module/amdgpu/version", "6.3.6")
    fake.write(f"{KFD}/0/properties", "cpu_cores_count 64\nsimd_count 0")
    fake.write(f"{KFD}/1/properties", "cpu_cores_count 0\nsimd_count 440")
    fake.write(f"{KFD}/1/name", "aldebaran")
    found = libraries.check_gpus(Patient(tmp_path))
    assert shows(found.what, "AMD aldebaran ", " amdgpu 6.3.6")


AWARE = 'extern "C" int MPIX_Query_cuda_support() {{ return {yes}; }}'
MPI_H = "inline void MPI_Init(int*, char***) {} inline void MPI_Finalize() {}"
LAUNCH = 'for last; do :; done; exec "$last"'


@pytest.mark.parametrize(("yes", "said", "level"), [(1, "yes", "ok"), (0, "no", "note")])
def test_the_library_is_queried_for_gpu_memory_support(
    tmp_path: Path, yes: int, said: str, level: str
) -> None:
    (tmp_path / "mpi.h").write_text(MPI_H)
    (tmp_path / "lib.cpp").write_text(AWARE.format(yes=yes))
    wrapper = f'exec c++ -I{tmp_path} {tmp_path}/lib.cpp "$@"'
    patient = replace(a_toolchain(tmp_path, LAUNCH, wrapper), root=tmp_path)
    FakeMachine(tmp_path).write(f"{NVIDIA}/gpus/0/information", "Model: NVIDIA H200")

    found = libraries.check_gpu_awareness(patient)

    assert (found.level, found.what) == (level, f"X MPI 1.0 (CUDA: {said}, HIP: unknown)")
    assert (found.remedy is None) == (level == "ok")
    broken = a_toolchain(tmp_path, "exit 1", wrapper)
    assert libraries.check_gpu_awareness(broken).what.startswith("X MPI 1.0 does not ")


def test_without_mpi_no_check_crashes() -> None:
    assert libraries.check_mpi(Patient()).level == "note"
    assert libraries.check_binding(Patient()).level == "note"
    assert libraries.check_gpu_awareness(Patient()).level == "note"


def test_every_check_is_listed() -> None:
    modules = (libraries, processors, system)
    every = {value for one in modules for name, value in vars(one).items() if "check_" in name}
    assert every == {*command.CHECKS}


@pytest.mark.parametrize(("level", "code"), [("ok", 0), ("note", 0), ("warn", 0), ("fail", 1)])
def test_the_command(
    level: Severity,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = CheckResult("binding", level, "what [is] found", "do this")
    monkeypatch.setattr(command, "CHECKS", (lambda patient: found,))
    monkeypatch.setattr(library, "available", list)
    assert command.execute(argparse.Namespace(json=False)) == code
    text = capsys.readouterr().out
    assert f"{level}  binding: what [is] found" in text
    assert ("do this" in text) == (level != "ok")
    assert command.execute(argparse.Namespace(json=True)) == code
    answer = json.loads(capsys.readouterr().out)
    assert answer["findings"] == [
        {"check": "binding", "level": level, "what": "what [is] found", "remedy": "do this"}
    ]
    assert answer["machine"]["cores"] >= 1
    assert answer["haloscope"] == __version__
