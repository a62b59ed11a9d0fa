# SPDX-License-Identifier: BSD-3-Clause
"""haloscope doctor: check this machine for sources of noise and suggest fixes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict

from rich.padding import Padding
from rich.text import Text

from haloscope import __version__
from haloscope.commands.options import flag
from haloscope.commands.screen import Screen
from haloscope.errors import UserError
from haloscope.host import machine
from haloscope.run.doctor import CheckResult, Patient, libraries, processors, system
from haloscope.toolchains.library import available

_DESCRIPTION = """\
Check this machine's cores, binding, frequency governor, load, memory, compilers, MPI library, and
limits. Each result is ok, a note, a warning (measurements would be disturbed), or a failure (runs
would not work). Remedies are suggested where they exist. The command changes nothing.
"""
_EPILOG = """\
exit code: 0 if no check failed, else 1

examples:
  haloscope doctor
  haloscope doctor --json | jq '.findings[] | select(.level != "ok")'
"""
_STYLES = {"ok": "green", "note": "cyan", "warn": "yellow", "fail": "bold red"}


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `doctor`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    flag(parser, "--json", "print the version, the machine, and all results as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Print the findings as they are made; return 1 if a check failed, otherwise 0."""
    if arguments.json:
        return _print_json()

    console = Screen()
    findings = []
    for finding in examine():
        findings.append(finding)
        _print(console, finding)
    counts = [f"{sum(f.level == level for f in findings)} {level}" for level in _STYLES]
    console.print(f"\n{', '.join(counts)}")
    return exit_code(findings)


def _print(console: Screen, finding: CheckResult) -> None:
    style = _STYLES[finding.level]
    console.print(
        Text.assemble(
            (f"{finding.level:>4}  ", style), (f"{finding.check}: ", "bold"), finding.what
        )
    )
    if finding.remedy and finding.level != "ok":
        console.print(Padding(Text(finding.remedy, "dim"), (0, 0, 0, 8)))


def _print_json() -> int:
    findings = list(examine())
    answer = {
        "haloscope": __version__,
        "machine": machine.describe(),
        "findings": [asdict(finding) for finding in findings],
    }
    print(json.dumps(answer, indent=2))
    return exit_code(findings)


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
        why = (error.strerror if isinstance(error, OSError) else None) or error
        return CheckResult(name, "fail", f"this check could not be completed: {why}")


def exit_code(results: list[CheckResult]) -> int:
    """Return 1 if any check failed, else 0."""
    return int(any(result.level == "fail" for result in results))
