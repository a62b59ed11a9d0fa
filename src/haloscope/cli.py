"""The command line: finds the subcommand, turns a UserError into a message and an exit code.

Exit codes: 0 good, 1 some case failed or was wrong, 2 usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from importlib import import_module

from rich.console import Console

from haloscope import __version__
from haloscope.errors import UserError

COMMANDS = (
    "run",
    "once",
    "report",
    "show",
    "compare",
    "list",
    "describe",
    "calibrate",
    "doctor",
    "toolchain",
    "paper",
    "validate",
    "cluster",
)

_DESCRIPTION = "A laboratory for the communication performance of parallel (MPI) programs."
_EPILOG = """\
first steps:
  haloscope run quick             how this machine does on communication-bound work
  haloscope list                  the studies, kernels and papers that are there
  haloscope doctor                what on this machine would spoil a measurement
  haloscope once poisson_cg n=512 --ranks 2
"""


def parser() -> argparse.ArgumentParser:
    """The whole command line, subcommand by subcommand."""
    top = argparse.ArgumentParser(
        prog="haloscope",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"haloscope {__version__}")
    subparsers = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        import_module(f"haloscope.commands.{name}").add_parser(subparsers)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code."""
    errors = Console(stderr=True, highlight=False)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does
    try:
        arguments = parser().parse_args(argv)
        return int(arguments.execute(arguments))
    except UserError as error:
        for problem in error.problems:
            errors.print(f"haloscope: {problem}", markup=False, soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        errors.print("haloscope: interrupted")
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:  # of the files and programs of this machine: a full disk, no rights
        about = f"{error.filename}: " if error.filename else ""
        errors.print(f"haloscope: {about}{error.strerror or error}", markup=False, soft_wrap=True)
        return 1
