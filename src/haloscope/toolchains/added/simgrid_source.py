# SPDX-License-Identifier: BSD-3-Clause
"""SimGrid built from its source package on PyPI, without root.

Boost's headers are also from PyPI; CMake and Ninja are installed. Only SMPI is built: no bindings,
no model checking, no documentation.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path

from haloscope.host import machine
from haloscope.toolchains.added import pypi
from haloscope.toolchains.build import cmake_and_ninja

_TOOLS = "simgrid-tools"
"""The tools to download and build the source package, as the name of their file in locks/."""

_OFF = (
    *("python", "java", "model-checking", "fortran", "smpi_fortran", "lto", "sthread", "ns3"),
    *("documentation", "debug", "compile_optimizations"),
)
"""Parts of SimGrid, and its own compiler settings, that are switched off."""

_FLAGS = "-O2 -DNDEBUG -g0"
"""SimGrid's files add -g3, which halobench does not need and which takes a gigabyte on disk."""

_BOOST = {
    "BoostConfig.cmake": 'set(Boost_INCLUDE_DIRS "{headers}")\n',
    "BoostConfigVersion.cmake": (
        'set(PACKAGE_VERSION "{version}")\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n'
    ),
}
"""CMake's query for Boost is answered here: PyPI's package contains only headers."""

LIMIT_S = 3 * 3600.0
"""Time limit per step in seconds: a hundred times the compilation on one core."""


def fill(part: Path, final: Path, say: Callable[[str], None]) -> Path:
    """Build SimGrid in `part`, for the folder `final`; return its place in `part`.

    Raise UserError, with the last words of the failed step, if it cannot be downloaded or built.
    """
    say("downloading the sources of SimGrid from PyPI")
    tools = part / "tools"
    pypi.install(_TOOLS, tools)
    tree, staged = _sources(part, tools), part / "staged"
    say("building SimGrid (takes some minutes)")
    for command in _commands(tree, part, tools, final):
        _run(command, {"DESTDIR": str(staged)})
    return staged / final.relative_to(final.anchor)


def _sources(part: Path, tools: Path) -> Path:
    """Download the source package, verify its hash, and unpack it; return its folder."""
    lock = files("haloscope.toolchains") / "locks" / "simgrid.txt"
    alone = ("--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--require-hashes")
    pip = [str(tools / "bin" / "python"), "-P", "-m", "pip", "download", "--quiet"]
    _run([*pip, *alone, "--requirement", str(lock), "--dest", str(part / "fetched")])
    (package,) = (part / "fetched").iterdir()
    shutil.unpack_archive(package, part / "sources", filter="data")
    (tree,) = (part / "sources").iterdir()
    return tree


def _commands(tree: Path, part: Path, tools: Path, final: Path) -> list[list[str]]:
    program, ninja = cmake_and_ninja()
    built = str(part / "build")
    configure = [
        *(program, "-S", str(tree), "-B", built, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"),
        f"-DCMAKE_MAKE_PROGRAM={ninja}",
        *(f"-DCMAKE_{language}_FLAGS_RELEASE={_FLAGS}" for language in ("C", "CXX")),
        *(f"-DCMAKE_INSTALL_PREFIX={final}", "-DCMAKE_INSTALL_LIBDIR=lib", "-Denable_smpi=ON"),
        *(f"-Denable_{name}=OFF" for name in _OFF),
        f"-DBoost_DIR={_boost(part, tools)}",
    ]
    targets = ("simgrid", "smpimain", "smpireplaymain", "graphicator")
    jobs = str(len(machine.physical_cores()))
    build = [program, "--build", built, "--parallel", jobs, "--target", *targets]
    in_part = [program, "-E", "chdir", str(part)]  # its tests write to the current folder
    return [[*in_part, *configure], build, [program, "--install", built]]


def _boost(part: Path, tools: Path) -> Path:
    header = next(tools.glob("lib/python*/site-packages/boost_headers/include/boost/version.hpp"))
    text = header.read_text(encoding="utf-8")
    version = text.partition('#define BOOST_LIB_VERSION "')[2].partition('"')[0].replace("_", ".")
    folder = part / "boost"
    folder.mkdir()
    for name, content in _BOOST.items():
        filled = content.format(headers=header.parent.parent, version=version)
        (folder / name).write_text(filled, encoding="utf-8")
    return folder


def _run(command: Sequence[str], further: dict[str, str] | None = None) -> None:
    """Run a step of the build.

    PYTHONPATH is not passed on, because it may contain other packages of the same names.
    """
    env = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    remedy = "check the network, the C++17 compiler, and the disk space (0.5 GB), then try again"
    pypi.step(command, env | (further or {}), LIMIT_S, "building SimGrid", remedy)
