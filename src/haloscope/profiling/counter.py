# SPDX-License-Identifier: BSD-3-Clause
"""The library that counts a program's messages: built for an MPI library, and loaded before MPI."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock

from haloscope.errors import Problem, UserError
from haloscope.host import process
from haloscope.paths import cache_folder, cache_path, share
from haloscope.programs import needs
from haloscope.toolchains import build, library
from haloscope.toolchains.library import Toolchain

SOURCE = "count_messages.cpp"
"""SOURCE is the file of the library, in the folder profiler."""
_BUILD_LIMIT_S = 600.0
_FLAGS = ("-std=c++20", "-O2", "-shared", "-fPIC", "-DOMPI_SKIP_MPICXX")


def built(toolchain: Toolchain) -> Path:
    """The library for an MPI library, built first where the cache has none.

    UserError, with the compiler's last lines, where it does not build.
    """
    source = share("profiler") / SOURCE
    facts = (toolchain.version, str(toolchain.mpicxx), build.wrapped_compiler(toolchain), *_FLAGS)
    digest = hashlib.sha256("\0".join(facts).encode() + source.read_bytes()).hexdigest()[:12]
    final = cache_path() / "profiler" / f"{toolchain.name}-{digest}.so"
    if final.exists():
        return final
    cache_folder(final.parent.name)
    with FileLock(final.with_suffix(".lock")):
        if not final.exists():
            part = final.with_suffix(".part")
            command = [str(toolchain.mpicxx), *_FLAGS, "-o", str(part), str(source)]
            ended = process.run(command, build.environment(toolchain), _BUILD_LIMIT_S)
            if ended.code != 0:
                last = "\n    ".join(ended.output.strip().splitlines()[-10:])
                mend = "`haloscope doctor` checks the compilers"
                raise UserError(Problem(SOURCE, f"it does not build:\n    {last}", mend))
            part.rename(final)
    return final


def environment(toolchain: Toolchain, counter: Path, folder: Path) -> dict[str, str]:
    """This process's variables, with the counter before all libraries; ranks write to a folder.

    A library that was added has its launchers first in PATH, and is found by the program. Open MPI
    does not pass variables on to other hosts unless they are named.
    """
    preloaded = ":".join(filter(None, (str(counter), os.environ.get("LD_PRELOAD"))))
    passed_on = {"OMPI_MCA_mca_base_env_list": "LD_PRELOAD;HALOSCOPE_PROFILE"}
    own = {"LD_PRELOAD": preloaded, "HALOSCOPE_PROFILE": str(folder)}
    own |= toolchain.environment() | needs.environment(toolchain)
    if toolchain.prefix is not None:
        there = os.environ.get("PATH", os.defpath)
        own["PATH"] = os.pathsep.join((str(toolchain.prefix / "bin"), there))
    return {**os.environ, **passed_on, **own}


def check(command: Sequence[str], toolchain: Toolchain) -> None:
    """UserError where a command's program was linked with another MPI library than a toolchain's.

    The counter would call one library with what belongs to the other, which ends in a crash.
    """
    for word in command[1:]:
        found = shutil.which(word)
        wanted = needs.other_library(Path(found), toolchain) if found else None
        if wanted is not None:
            what, others = wanted
            mend = f"begin the command with the launcher of an MPI library of family {others}"
            raise UserError(Problem("program", what, f"{mend} (haloscope toolchain list)"))


def of_launcher(command: Sequence[str]) -> Toolchain:
    """The MPI library whose launcher begins a command. UserError where it is of none."""
    found = shutil.which(command[0])
    if found is None:
        mend = "give the whole command: haloscope profile -- mpirun -n 2 ./program"
        raise UserError(Problem(command[0], "there is no such program", mend))
    for one in library.available():
        known = shutil.which(str(one.mpirun)) or str(one.mpirun)
        inside = one.prefix is not None and Path(found).is_relative_to(one.prefix)
        if inside or Path(found).resolve() == Path(known).resolve():
            return one
    mend = "say which it belongs to: --toolchain NAME (haloscope toolchain list)"
    raise UserError(Problem(found, "it is no launcher of an MPI library that is known here", mend))
