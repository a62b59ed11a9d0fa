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
        help="where to run: local (this machine), a site (its batch system; see haloscope site "
        "detect), or a cluster (simulated; see haloscope cluster list)",
    )
    add(
        "--execute",
        dest="arithmetic",
        action="store_true",
        help="also compute and verify the solution in simulated cases; cases that need more memory "
        "than this machine has are left out of a study",
    )
    add("--keep", metavar="DIR", help="keep the files and command of each simulated case in DIR")
    add(
        "--replicates",
        metavar="N",
        type=int,
        help="simulate each case N times with the node-to-node variability of the cluster file",
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
        help="folder with the program.toml of a program of your own (repeatable)",
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
