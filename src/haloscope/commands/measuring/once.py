# SPDX-License-Identifier: BSD-3-Clause
"""haloscope once: run one case and print its result."""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path

from haloscope.commands import options
from haloscope.commands.options import flag, number
from haloscope.host import checkout, machine, process
from haloscope.layout import BINDS, THREAD_BINDS
from haloscope.outputs.printed import KERNEL, PRINTERS
from haloscope.toolchains import in_path
from haloscope.toolchains.launching import parameter_files

_DESCRIPTION = (
    "Run one case now, on this machine or on a simulated cluster. Print its result, its time, "
    "and the time of each phase. With --all, also print every parameter, the amount of work, the "
    "memory use, and the placement of ranks. With --launches N, also print the median over "
    "launches, with a confidence interval if N is at least 6. Nothing is saved. The parameter "
    "timeline=N draws a timeline of one step on each rank and prints the path of the figure. "
    "To list the parameters and their defaults, run haloscope describe KERNEL.\n"
)
_EPILOG = """\
examples:
  haloscope once poisson_cg n=512 --ranks 2
  haloscope once stream --threads 2
  haloscope once poisson_cg n=512 --ranks 2 --launches 7
  haloscope once poisson_cg n=512 --ranks 2 --all
  haloscope once jacobi3d timeline=40 --ranks 2
  haloscope once pingpong --ranks 2 --json | jq .result
  haloscope once pingpong --as osu                                   print the table of osu_latency
  haloscope once poisson_cg n=4096 --on stampede2 --nodes 4 --ranks 192         simulated
  haloscope once poisson_cg n=256 --on stampede2 --nodes 4 --execute      simulated, result verified

exit codes: 0 success; 1 failed or wrong result; 2 usage error; 130 interrupted
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `once`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add = parser.add_argument
    add("kernel", metavar="KERNEL", help="name of a kernel (see haloscope list)")
    options.add_params_to(parser)
    number(
        parser,
        "--ranks",
        "total number of MPI processes, divided evenly among nodes (default: the smallest "
        "number that the kernel supports)",
    )
    number(parser, "--ppn", "number of processes per node (instead of --ranks)")
    number(parser, "--nodes", "number of cluster nodes (default: 1)", default=1)
    add(
        "--threads",
        metavar="T",
        type=int,
        default=1,
        help="number of threads per process (default: 1)",
    )
    add(
        "--bind",
        choices=BINDS,
        default=BINDS[0],
        help="how to bind processes to the cores of a node (default: close, which fills one socket "
        "before the next)",
    )
    add(
        "--thread-bind",
        choices=THREAD_BINDS,
        default=THREAD_BINDS[0],
        help="how to bind the threads of a process to the process's cores (default: close)",
    )
    options.add_place_to(parser)
    options.add_programs_to(parser)
    add("--toolchain", metavar="NAME", help="MPI library to use (see haloscope toolchain list)")
    add(
        "--transport",
        metavar="NAME",
        help="transport that the MPI library uses for messages (see haloscope toolchain list)",
    )
    add(
        "--placement",
        metavar="NAME",
        help="where to place two ranks relative to each other, for example same-socket",
    )
    flag(parser, "--oversubscribe", "allow more ranks and threads than the machine has cores")
    number(parser, "--launches", "number of launches (default: 1)", default=1)
    add(
        "--timeout",
        metavar="S",
        type=float,
        default=600.0,
        help="time limit of each launch, in seconds (default: 600)",
    )
    printed = parser.add_mutually_exclusive_group()
    flag(printed, "--all", "show the complete record")
    flag(printed, "--json", "print the record of each launch as one line of JSON, and nothing else")
    printed.add_argument(
        "--as",
        dest="printed_as",
        choices=PRINTERS,
        help=f"print the results of {KERNEL} in the format of OSU or IMB; sets the mode that this "
        "format requires and, unless given, repetitions=1",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Run the case and show its record; return the exit code."""
    since = machine.used()
    here = arguments.on == "local" and arguments.toolchain is None
    questions = ((one, os.environ) for one in _questions())  # to the first programs in PATH
    with process.ahead(questions, in_path.ANSWER_S) if here else nullcontext():
        checkout.ask()
        # imported while git and the library's programs answer
        from haloscope.commands.measuring import one_case

        return one_case.execute(arguments, since)


def _questions() -> Iterator[list[str]]:
    if wrapper := _first(in_path.COMPILERS):
        yield from (in_path.dump(wrapper), in_path.version(wrapper))
        yield from islice(parameter_files.asking(Path(wrapper).parent), 1)
    if launcher := _first(in_path.LAUNCHERS):
        yield in_path.version(launcher)


def _first(names: tuple[str, ...]) -> str | None:
    return next(filter(None, map(shutil.which, names)), None)
