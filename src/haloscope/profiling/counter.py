# SPDX-License-Identifier: BSD-3-Clause
"""The library that counts a program's messages: built per MPI library, and loaded before MPI."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path

from filelock import FileLock

from haloscope.errors import Problem, UserError
from haloscope.host import process
from haloscope.host.scratch import program_folder
from haloscope.paths import cache_path, share
from haloscope.profiling import wrappers
from haloscope.programs import needs
from haloscope.toolchains import build, build_log
from haloscope.toolchains.library import Toolchain

SOURCE = "count_messages.cpp"
"""SOURCE is the library's source file, in the folder profiler."""
_BUILD_LIMIT_S = 600.0
_MOST = 1 << 24
FLAGS = ("-std=c++20", "-O2", "-shared", "-fPIC", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX")
_HEADERS = """#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
"""


def built(toolchain: Toolchain) -> Path:
    """Return the library for an MPI library; build it if the cache has none.

    Raise UserError, with the compiler's last lines, if it does not build.
    """
    source = share("profiler") / SOURCE
    texts = [one.read_text(encoding="utf-8") for one in sorted(source.parent.glob("*.?pp"))]
    code = wrappers.code(header(toolchain))
    facts = (toolchain.version, str(toolchain.mpicxx), build.wrapped_compiler(toolchain), *FLAGS)
    text = "\0".join((*facts, code, *texts))
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    final = cache_path() / "profiler" / f"haloscope-{toolchain.name}-{digest}.so"
    if os.access(final, os.X_OK):
        return final
    program_folder(final.parent.name)
    with FileLock(final.with_suffix(".lock")):
        if not final.exists():
            with tempfile.TemporaryDirectory(dir=final.parent) as folder:
                part = Path(folder) / final.name
                part.with_name("wrappers.inc").write_text(code, encoding="utf-8")
                words = ("-I", folder, "-o", str(part), str(source), "-ldl")
                _compiled(toolchain, *words, tail=process.TAIL)
                part.rename(final)
    return final


def header(toolchain: Toolchain) -> str:
    """Return the preprocessed declarations of an MPI library's mpi.h."""
    with tempfile.TemporaryDirectory() as folder:
        every = Path(folder) / "all.cpp"
        every.write_text(_HEADERS, encoding="utf-8")
        return _compiled(toolchain, "-E", "-P", str(every), tail=_MOST)


def _compiled(toolchain: Toolchain, *words: str, tail: int) -> str:
    """Return the output of the compiler wrapper. Raise UserError with its last lines if
    it fails.
    """
    command = [str(toolchain.mpicxx), *FLAGS, *words]
    ended = process.run(command, build.environment(toolchain), _BUILD_LIMIT_S, tail=tail)
    if (ended.code or ended.timed_out) and (full := build_log.full_disk(ended.output)):
        raise UserError(full)
    if ended.code != 0:
        last = "\n    ".join(ended.output.strip().splitlines()[-10:])
        remedy = "check the compilers with haloscope doctor"
        raise UserError(Problem(SOURCE, f"compilation failed:\n    {last}", remedy))
    return ended.output


def environment(toolchain: Toolchain, counter: Path, folder: Path) -> dict[str, str]:
    """Return this process's variables with the counter preloaded; ranks write to a folder.

    An added library has its launchers first in PATH, so that the program finds it. The loader
    splits LD_PRELOAD at blanks; in that case the counter is named without its folder.
    """
    own = toolchain.environment() | needs.environment(toolchain)
    preload = str(counter)
    if re.search(r"\s", preload):
        there = own.get("LD_LIBRARY_PATH", os.environ.get("LD_LIBRARY_PATH"))
        own["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, (str(counter.parent), there)))
        preload = counter.name
    if re.search(r"[:;]", str(counter)):
        what = "the loader does not support paths with : or ;"
        raise UserError(Problem(str(counter), what, "set HALOSCOPE_CACHE to another folder"))
    own["LD_PRELOAD"] = ":".join(filter(None, (preload, os.environ.get("LD_PRELOAD"))))
    own["HALOSCOPE_PROFILE"] = str(folder)
    if toolchain.prefix is not None:
        there = os.environ.get("PATH", os.defpath)
        own["PATH"] = os.pathsep.join((str(toolchain.prefix / "bin"), there))
    return {**os.environ, **own}
