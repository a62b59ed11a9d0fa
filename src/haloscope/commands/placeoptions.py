# SPDX-License-Identifier: BSD-3-Clause
"""Options of a command that say where its cases run: on this machine, or simulated."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from haloscope.errors import Problem
from haloscope.run import places


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add --on, --execute (as `arithmetic`: `execute` is the command's function), --keep ..."""
    add = parser.add_argument
    add(
        "--on",
        metavar="PLACE",
        default="local",
        help="this machine (local); a site's name: its batch system runs it (haloscope site "
        "detect); or a cluster file's name (haloscope list): simulated there",
    )
    add(
        "--execute",
        dest="arithmetic",
        action="store_true",
        help="have simulated cases do their arithmetic too, all of a solve, and verify the answer; "
        "a study leaves out those that this machine has no memory for",
    )
    add("--keep", metavar="DIR", help="keep each simulated case's files there, and the command")
    add(
        "--replicates",
        metavar="N",
        type=int,
        help="simulate each case so often, its nodes drawn anew by how far the cluster file says "
        "that they lie apart",
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
        help="a program of your own, as a kernel: the folder of its program.toml (may be repeated)",
    )


def misplaced(arguments: argparse.Namespace) -> Iterator[Problem]:
    """The options given that the place has no use for, or can't use."""
    facts = places.facts(arguments.on)
    if facts is None:
        return  # there is no such place, as will be told
    if facts.simulated:
        for option in ("oversubscribe", "toolchain"):
            if getattr(arguments, option):
                mend = "leave it out, or run on this machine"
                yield Problem(f"--{option}", "can't be simulated", mend)
        if getattr(arguments, "device", None):
            mend = "leave it out: memory = device is in them (node.gpu of the cluster's file)"
            yield Problem("--device", "a simulated cluster has its own GPUs, or none", mend)
        if arguments.keep and Path(arguments.keep).exists() and not Path(arguments.keep).is_dir():
            yield Problem(f"--keep {arguments.keep}", "is a file", "give a folder, new or there")
        return
    mend = "it is for simulated cases: --on PLACE"
    if arguments.keep:
        yield Problem("--keep", "there is nothing to keep", mend)
    if arguments.replicates is not None:
        yield Problem("--replicates", "launches differ here by themselves", "give --launches")
    if arguments.arithmetic:
        where = f"on {arguments.on}" if facts.remote else "on this machine"
        yield Problem("--execute", f"{where} every answer is verified", mend)
