# SPDX-License-Identifier: BSD-3-Clause
"""haloscope import: read the output of other benchmarks into a result folder."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from haloscope.commands.options import number
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError, outside, reject
from haloscope.outputs import hpcg, imb, osu, reframe
from haloscope.outputs import records as as_records
from haloscope.outputs.printed import Output, PrintedRun
from haloscope.paths import dated_folder, opened, require_utf8
from haloscope.quantities import count
from haloscope.records.folder import ResultFolder
from haloscope.records.log import append, read
from haloscope.study.values import COUNT_LIMIT

_DESCRIPTION = """\
Import the output of other benchmarks into a result folder, alongside haloscope's own measurements.

Imported records appear in tables, figures, compare, and export like all others. Each is marked as
imported and contains the names of the files that it was read from. The ping-pong, bandwidth, and
collective tests of OSU and IMB become cases of the kernels pingpong and collectives. Each other
test becomes a separate kernel.

TOOL is osu (any OSU Micro-Benchmark, with or without -f, -c, and percentiles), imb (IMB-MPI1,
IMB-NBC, and IMB-RMA), hpcg (HPCG-Benchmark_*.txt), or reframe (run reports in JSON). A file may
contain several tables, and lines printed by other programs. Runs with the same settings are treated
as launches of one case.
"""
_EPILOG = """\
examples:
  haloscope import osu latency-*.txt -o results/osu
  haloscope import osu allreduce.txt --ranks 64 --nodes 4 --host helios
  haloscope import imb IMB-MPI1.log --toolchain intel-2021
  haloscope compare results/osu results/ours

exit codes: 0 success; 2 usage error, or an invalid or incomplete file
"""
_READERS: Mapping[str, Callable[[Output], list[PrintedRun]]] = {
    "osu": osu.read,
    "imb": imb.read,
    "hpcg": hpcg.read,
    "reframe": reframe.read,
}
_MOST_BYTES = 256 * 2**20


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `import`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add = parser.add_argument
    tools = f"benchmark that wrote the files ({', '.join(_READERS)})"
    add("tool", metavar="TOOL", choices=_READERS, help=tools)
    add("files", metavar="FILE", nargs="+", type=Path, help="output files of the benchmark")
    where = "new or existing result folder (default: results/TOOL-DATE-TIME)"
    add("-o", "--out", metavar="DIR", type=Path, help=where)
    number(parser, "--ranks", "number of processes, if the files do not contain it")
    number(parser, "--nodes", "number of nodes that were used (default: 1)")
    add("--host", metavar="HOST", help="name of the machine that the benchmark ran on")
    add("--toolchain", metavar="NAME", help="name of the MPI library that was used")


def execute(arguments: argparse.Namespace) -> int:
    """Append the records and print their folder; return 0. Raise UserError with all problems."""
    _check_numbers(arguments)
    _check_files(arguments.files)
    options = as_records.ImportOptions(
        arguments.ranks, arguments.nodes, arguments.host, arguments.toolchain
    )
    found = [_read(path, _READERS[arguments.tool]) for path in arguments.files]
    records = as_records.records(found, options)
    folder = ResultFolder(arguments.out or dated_folder(arguments.tool))
    with folder.alone():
        there = read(folder.records)
        known = {one.imported["hash"] for one in there if one.imported}
        if again := [one for one in records if one["imported"]["hash"] in known]:
            files = ", ".join(
                dict.fromkeys(name for one in again for name in one["imported"]["files"])
            )
            what = f"the results in {files} have already been imported into this folder"
            raise UserError(Problem(f"-o {folder.path}", what, "omit the imported files"))
        launches = {one.case: one.launch + 1 for one in sorted(there, key=lambda one: one.launch)}
        for one in records:
            append(folder.records, {**one, "launch": one["launch"] + launches.get(one["case"], 0)})
    _tell(folder, records)
    for line in (line for output, *_ in found for line in output.left_out):
        Screen(stderr=True).lines(f"left out: {line}")
    return 0


def _check_numbers(arguments: argparse.Namespace) -> None:
    given = {"--ranks": arguments.ranks, "--nodes": arguments.nodes}
    reject(p for one in given.items() for p in outside(*one, COUNT_LIMIT))


def _check_files(files: Sequence[Path]) -> None:
    paths = [path.resolve() for path in files]
    if twice := {
        str(file): None for file, path in zip(files, paths, strict=True) if paths.count(path) > 1
    }:
        what = "this file is given more than once"
        raise UserError([Problem(name, what, "give each file once") for name in twice])


_GIVE = "give an output file of a benchmark"


def _read(
    path: Path, reader: Callable[[Output], list[PrintedRun]]
) -> tuple[Output, float, Sequence[PrintedRun]]:
    try:
        with opened(path) as file:
            written, content = path.stat().st_mtime, file.read(_MOST_BYTES + 1)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        what = "file not found" if missing else f"cannot read this file: {error.strerror}"
        raise UserError(Problem(str(path), what, _GIVE)) from error
    if len(content) > _MOST_BYTES:
        what = f"the file is larger than {_MOST_BYTES // 2**20} MiB"
        raise UserError(Problem(str(path), what, _GIVE))
    require_utf8(path, content[:4])
    output = Output(str(path), content.decode("utf-8-sig", errors="replace"))
    return output, written, reader(output)


def _tell(folder: ResultFolder, records: Sequence[Mapping[str, object]]) -> None:
    cases = dict.fromkeys(str(one["case"]) for one in records)
    kernels = ", ".join(dict.fromkeys(str(one["kernel"]) for one in records))
    imported = f"{count(len(records), 'launch', 'launches')} of {count(len(cases), 'case')}"
    out = Screen()
    out.lines(f"Imported {imported}: {kernels}")
    reasons = [str(one["reason"]) for one in records if one["outcome"] != "ok"]
    if reasons:
        failed = ", ".join(dict.fromkeys(reasons))
        out.lines(f"failed: {count(len(reasons), 'launch', 'launches')}: {failed}")
    out.lines(f"records: {folder.records}")
