# SPDX-License-Identifier: BSD-3-Clause
"""haloscope doctor: check this machine for sources of noise and suggest fixes."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from haloscope import __version__
from haloscope.commands.screen import Screen
from haloscope.host import machine
from haloscope.run.doctor import CheckResult, checks

_DESCRIPTION = """\
Check this machine's cores, binding, frequency governor, load, memory, compilers, MPI library, and
limits. Each result is ok, a note, a warning (measurements would be disturbed), or a failure (runs
would not work), with a remedy where one exists. Nothing is changed.
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
    parser.add_argument(
        "--json", action="store_true", help="print version, machine, and findings as JSON"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Print the findings as they are made; return 1 if a check failed, otherwise 0."""
    if arguments.json:
        return _print_json()

    console = Screen()
    findings = []
    for finding in checks.examine():
        findings.append(finding)
        _print(console, finding)
    counts = [f"{sum(f.level == level for f in findings)} {level}" for level in _STYLES]
    console.print(f"\n{', '.join(counts)}")
    return checks.exit_code(findings)


def _print(console: Console, finding: CheckResult) -> None:
    style = _STYLES[finding.level]
    console.print(
        Text.assemble(
            (f"{finding.level:>4}  ", style), (f"{finding.check}: ", "bold"), finding.what
        )
    )
    if finding.remedy and finding.level != "ok":
        console.print(Padding(Text(finding.remedy, "dim"), (0, 0, 0, 8)))


def _print_json() -> int:
    findings = list(checks.examine())
    answer = {
        "haloscope": __version__,
        "machine": machine.describe(),
        "findings": [asdict(finding) for finding in findings],
    }
    print(json.dumps(answer, indent=2))
    return checks.exit_code(findings)
