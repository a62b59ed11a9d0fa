# SPDX-License-Identifier: BSD-3-Clause
"""All checks of this machine.

A check is a function from a Patient to one CheckResult; CHECKS lists them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from haloscope.errors import UserError
from haloscope.run.doctor import CheckResult, Patient, libraries, processors, system
from haloscope.toolchains.library import available

CHECKS: tuple[Callable[[Patient], CheckResult], ...] = (
    processors.check_cores,
    processors.check_core_kinds,
    processors.check_threads_per_core,
    processors.check_quota,
    processors.check_governor,
    processors.check_turbo,
    processors.check_load,
    processors.check_memory,
    processors.check_huge_pages,
    processors.check_numa_balancing,
    processors.check_clock,
    system.check_scratch,
    libraries.check_compiler,
    libraries.check_mpi,
    libraries.check_srun,
    libraries.check_binding,
    libraries.check_gpus,
    libraries.check_gpu_awareness,
    libraries.check_tuning,
    libraries.check_simulation,
    system.check_python,
    system.check_stack,
    system.check_locked_memory,
    system.check_host_name,
    system.check_shared_memory,
    system.check_cache,
)


def examine(patient: Patient | None = None) -> Iterator[CheckResult]:
    """Yield the result of every check, in the order of CHECKS."""
    if patient is None:
        patient = Patient(toolchain=next(iter(available()), None))
    for check in CHECKS:
        yield _checked(check, patient)


def _checked(check: Callable[[Patient], CheckResult], patient: Patient) -> CheckResult:
    """Return a check's result: a failure if it raises an error, so that other checks still run."""
    try:
        return check(patient)
    except (OSError, UserError, ValueError) as error:
        name = check.__name__.removeprefix("check_").replace("_", " ")
        if isinstance(error, UserError):
            first = error.problems[0]
            return CheckResult(name, "fail", f"{first.where}: {first.what}", first.remedy)
        return CheckResult(name, "fail", f"this check could not be completed: {error}")


def exit_code(results: list[CheckResult]) -> int:
    """Return 1 if any check failed, else 0."""
    return int(any(result.level == "fail" for result in results))
