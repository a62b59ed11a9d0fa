# SPDX-License-Identifier: BSD-3-Clause
"""haloscope profile: count messages and bytes between ranks of any MPI program."""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from haloscope.commands.machines import profile_page
from haloscope.commands.options import flag
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError
from haloscope.grouped import grouped
from haloscope.paths import write_whole
from haloscope.profiling import counter, document, launcher, traffic, usage
from haloscope.profiling.process import CallPlace
from haloscope.profiling.traffic import World
from haloscope.report.draw import terminal
from haloscope.toolchains.library import Toolchain

_DESCRIPTION = """\
Count messages and bytes between the ranks of any MPI program, by the function that sends them. Also
count one-sided transfers, collective operations, and MPI file operations. Measure the time that
each rank spends in MPI functions, and the part of it that it spends waiting for other ranks. The
program is not modified; a library is preloaded. The results are written to DIR as an HTML page,
JSON, and CSV.
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
    sites_help = (
        "record the source line of each MPI call (requires addr2line and a program compiled with "
        "-g)"
    )
    flag(parser, "--sites", sites_help)
    whole = "the complete command that starts the MPI program"
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND", help=whole)


def execute(arguments: argparse.Namespace) -> int:
    """Run the program and show its messages; return its exit code."""
    given: Sequence[str] = arguments.words
    words = given[1:] if given[:1] == ["--"] else given
    if not words:
        remedy = "give a command: haloscope profile -- mpirun -n 2 ./program"
        raise UserError(Problem("profile", "no command to run", remedy))
    if arguments.sites:
        _addr2line_path()
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
    named = _source_lines(places) if with_sites else None
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

    page = profile_page.document(profile)
    for one in worlds:
        parent = f", spawned by world {one.spawned_by}" if one.spawned_by else ""
        if len(worlds) > 1:
            Screen().print(f"world {one.number}{parent}:")
        Screen().print(traffic.summary(one))
        cells = {pair: sent.bytes for pair, sent in one.matrix().items()}
        name = "traffic.png" if one.number == 1 else f"traffic-{one.number}.png"
        written.append(matrix.write(cells, one.ranks, out / name))
        if cells and one.ranks > profile_page.MOST_PRINTED:
            where = f"see {name} and traffic.csv"
            Screen().print(f"matrix of {one.ranks} ranks: too large to print, {where}")
    Screen().print(terminal.everything(page))
    Screen().print(terminal.tables([*profile_page.printed(page)]))
    written.append(profile_page.write(page, out))
    Screen().lines(f"page: {written[-1]}; data: {out}")
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


_TOOLS = ("addr2line", "llvm-addr2line")


def _addr2line_path() -> str:
    """Return the path of addr2line. Raise UserError if it is not installed."""
    if found := next((path for name in _TOOLS if (path := shutil.which(name))), None):
        return found
    raise UserError(
        Problem("--sites", "addr2line not found", "install binutils (apt install binutils)")
    )


def _source_lines(places: Iterable[CallPlace]) -> dict[CallPlace, str]:
    """Return places as "function (file:line)", with inlined calls.

    Without debug information, only the function.
    """
    found = {}
    for file, own in grouped(dict.fromkeys(places), lambda place: place.file).items():
        printed = _addr2line(file, own) if file else []
        for place, lines in zip(own, printed or [[]] * len(own), strict=True):
            found[place] = " < ".join(lines) or place.function
    return found


def _addr2line(file: str, places: list[CallPlace]) -> list[list[str]]:
    """Return the output of addr2line for each place: pairs of lines after its address."""
    command = [
        _addr2line_path(),
        "-a",
        "-C",
        "-f",
        "-i",
        "-e",
        file,
        *(hex(one.offset) for one in places),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    every: list[list[str]] = []
    for line in ended.stdout.splitlines():
        every.append([]) if line.startswith("0x") else every[-1].append(line)
    if ended.returncode != 0 or len(every) != len(places):
        return []
    return [
        [
            f"{function.partition('(')[0]} ({where.rpartition('/')[2].partition(' ')[0]})"
            for function, where in zip(one[::2], one[1::2], strict=False)
            if not where.startswith("?")
        ]
        for one in every
    ]
