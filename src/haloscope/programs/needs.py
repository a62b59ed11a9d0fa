# SPDX-License-Identifier: BSD-3-Clause
"""External requirements of a program: found on this machine, and queried."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from haloscope.host import process
from haloscope.programs.file import ExternalProgram, filled
from haloscope.programs.schema import Need
from haloscope.toolchains.library import Toolchain, prefix_of
from haloscope.toolchains.transport import Family

ASK_LIMIT_S = 60.0
"""ASK_LIMIT_S is the time limit for querying an executable, in seconds."""
_OUTPUT = 1 << 20
_ABI: Mapping[str, tuple[str, tuple[Family, ...]]] = {
    "40": ("Open MPI's", ("openmpi",)),
    "12": ("MPICH's", ("mpich", "impi")),
}
"""By the number of libmpi.so: its ABI's name, and the library families with that ABI."""


@dataclass(frozen=True)
class Ready:
    """What an external program runs with here, started by one MPI library.

    needs: path of each requirement. executable: first word of its command, or None. version: as
    printed, if it was queried. lacking: why it cannot run here, or None.
    """

    needs: Mapping[str, Path]
    executable: Path | None
    version: str | None
    lacking: str | None


def ready(program: ExternalProgram, toolchain: Toolchain) -> Ready:
    """Return a program's requirements, and why it cannot run, if so."""
    needs: dict[str, Path] = {}
    for name, need in program.said.needs.items():
        found, why = _looked_for(need)
        if found is None:
            return Ready(needs, None, None, f"{name} not found: {why}{need.get}")
        needs[name] = found
    values = {**needs, "folder": program.folder}
    try:
        first = filled(program.said.command[0], values)
    except KeyError:  # depends on the case
        return Ready(needs, None, None, None)
    executable = _executable(first, program.folder)
    if executable is None:
        return Ready(needs, None, None, _no_executable(first, program))
    if (other := other_library(executable, toolchain)) is not None:
        what, others = other
        remedy = f"use an MPI library of family {others} (toolchains, --toolchain)"
        return Ready(needs, executable, None, f"{what}; {remedy}")
    version, lacking = _version(program, needs, toolchain)
    return Ready(needs, executable, version, lacking)


def library_folder(toolchain: Toolchain) -> Path | None:
    """Return the folder of libmpi of an added library; None for the system's, which the loader
    finds.
    """
    if toolchain.prefix is None:
        return None
    found = sorted((toolchain.prefix / "lib").glob("**/libmpi.so*"))
    return found[0].parent if found else None


def environment(toolchain: Toolchain) -> dict[str, str]:
    """Return the variables for a program's library, besides those of a launch."""
    if (folder := library_folder(toolchain)) is None:
        return {}
    there = os.environ.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": os.pathsep.join(filter(None, (str(folder), there)))}


def variables(programs: Iterable[ExternalProgram]) -> list[str]:
    """Return the variables by which users locate programs' requirements."""
    every = (need.variable for one in programs for need in one.said.needs.values())
    return [*dict.fromkeys(one for one in every if one is not None)]


def other_library(executable: Path, toolchain: Toolchain) -> tuple[str, str] | None:
    """Return the MPI library of a program and its families, if it is a different one.

    None if the toolchain's library belongs to one of these families, or if that is unknown.
    """
    required = mpi_of(executable)
    if required is None or toolchain.family in (known := _ABI[required])[1]:
        return None
    what = f"{executable} is linked with {known[0]} libmpi.so.{required}"
    return f"{what}, but {toolchain.name} is {toolchain.version}", " or ".join(known[1])


def is_same_abi(one: Toolchain, other: Toolchain) -> bool:
    """Return whether programs linked with one library run with the other."""
    return any({one.family, other.family} <= {*families} for _, families in _ABI.values())


def mpi_of(executable: Path) -> str | None:
    """Return the number of the libmpi.so that a program requests from the loader.

    None if unknown: a script, a statically linked program, or one without MPI.
    """
    found = _linked(executable)
    return found[0] if found else None


def library_of(executable: Path) -> Path | None:
    """Return where the loader finds that libmpi.so."""
    found = _linked(executable)
    return Path(found[1]) if found else None


@cache
def _linked(executable: Path) -> tuple[str, str] | None:
    """Return number and path of a program's libmpi.so; for Debian's MPICH, of libmpich.so."""
    ended = process.run(["ldd", str(executable)], os.environ, ASK_LIMIT_S, tail=_OUTPUT)
    lines = re.findall(r"\blibmpi(?:ch)?\.so\.(\d+)(?: => (\S+))?", ended.output)
    found = {number: path for number, path in lines if number in _ABI}
    return found.popitem() if len(found) == 1 else None


@cache
def hash_of(executable: Path) -> str:
    """Return 12 hexadecimal digits: a hash of an executable."""
    with executable.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()[:12]


def _looked_for(need: Need) -> tuple[Path | None, str]:
    for where, path in _candidates(need):
        if why := _unfit(need, path):
            return None, f"{where}: {path} {why}; "
        return path, ""
    return None, ""


def _candidates(need: Need) -> Iterator[tuple[str, Path]]:
    if need.variable and (given := os.environ.get(need.variable)):
        yield need.variable, Path(given).absolute()
    if need.added and need.below:
        yield from ((f"toolchain {need.added}", one) for one in _below(need.added, need.below))
    for name in need.names:
        if there := shutil.which(name):
            yield "PATH", Path(there).absolute()


def _below(added: str, pattern: str) -> list[Path]:
    return sorted(prefix_of(added).glob(pattern))[-1:]


def _unfit(need: Need, path: Path) -> str | None:
    if need.kind == "folder":
        if not path.is_dir():
            return "is not a folder"
        lacking = [one for one in need.holds if next(path.glob(one), None) is None]
        return f"does not contain {', '.join(lacking)}" if lacking else None
    if not path.is_file():
        return "is not a file"
    if need.kind == "executable" and not os.access(path, os.X_OK):
        return "is not executable"
    return None


def _executable(word: str, folder: Path) -> Path | None:
    """Return the file of a command's first word: a path relative to the program's folder, or in
    PATH.
    """
    path = Path(word)
    if "/" in word:
        path = path if path.is_absolute() else folder / path
        return path if path.is_file() and os.access(path, os.X_OK) else None
    there = shutil.which(word)
    return Path(there).absolute() if there else None


def _no_executable(word: str, program: ExternalProgram) -> str:
    if "/" in word and (program.folder / word).is_file():
        return f"{program.folder / word} is not executable; run chmod +x on it"
    return f"command not found: {word}; build it, or correct {program.trusted.file}"


def _version(
    program: ExternalProgram, needs: Mapping[str, Path], toolchain: Toolchain
) -> tuple[str | None, str | None]:
    version = None
    for name, need in program.said.needs.items():
        if not need.ask:
            continue
        words = tuple(filled(word, {**needs, "folder": program.folder}) for word in need.ask)
        code, said = _asked(words, tuple(environment(toolchain).items()))
        for one in need.says:
            if re.search(one.pattern, said, re.MULTILINE) is None:
                last = (
                    f" ({' '.join(words)} ended with exit code {code}: {said.strip()[-200:]})"
                    if code
                    else ""
                )
                return None, f"{needs[name]}: {one.lacking}{last}"
        found = re.search(need.version, said, re.MULTILINE) if need.version else None
        if found and found[1]:
            version = found[1].strip()
    return version, None


@cache
def _asked(words: tuple[str, ...], variables: tuple[tuple[str, str], ...]) -> tuple[int, str]:
    ended = process.run(words, {**os.environ, **dict(variables)}, ASK_LIMIT_S, tail=_OUTPUT)
    return ended.code, ended.output
