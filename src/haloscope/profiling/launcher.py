# SPDX-License-Identifier: BSD-3-Clause
"""The profiled command: its MPI library, and passing of the counter to ranks."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from haloscope.errors import Problem, UserError
from haloscope.programs import needs
from haloscope.toolchains import library
from haloscope.toolchains.library import Toolchain

_NAMES = re.compile(r"(mpirun|mpiexec|orterun|prterun)\b")
_BEFORE = {
    *("chrt", "env", "ionice", "nice", "nohup", "numactl", "setsid", "stdbuf", "taskset", "time"),
    "timeout",
}
"""_BEFORE are programs that run a command after their own options and change only its
environment.
"""
_EXAMPLE = "give a command: haloscope profile -- mpirun -n 2 ./program"


def toolchain_of(command: Sequence[str], named: str | None = None) -> Toolchain:
    """Return the MPI library of a command: the named one, its launcher's, or (srun) its program's.

    For a script, which may start several programs, that of its program, or else of mpirun in PATH.
    Raise UserError if it is unknown, or if launcher and program belong to different libraries: the
    counter would mix them, and each rank would run alone.
    """
    toolchain = library.find(named) if named else None
    path = os.environ.get("PATH", os.defpath)
    if toolchain and toolchain.prefix:
        path = os.pathsep.join((str(toolchain.prefix / "bin"), path))
    for word in dict.fromkeys((command[0], command[at := _launcher_at(command)])):
        if (found := shutil.which(word, path=path)) is None:
            raise UserError(_not_there(word))
    assert found is not None
    launcher = _of_launcher(Path(found))
    if toolchain and launcher and not needs.is_same_abi(toolchain, launcher):
        what = f"this launcher belongs to {launcher.version}, but {toolchain.name} is "
        what += toolchain.version
        remedy = "remove --toolchain, or use the launcher of that library"
        raise UserError(Problem(found, what, remedy))
    toolchain = toolchain or launcher
    if toolchain is None and Path(found).name == "srun":
        toolchain = _of_program(command)
    elif toolchain is None and not _NAMES.match(Path(found).name):
        toolchain = _of_program(["", *command]) or _of_mpirun()
    if toolchain is None:
        what = "cannot determine the MPI library of this command"
        remedy = "name it with --toolchain NAME (haloscope toolchain list)"
        raise UserError(Problem(found, what, remedy))
    for program in _programs(command[at:]):
        if (other := needs.other_library(program, toolchain)) is not None:
            what, families = other
            remedy = f"use the launcher of a library of the {families} family"
            raise UserError(Problem("program", what, f"{remedy} (haloscope toolchain list)"))
    return toolchain


def _programs(command: Sequence[str]) -> Iterator[Path]:
    """Yield the programs that a command may run, besides its first word."""
    yield from (Path(found) for word in command[1:] if (found := shutil.which(word)))


def _launcher_at(command: Sequence[str]) -> int:
    """Return the position of a command's launcher: the first word, or after env, time,
    and others.
    """
    if Path(command[0]).name not in _BEFORE:
        return 0
    names = [Path(word).name for word in command]
    return next((at for at, name in enumerate(names) if _NAMES.match(name) or name == "srun"), 0)


def _of_mpirun() -> Toolchain | None:
    """Return the MPI library of mpirun in PATH, if it is a known one."""
    found = shutil.which("mpirun")
    return _of_launcher(Path(found)) if found else None


def _not_there(word: str) -> Problem:
    if not _NAMES.fullmatch(word):
        return Problem(word, "command not found", _EXAMPLE)
    added = [one.name for one in library.available() if one.prefix is not None]
    name = added[0] if added else library.DEFAULT
    first = "" if added else f"haloscope toolchain add {name}, and then "
    remedy = (
        f"run {first}haloscope profile --toolchain {name} -- {word} ..., or load your cluster's "
    )
    return Problem(word, "no MPI library in PATH", f"{remedy}module")


def _of_launcher(found: Path) -> Toolchain | None:
    """Return the MPI library to which a launcher belongs, or None."""
    for one in library.available():
        known = shutil.which(str(one.mpirun)) or str(one.mpirun)
        inside = one.prefix is not None and found.is_relative_to(one.prefix)
        if inside or found.resolve() == Path(known).resolve():
            return one
    if not _NAMES.match(found.name):
        return None
    return library.beside(found)


def _of_program(command: Sequence[str]) -> Toolchain | None:
    """Return the MPI library that a command's program is linked with, if it is a known one."""
    for program in _programs(command):
        if (linked := needs.library_of(program)) is not None:
            every = [*library.available(), *_alternatives()]
            fit = [one for one in every if needs.other_library(program, one) is None]
            own = [one for one in fit if one.prefix and linked.is_relative_to(one.prefix)]
            return next(iter(own or [one for one in fit if one.prefix is None] or fit), None)
    return None


def _alternatives() -> Iterator[Toolchain]:
    """Yield the MPI libraries whose launchers Debian and Ubuntu install beside that of `mpirun`."""
    for name in ("mpirun.openmpi", "mpirun.mpich"):
        if (found := shutil.which(name)) and (known := library.beside(Path(found))):
            yield known


_PASSED = ("LD_PRELOAD", "HALOSCOPE_PROFILE", "LD_LIBRARY_PATH")
_LIST = "mca_base_env_list"


def passed_on(
    command: Sequence[str], toolchain: Toolchain, variables: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """Return a command and variables with which Open MPI's launcher passes the counter on to hosts.

    It passes variables only if they are named with -x, or in a list, which cannot be combined with
    -x. A user's list is extended; otherwise -x is added. Other launchers pass all variables.
    """
    words, own, first = [*command], dict(variables), _launcher_at(command)
    names = [name for name in _PASSED if own.get(name) != os.environ.get(name)]
    if toolchain.family != "openmpi" or not _NAMES.match(Path(command[first]).name):
        return words, own
    for at, word in enumerate(words[first + 1 :], first + 1):
        if word.startswith("LD_PRELOAD=") and words[at - 1].lstrip("-") == "x":
            words[at] = f"LD_PRELOAD={own['LD_PRELOAD']}:{word.partition('=')[2]}"
            names = [name for name in names if name != "LD_PRELOAD"]
        if word == _LIST and words[at - 1].lstrip("-") in ("mca", "gmca"):
            words[at + 1] = _longer(words[at + 1], names, own)
            return words, own
    if variable := own.get(f"OMPI_MCA_{_LIST}"):
        own[f"OMPI_MCA_{_LIST}"] = _longer(variable, names, own)
        return words, own
    for at in reversed([first, *(at for at, word in enumerate(words) if word == ":")]):
        words[at + 1 : at + 1] = [part for name in names for part in ("-x", name)]
    return words, own


def _longer(given: str, names: Sequence[str], variables: Mapping[str, str]) -> str:
    """Extend a list of variables with more names, using the user's separator."""
    return variables.get(f"OMPI_MCA_{_LIST}_delimiter", ";").join((given, *names))
