# SPDX-License-Identifier: BSD-3-Clause
"""haloscope profile: who sends how much to whom in any MPI program."""

from __future__ import annotations

import argparse
import csv
import subprocess
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError
from haloscope.profiling import counter, traffic
from haloscope.profiling.traffic import Traffic
from haloscope.quantities import size
from haloscope.report.draw import matrix
from haloscope.toolchains import library
from haloscope.toolchains.library import Toolchain

_DESCRIPTION = """\
Run a program that uses MPI, and count what its ranks send: messages and bytes from each to each, by
the function that called MPI; and what they give to collective operations. The program is not
changed: a library of haloscope's is loaded before it. DIR gets the counts as CSV, and a picture.
"""
_EPILOG = """\
examples:
  haloscope profile -- mpirun -n 4 ./program input
  haloscope profile --toolchain mpich --out counts -- srun -n 4 ./program

A program that calls MPI_Pcontrol(1000, "name") names what follows itself. Functions of the program
have names where it exports them (link with -rdynamic); libraries do. Messages that MPI sends inside
collective operations, and one-sided ones, are not seen, nor calls of Fortran.

exit codes: the program's own, 2 usage
"""
MOST_SHOWN = 16
"""MOST_SHOWN is the largest number of ranks whose matrix is printed: more do not fit on a line."""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `profile`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.usage = "haloscope profile [--out DIR] [--toolchain NAME] -- LAUNCHER ... PROGRAM ..."
    parser.add_argument("--out", metavar="DIR", type=Path, help="(default: profile-DATE-TIME)")
    parser.add_argument("--toolchain", metavar="NAME", help="the MPI library of the program")
    whole = "the whole command; -- before it may be left out"
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND", help=whole)


def execute(arguments: argparse.Namespace) -> int:
    """Run the program, show what it sent; its exit code."""
    given: Sequence[str] = arguments.words
    words = given[1:] if given[:1] == ["--"] else given
    if not words:
        mend = "for example: haloscope profile -- mpirun -n 2 ./program"
        raise UserError(Problem("profile", "no command to run", mend))
    named = arguments.toolchain
    toolchain = library.find(named) if named else counter.of_launcher(words)
    counter.check(words, toolchain)
    out = arguments.out or Path(f"profile-{datetime.now():%Y%m%d-%H%M%S}")
    if out.exists() and any(out.iterdir()):
        raise UserError(Problem(f"--out {out}", "something is in it already", "give another"))
    made = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    try:
        return _profiled(words, toolchain, out)
    finally:
        if made and not any(out.iterdir()):
            out.rmdir()


def _profiled(words: Sequence[str], toolchain: Toolchain, out: Path) -> int:
    """Run the program, show what it sent and write it to `out`; its exit code."""
    code, found = _counted(words, toolchain, out)
    if found is None:
        return code
    for name, rows in (("traffic", traffic.table), ("collectives", traffic.collectives_table)):
        with (out / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows(found))
    _show(found, Screen())
    cells = {pair: sent.bytes for pair, sent in found.matrix().items()}
    picture = matrix.write(cells, found.ranks, out / "traffic.png")
    names = (out / "traffic.csv", out / "collectives.csv", picture)
    Screen().print(", ".join(map(str, names)), soft_wrap=True)
    return 0


def _counted(words: Sequence[str], toolchain: Toolchain, out: Path) -> tuple[int, Traffic | None]:
    """The exit code of the program, and what it sent if it ended well.

    Its ranks write inside `out`, which other hosts may see, too, and which is then as before.
    """
    with tempfile.TemporaryDirectory(dir=out, prefix="ranks-") as folder:
        counts = Path(folder).absolute()
        variables = counter.environment(toolchain, counter.built(toolchain), counts)
        code = subprocess.run(words, env=variables, check=False).returncode
        if code != 0:
            return (code if code > 0 else 128 - code), None
        return 0, traffic.read(counts)


def _show(found: Traffic, out: Console) -> None:
    out.print(traffic.summary(found))
    phases = Table(box=None)
    phases.add_column("phase", overflow="fold")
    for title in ("messages", "bytes", "pairs", "mean message"):
        phases.add_column(title, justify="right")
    for phase in found.phases:
        sent = found.total(phase)
        mean = size(round(sent.bytes / sent.messages))
        pairs = len(found.matrix(phase))
        phases.add_row(phase, f"{sent.messages:,}", f"{sent.bytes:,}", str(pairs), mean)
    together = Table("collective operation", box=None)
    for title in ("calls of all ranks", "bytes that they gave"):
        together.add_column(title, justify="right")
    for operation, sent in found.operations.items():
        together.add_row(operation, f"{sent.messages:,}", f"{sent.bytes:,}")
    for table in (phases, together):
        if table.rows:
            out.print(table, "")
    if found.pairs and found.ranks <= MOST_SHOWN:
        out.print(_matrix(found))
    elif found.pairs:
        out.print(f"the matrix of {found.ranks} ranks is in the picture and in the CSV file")


def _matrix(found: Traffic) -> Table:
    """Bytes from each rank (rows) to each (columns)."""
    cells = found.matrix()
    table = Table("bytes from", box=None)
    for receiver in range(found.ranks):
        table.add_column(f"to {receiver}", justify="right")
    for sender in range(found.ranks):
        row = (cells.get((sender, receiver)) for receiver in range(found.ranks))
        table.add_row(str(sender), *(size(one.bytes) if one else "." for one in row))
    return table
