# SPDX-License-Identifier: BSD-3-Clause
"""haloscope profile: count messages and bytes between ranks of any MPI program."""

from __future__ import annotations

import argparse
import csv
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import product
from pathlib import Path

from rich.console import Console
from rich.table import Table

from haloscope.commands.machines import profile_page
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError
from haloscope.paths import write_whole
from haloscope.profiling import counter, document, launcher, sites, traffic, usage
from haloscope.profiling.process import Sent
from haloscope.profiling.traffic import Flow, Traffic, World
from haloscope.profiling.usage import Usage
from haloscope.quantities import percent, seconds, size
from haloscope.toolchains.library import Toolchain

_DESCRIPTION = """\
Count messages and bytes between the ranks of any MPI program for each calling function. Also count
one-sided transfers, collective operations, and MPI file operations, and measure the time spent in
MPI functions and waiting for other ranks. The program is not modified; a library is preloaded. A
page, JSON, and CSV files are written to DIR.
"""
_EPILOG = """\
examples:
  haloscope profile -- mpirun -n 4 ./program input
  haloscope profile --toolchain mpich --out counts -- srun -n 4 ./program

A program can name the following section by calling MPI_Pcontrol(1000, "name"). To see the names of
a program's functions, link it with -rdynamic. Messages inside collective operations are not
counted. The counts of a failed run are kept and marked as partial.

exit codes: the program's own; 2 usage error; 130 interrupted
"""
_GRACE_S = 10.0
MOST_SHOWN = 16
"""MOST_SHOWN is the maximum number of ranks in a printed matrix: more do not fit on a line."""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `profile`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.usage = (
        "haloscope profile [--out DIR] [--toolchain NAME] [--sites] -- LAUNCHER ... PROGRAM ..."
    )
    parser.add_argument(
        "--out", metavar="DIR", type=Path, help="output folder (default: profile-DATE-TIME)"
    )
    parser.add_argument("--toolchain", metavar="NAME", help="MPI library that the program uses")
    sites_help = "record the source line of each MPI call (needs addr2line; compile with -g)"
    parser.add_argument("--sites", action="store_true", help=sites_help)
    whole = "complete command to run; -- before it is optional"
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND", help=whole)


def execute(arguments: argparse.Namespace) -> int:
    """Run the program and show its messages; return its exit code."""
    given: Sequence[str] = arguments.words
    words = given[1:] if given[:1] == ["--"] else given
    if not words:
        remedy = "give a command: haloscope profile -- mpirun -n 2 ./program"
        raise UserError(Problem("profile", "no command to run", remedy))
    if arguments.sites:
        sites.tool()
    toolchain = launcher.toolchain_of(words, arguments.toolchain)
    out = arguments.out or Path(f"profile-{datetime.now():%Y%m%d-%H%M%S}")
    if out.exists() and any(out.iterdir()):
        raise UserError(Problem(f"--out {out}", "this folder is not empty", "give another folder"))
    made = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    try:
        return _profiled(words, toolchain, out, arguments.sites)
    finally:
        if made and not any(out.iterdir()):
            out.rmdir()


def _profiled(words: Sequence[str], toolchain: Toolchain, out: Path, with_sites: bool) -> int:
    code, found = _counted(words, toolchain, out)
    if not found:
        return code
    worlds = traffic.put_together(found)
    used = [usage.of_world(world) for world in found]
    places = {function.place for one in used for function in one.functions}
    named = sites.resolved(places) if with_sites else None
    data = [document.of_world(one, its, named) for one, its in zip(worlds, used, strict=True)]
    profile = document.ProfileJson(command=tuple(words), exit_code=code, worlds=tuple(data))
    write_whole(out / "profile.json", profile.model_dump_json(indent=1) + "\n")
    written = [out / "profile.json"]
    for name in document.LISTS:
        lines = document.table(data, name)
        if len(lines) > 1 or name in ("traffic", "collectives"):
            written.append(out / f"{name}.csv")
            with written[-1].open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows(lines)
    if code != 0:
        Screen().print(f"the command ended with exit code {code}")
    from haloscope.report.draw.figures import matrix  # loads matplotlib

    for one, its, shown in zip(worlds, used, data, strict=True):
        _show(one, its, shown, len(worlds), Screen())
        cells = {pair: sent.bytes for pair, sent in one.matrix().items()}
        name = "traffic.png" if one.number == 1 else f"traffic-{one.number}.png"
        written.append(matrix.write(cells, one.ranks, out / name))
    written.append(profile_page.write(profile, out))
    Screen().print(f"page: {written[-1]}; data: {out}", soft_wrap=True)
    return code


def _counted(words: Sequence[str], toolchain: Toolchain, out: Path) -> tuple[int, list[World]]:
    """Run a command with the counter; return its exit code and the output of each world's
    processes.

    Its ranks write inside `out`, which other hosts may see, too, and which is cleaned up
    afterwards. A program that failed may not have used MPI, so missing output is then no error.
    """
    with tempfile.TemporaryDirectory(dir=out, prefix="ranks-") as folder:
        counts = Path(folder).absolute()
        variables = counter.environment(toolchain, counter.built(toolchain), counts)
        command, variables = launcher.passed_on(words, toolchain, variables)
        code = _ended(command, variables)
        if code != 0 and not any(counts.iterdir()):
            return code, []
        return code, traffic.worlds(counts)


def _ended(command: Sequence[str], variables: Mapping[str, str]) -> int:
    """Run a command and return its exit code. An interrupt ends the command, not this process."""
    with subprocess.Popen(command, env=variables) as program:
        try:
            code = program.wait()
        except KeyboardInterrupt:
            program.terminate()
            try:
                program.wait(_GRACE_S)
            except subprocess.TimeoutExpired:
                program.kill()
            return 130
    return code if code >= 0 else 128 - code


def _show(found: Traffic, used: Usage, data: document.WorldJson, worlds: int, out: Console) -> None:
    if worlds > 1:
        parent = f", spawned by world {found.spawned_by}" if found.spawned_by else ""
        out.print(f"world {found.number}{parent}:")
    out.print(traffic.summary(found))
    if (why := traffic.lacks(found)) is not None:
        out.print(f"partial: {why}")
    for function, calls in sorted(found.uncounted.items()):
        out.print(f"not counted: {calls:,} {function}")
    together = _operations("collective operation", "bytes contributed", found.operations)
    files = _operations("file operation", "bytes", found.file_operations)
    waits = Table("wait", "time", "of run time", box=None)
    for name, value, share in profile_page.waits(data):
        waits.add_row(name, value, share)
    tables = (_phases(found), together, files, _outside(found), _time(used), waits)
    for table in (*tables, *_details(data)):
        if table.rows:
            out.print(table, "")
    for line in profile_page.unknown_waits(data):
        out.print(line, soft_wrap=True)
    cells = found.matrix()
    if cells and found.ranks <= MOST_SHOWN:
        out.print(_matrix(found))
    elif cells:
        out.print(f"too large to print ({found.ranks} ranks); see the picture and the CSV file")


MOST_PHASES = 12
"""MOST_PHASES is the number of printed phases, those with the most bytes first."""


def _phases(found: Traffic) -> Table:
    table = Table("phase", "kind", box=None)
    table.columns[0].overflow = "fold"
    for title in ("messages", "bytes", "pairs", "mean message"):
        table.add_column(title, justify="right")
    pairs_of: dict[tuple[str, str], list[Flow]] = {}
    for flow in found.pairs:
        pairs_of.setdefault((flow.phase, flow.kind), []).append(flow)
    rows = [key for key in product(found.phases, traffic.KINDS) if key in pairs_of]
    for phase, kind in rows[:MOST_PHASES]:
        sent = found.total(phase, kind)
        pairs = len({(flow.sender, flow.receiver) for flow in pairs_of[phase, kind]})
        mean = size(round(sent.bytes / sent.messages))
        table.add_row(phase, kind, f"{sent.messages:,}", f"{sent.bytes:,}", str(pairs), mean)
    if len(rows) > MOST_PHASES:
        table.add_row(f"{len(rows) - MOST_PHASES} more in traffic.csv")
    return table


def _operations(title: str, size_title: str, found: Mapping[str, Sent]) -> Table:
    table = Table(title, box=None)
    for heading in ("calls (all ranks)", size_title):
        table.add_column(heading, justify="right")
    for operation, sent in found.items():
        table.add_row(operation, f"{sent.messages:,}", f"{sent.bytes:,}")
    return table


MOST_FUNCTIONS = 8
"""MOST_FUNCTIONS is the number of printed functions and sites; the files contain all."""


def _time(used: Usage) -> Table:
    table = Table("time in MPI", box=None)
    for title in ("calls", "all ranks", "of run time", "longest rank"):
        table.add_column(title, justify="right")
    every = used.by(lambda function: function.name)
    rows = [(name, usage.total(of), of) for name, of in every.items()][:MOST_FUNCTIONS]
    for name, spent, of_ranks in rows:
        longest = max(of_ranks, key=lambda rank: of_ranks[rank].seconds)
        rank = f"{seconds(of_ranks[longest].seconds)} (rank {longest})"
        share = percent(used.share(spent.seconds))
        table.add_row(name, f"{spent.calls:,}", seconds(spent.seconds), share, rank)
    if len(every) > 1:
        share = percent(used.share(used.mpi_seconds))
        table.add_row("all functions", "", seconds(used.mpi_seconds), share, "")
    return table


def _details(data: document.WorldJson) -> list[Table]:
    comms = Table("communicator", "messages", "bytes", "collectives", "time", box=None)
    if len(data.communicators) > 1:
        for comm in data.communicators[:MOST_FUNCTIONS]:
            counts = (f"{comm.messages:,}", f"{comm.bytes:,}", f"{comm.collectives:,}")
            comms.add_row(comm.communicator, *counts, seconds(comm.seconds))
    places = Table("call site", "function", "calls", "time", box=None)
    places.columns[0].overflow = "fold"
    for one in data.sites[:MOST_FUNCTIONS]:
        places.add_row(one.site, one.function, f"{one.calls:,}", seconds(one.seconds))
    return [comms, places]


def _outside(found: Traffic) -> Table:
    table = Table("from (other worlds)", "to", box=None)
    for title in ("messages", "bytes"):
        table.add_column(title, justify="right")
    for ends, sent in sorted(found.outside().items(), key=lambda item: str(item[0])):
        names = (f"rank {end.rank} of {_world(end.world)}" for end in ends)
        table.add_row(*names, f"{sent.messages:,}", f"{sent.bytes:,}")
    return table


def _world(number: int | None) -> str:
    return "another world" if number is None else f"world {number}"


def _matrix(found: Traffic) -> Table:
    cells = found.matrix()
    table = Table("bytes from", box=None)
    for receiver in range(found.ranks):
        table.add_column(f"to {receiver}", justify="right")
    for sender in range(found.ranks):
        row = (cells.get((sender, receiver)) for receiver in range(found.ranks))
        table.add_row(str(sender), *(size(one.bytes) if one else "." for one in row))
    return table
