"""haloscope doctor: what on this machine would spoil a measurement or a run, each with its mend."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from haloscope.run.doctor import CheckResult

_DESCRIPTION = """\
Examine this machine: cores, binding, frequency governor, load, memory, compilers, MPI, limits.
Each finding is ok; a note, to know; a warning: measurements would be spoilt; or a failure: runs
would not work. What can be mended comes with its mend. Nothing is changed.
"""
_EPILOG = """\
exit code: 0 when nothing failed, 1 otherwise

examples:
  haloscope doctor
  haloscope doctor --json | jq '.findings[] | select(.level != "ok")'
"""
_STYLES = {"ok": "green", "note": "cyan", "warn": "yellow", "fail": "bold red"}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `doctor` to the command line."""
    parser = subparsers.add_parser(
        "doctor",
        help="what on this machine would spoil a measurement or a run, and the mend",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="the machine and all findings as JSON")
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Print the findings as they are made; 1 where one failed, else 0."""
    from haloscope.run import doctor

    if arguments.json:
        return _print_json()
    from rich.console import Console

    console = Console(highlight=False)
    findings = []
    for finding in doctor.examine():
        findings.append(finding)
        _print(console, finding)
    counts = [f"{sum(f.level == level for f in findings)} {level}" for level in _STYLES]
    console.print(f"\n{', '.join(counts)}")
    return doctor.exit_code(findings)


def _print(console: Console, finding: CheckResult) -> None:
    from rich.padding import Padding
    from rich.text import Text

    style = _STYLES[finding.level]
    console.print(
        Text.assemble(
            (f"{finding.level:>4}  ", style), (f"{finding.check}: ", "bold"), finding.what
        )
    )
    if finding.mend and finding.level != "ok":
        console.print(Padding(Text(finding.mend, "dim"), (0, 0, 0, 8)))


def _print_json() -> int:
    import json
    from dataclasses import asdict

    from haloscope.host import machine
    from haloscope.run import doctor

    findings = list(doctor.examine())
    answer = {"machine": machine.describe(), "findings": [asdict(finding) for finding in findings]}
    print(json.dumps(answer, indent=2))
    return doctor.exit_code(findings)
