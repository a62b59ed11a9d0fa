# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands have, such as those for the place of a command's cases."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haloscope.errors import Problem

if TYPE_CHECKING:
    from haloscope.study.checks.capacity import PlaceFacts


def flag(parser: argparse._ActionsContainer, name: str, text: str, **options: Any) -> None:
    """Add an option without a value. text: its help."""
    parser.add_argument(name, action="store_true", help=text, **options)


def number(parser: argparse._ActionsContainer, name: str, text: str, **options: Any) -> None:
    """Add an option with an integer, N. text: its help."""
    parser.add_argument(name, metavar="N", type=int, help=text, **options)


def add_place_to(parser: argparse.ArgumentParser) -> None:
    """Add --on, --execute (as `arithmetic`: `execute` is the command's function), --keep ..."""
    add = parser.add_argument
    add(
        "--on",
        metavar="PLACE",
        default="local",
        help="where to run: local (this machine), the name of a site (submits batch jobs; see "
        "haloscope site), or the name of a cluster (simulates; see haloscope cluster list)",
    )
    flag(
        parser,
        "--execute",
        "in simulated cases, also compute and verify the solution; skip cases that need more "
        "memory than this machine has",
        dest="arithmetic",
    )
    add("--keep", metavar="DIR", help="save the simulator's files and command of each case in DIR")
    number(
        parser,
        "--replicates",
        "simulate each case N times, with node speeds drawn at random as the cluster file "
        "specifies",
    )


def add_programs_to(parser: argparse.ArgumentParser) -> None:
    """Add --program: the external programs that may be run."""
    parser.add_argument(
        "--program",
        dest="programs",
        metavar="FOLDER",
        action="append",
        type=Path,
        default=[],
        help="folder with the program.toml of an external program to run (repeatable)",
    )


def add_params_to(parser: argparse.ArgumentParser) -> None:
    """Add key=value, also after options: argparse itself takes them only right after KERNEL."""
    parser.add_argument(
        "params",
        metavar="key=value",
        nargs="*",
        default=[],
        help="parameters of the kernel, such as n=512 (see haloscope describe KERNEL)",
    )
    parse = parser.parse_known_args

    def parse_known_args(
        args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        found, rest = parse(args, namespace)
        params = [word for word in rest if "=" in word and not word.startswith("-")]
        found.params = [*found.params, *params]
        return found, [word for word in rest if word not in params]

    parser.parse_known_args = parse_known_args  # type: ignore[assignment, method-assign]


def wrong_params(arguments: argparse.Namespace) -> Iterator[Problem]:
    """Yield a problem for each word that is not key=value, and each key that is given twice."""
    pairs = [word.partition("=") for word in arguments.params]
    for key, _, value in pairs:
        if not (key and value):
            remedy = "write KEY=VALUE, such as n=512 (see haloscope describe KERNEL)"
            yield Problem(key or f"={value}", "not of the form KEY=VALUE", remedy)
    for key, times in Counter(key for key, _, _ in pairs).items():
        if times > 1:
            yield Problem(key, "this parameter is given more than once", "give it once")


def misplaced(arguments: argparse.Namespace, facts: PlaceFacts | None) -> Iterator[Problem]:
    """Yield a problem for each given option that the place of `facts` does not support."""
    if facts is None:
        return  # an unknown place is reported later
    if facts.simulated:
        for option in ("oversubscribe", "toolchain"):
            if getattr(arguments, option):
                what = "not supported for simulated cases"
                yield Problem(f"--{option}", what, f"remove --{option}, or run on this machine")
        if getattr(arguments, "device", None):
            what = "not supported for simulated cases; the cluster file determines the GPUs"
            yield Problem("--device", what, "remove --device, and use memory = device in the study")
        if arguments.keep and Path(arguments.keep).exists() and not Path(arguments.keep).is_dir():
            yield Problem(f"--keep {arguments.keep}", "is a file, not a folder", "give a folder")
        return
    remedy = "remove it, or simulate with --on CLUSTER"
    if arguments.keep:
        yield Problem("--keep", "supported only for simulated cases", remedy)
    if arguments.replicates is not None:
        what = "supported only for simulated cases"
        yield Problem("--replicates", what, "use --launches to repeat measured cases")
    if arguments.arithmetic:
        what = "supported only for simulated cases; measured cases always compute their result"
        yield Problem("--execute", what, remedy)
