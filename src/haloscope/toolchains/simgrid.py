# SPDX-License-Identifier: BSD-3-Clause
"""SimGrid's compiler wrapper and launcher: their location."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from haloscope.errors import Problem, UserError
from haloscope.host import process
from haloscope.toolchains import build, build_log, in_path
from haloscope.toolchains.added import simgrid_packages, simgrid_source
from haloscope.toolchains.library import Say, Toolchain, prefix_of

SIMGRID = "simgrid"

INSTALL = (
    "run haloscope toolchain add simgrid (without root; 30 s on Debian and Ubuntu, about 10 min "
    "elsewhere), or run apt install simgrid libsimgrid-dev"
)


def folder() -> str | None:
    """Return the folder of its programs: below SIMGRID_ROOT, None for PATH, else the added one."""
    if prefix := os.environ.get("SIMGRID_ROOT"):
        return str(Path(prefix) / "bin")
    if _programs(None) is None and (launcher := added()) is not None:
        return str(launcher.parent)
    return None


def programs() -> tuple[Path, Path] | None:
    """Return smpicxx and smpirun; None unless both exist."""
    return _programs(folder())


def added() -> Path | None:
    """Return the added smpirun, or None."""
    there = _programs(str(prefix_of(SIMGRID) / "bin"))
    return there[1] if there else None


def fill(part: Path, final: Path, say: Say) -> Path:
    """Install SimGrid into `part`, for use in `final`: from the system's packages, or built.

    Return its place in `part`. Raise UserError without a C++ compiler, which both methods need, or
    if both fail.
    """
    if build.compiler() is None:
        remedy = "install one (Debian, Ubuntu: apt install g++), or set CXX"
        raise UserError(Problem(f"installing {SIMGRID}", "no C++ compiler found", remedy))
    if (lacking := simgrid_packages.missing()) is not None:
        say(f"{lacking} not found; building from source")
        return simgrid_source.fill(part, final, say)
    try:
        return simgrid_packages.fill(part, final, say)
    except UserError as refused:
        say(f"cannot use the system's packages: {refused}")
        shutil.rmtree(part)
        part.mkdir()
        return simgrid_source.fill(part, final, say)


def _programs(path: str | None) -> tuple[Path, Path] | None:
    wrapper, launcher = (shutil.which(name, path=path) for name in ("smpicxx", "smpirun"))
    return (Path(wrapper), Path(launcher)) if wrapper and launcher else None


OLDEST = (3, 32)


def make(
    found: build.Build,
    programs: Iterable[build.KernelProgram],
    *,
    say: Say,
    progress: build_log.Progress | None = None,
) -> None:
    """Build programs with their platform. Raise UserError with the possible cause if it fails."""
    try:
        build.build(found, programs, say=say, progress=progress)
    except UserError as error:
        if (version := other_version(found.toolchain)) is None:
            raise
        raise UserError([*error.problems, version]) from error


TRIED = ((3, 32), (4, 1))
"""Tested versions: those with which halobench/platform/ was built. Names have changed
between them.
"""


def other_version(toolchain: Toolchain) -> Problem | None:
    """Return a possible cause of a failed build: an untested version; None for a tested one."""
    found = re.search(r"(\d+)\.(\d+)", toolchain.version)
    if found is None or (int(found[1]), int(found[2])) in TRIED:
        return None
    tried = " and ".join(f"{major}.{minor}" for major, minor in TRIED)
    what = f"belongs to SimGrid {found[0]}, but haloscope was tested only with {tried}"
    return Problem(str(toolchain.mpicxx), what, f"use a tested version: {_instead()}{INSTALL}")


def _too_old(version: str) -> str | None:
    found = re.search(r"(\d+)\.(\d+)", version)
    if found is None or (int(found[1]), int(found[2])) >= OLDEST:
        return None
    oldest = ".".join(map(str, OLDEST))
    return f"belongs to SimGrid {found[0]}, but at least {oldest} is required"


def _instead() -> str:
    return "unset SIMGRID_ROOT; then " if os.environ.get("SIMGRID_ROOT") else ""


def absent() -> Problem:
    """Return the problem that SimGrid is not installed."""
    what = f"SimGrid is not installed (smpicxx or smpirun is not in {folder() or 'PATH'})"
    if instead := _instead():
        return Problem("simulation", what, f"correct SIMGRID_ROOT, or {instead}{INSTALL}")
    remedy = f"{INSTALL}, or set SIMGRID_ROOT to the prefix of an installation"
    return Problem("simulation", what, remedy)


def smpi() -> Toolchain:
    """Return the two as a toolchain. Raise UserError if they are missing or too old."""
    there = programs()
    if there is None:
        raise UserError(absent())
    mpicxx, mpirun = there
    done = process.run([str(mpirun), "-version"], os.environ, in_path.ANSWER_S)
    if done.code != 0 or done.timed_out:
        what = f"does not work: {in_path.why_failed(done, in_path.ANSWER_S)}"
        raise UserError(Problem(str(mpirun), what, f"{_instead()}{INSTALL}"))
    version = next(iter(done.output.splitlines()), "SimGrid").replace("version ", "").strip()
    if (wrong := _too_old(version)) is not None:
        newer = "or set SIMGRID_ROOT to the prefix of a newer installation"
        remedy = f"{_instead()}{INSTALL}, {newer}"
        raise UserError(Problem(str(mpirun), wrong, remedy))
    return Toolchain(SIMGRID, None, mpicxx, mpirun, "simgrid", version)


Pairs = Sequence[Sequence[int]]
"""Sender, receiver, and bytes of each pair of ranks."""


@contextmanager
def counted(pipe: Path) -> Iterator[Callable[[], Pairs]]:
    """Create a pipe for a trace of any size; the yielded function returns its pairs afterwards.

    That function raises ValueError for an incomplete trace.
    """
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    held = os.open(pipe, os.O_WRONLY)  # until it is closed, the reader sees no end
    os.set_blocking(reading, True)
    with ThreadPoolExecutor(1) as reader:
        found = reader.submit(_read, reading)
        try:
            yield found.result
        finally:
            os.close(held)


def _read(descriptor: int) -> Pairs:
    with open(descriptor, encoding="ascii", errors="replace") as lines:
        return pairs_in(lines)


def pairs_in(lines: Iterable[str]) -> Pairs:
    """Return the pairs in SimGrid's Paje trace.

    Event 15 is a sent message: its key begins with the ids of both processes, which are their ranks
    from 1; its last word is the number of bytes. Raise ValueError for such a line without them.
    """
    found = Counter[tuple[str, str]]()
    for line in lines:
        if line.startswith("15 "):
            *_, key, sent = line.split()
            sender, receiver, *_ = key.split("_")
            found[sender, receiver] += int(sent)
    return [(int(one) - 1, int(other) - 1, sent) for (one, other), sent in found.items() if sent]
