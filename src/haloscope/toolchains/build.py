# SPDX-License-Identifier: BSD-3-Clause
"""Builds halobench, once for each toolchain, compiler, processor and version of its sources.

A built program lies in the cache under a key made of all of these, so that a change of any of them
builds anew and a second run does no work.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from haloscope.errors import Problem, UserError
from haloscope.host import machine, process
from haloscope.host.scratch import scratch
from haloscope.paths import cache_path, share
from haloscope.toolchains import gpu_compilers
from haloscope.toolchains.library import Say, Toolchain

Progress = Callable[[int, int], None]
"""Told how many steps of a build are done, and how many there are."""

OPTIONS = ("-DCMAKE_BUILD_TYPE=Release",)
"""What CMake is told about every build; the compiler's flags are in halobench/CMakeLists.txt."""

_FLAGS = ("CXXFLAGS", "LDFLAGS")
"""Variables from which CMake takes further flags."""

_SOURCES = {".cpp", ".hpp", ".def", ".txt"}


def built(toolchain: Toolchain, source: Path | None = None) -> Path | None:
    """The halobench program for `toolchain`, if the cache has it."""
    binary = _binary(toolchain, wrapped_compiler(toolchain), source or share("halobench"))
    return binary if binary.exists() else None


def asked(program: Path) -> Path:
    """What answers --list, --describe and --plan: SMPI's program runs under its launcher alone."""
    beside = program.with_name("halobench_asked")
    return beside if beside.exists() else program


def build(
    toolchain: Toolchain,
    *,
    say: Say = print,
    progress: Progress | None = None,
    source: Path | None = None,
) -> Path:
    """The halobench program for `toolchain`, built first where the cache has none.

    source is the folder of its CMakeLists.txt: halobench's own, if None. Only one process builds a
    key at a time, and what is in the cache is whole. UserError, with the compiler's last lines and
    the log's path, where it does not build.
    """
    source = source or share("halobench")
    wrapped = wrapped_compiler(toolchain)
    binary = _binary(toolchain, wrapped, source)
    folder = binary.parent
    if binary.exists():
        return binary
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _alone(folder.with_suffix(".lock"), f"halobench for {toolchain.name}", say):
        if not binary.exists():
            _clear(folder.parent)
            say(f"building halobench for {toolchain.name}: {toolchain.version}, {wrapped}")
            _build(toolchain, source, folder, progress or (lambda done, total: None))
    return binary


def _clear(builds: Path) -> None:
    """Remove what builds left that were killed, of any key: their locks are held by nobody."""
    for part in builds.glob("*.part"):
        with suppress(Timeout), FileLock(part.with_suffix(".lock")).acquire(timeout=0):
            shutil.rmtree(part, ignore_errors=True)


@contextmanager
def _alone(lock: Path, what: str, say: Say) -> Iterator[None]:
    """Hold a lock; say so once where another process has to let go of it first."""
    held = FileLock(lock)
    try:
        held.acquire(timeout=0)
    except Timeout:
        say(f"waiting for another build of {what} to end")
        held.acquire()
    try:
        yield
    finally:
        held.release()


def source_hash(source: Path | None = None) -> str:
    """12 hexadecimal digits for the contents of halobench's sources, its tests left out."""
    source = source or share("halobench")
    digest = hashlib.sha256()
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source)
        if path.suffix in _SOURCES and name.parts[0] != "tests":
            digest.update(f"{name}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def flags() -> str:
    """What CMake and the compiler are told besides what halobench's own sources say."""
    return " ".join([*OPTIONS, *_given_flags()])


def _given_flags() -> list[str]:
    return [f"{name}={value}" for name in _FLAGS if (value := os.environ.get(name))]


def wrapped_compiler(toolchain: Toolchain) -> str:
    """The first line of what the compiler behind mpicxx says about itself.

    UserError where there is none: the wrappers of an MPI library bring no compiler.
    """
    done = subprocess.run(
        [toolchain.mpicxx, "--version"],
        env=environment(toolchain),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        what = f"no C++ compiler behind it: {(done.stderr or done.stdout).strip()[-300:]}"
        mend = "install one (Debian, Ubuntu: apt install g++), or set CXX to yours"
        raise UserError(Problem(str(toolchain.mpicxx), what, mend))
    return done.stdout.splitlines()[0]


def environment(toolchain: Toolchain) -> dict[str, str]:
    """What the wrapper is run with. A wrapper from PyPI is given the compiler that is there."""
    env = {**os.environ, **toolchain.environment()}
    if toolchain.prefix is not None:
        there = compiler() or "c++"
        env |= {"OMPI_CXX": there, "MPICH_CXX": there, "I_MPI_CXX": there}
    return env


def _binary(toolchain: Toolchain, wrapped: str, source: Path) -> Path:
    """Where the cache has the program, or would."""
    return cache_path() / "builds" / _key(toolchain, wrapped, source) / "halobench"


def _key(toolchain: Toolchain, wrapped: str, source: Path) -> str:
    parts = (
        toolchain.version,
        str(toolchain.mpicxx),
        wrapped,
        machine.cpu_model(),
        source_hash(source),
        *OPTIONS,
        *_given_flags(),
        *_for_device(toolchain),
        *((gpu_compilers.version(toolchain.device),) if toolchain.device else ()),
    )
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
    return f"{toolchain.name}-{digest}"


def _build(toolchain: Toolchain, source: Path, folder: Path, progress: Progress) -> None:
    """Build beside `folder`, then move the program there in one step. The log stays beside it."""
    part, log = folder.with_suffix(".part"), folder.with_suffix(".log")
    shutil.rmtree(part, ignore_errors=True)
    log.unlink(missing_ok=True)
    tree = part / "tree"
    try:
        variables = environment(toolchain)
        for command in _commands(toolchain, source, tree):
            _run(command, variables, log, progress)
        (part / "result").mkdir()
        for name in ("halobench", "halobench_asked", "platform.so"):  # the last two, SMPI's alone
            if (tree / name).exists():
                shutil.copy2(tree / name, part / "result")
        (part / "result").rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def cmake_and_ninja() -> tuple[str, str]:
    """Their programs, which come from PyPI."""
    import cmake  # looks through all of its files when it is imported
    import ninja

    return str(Path(cmake.CMAKE_BIN_DIR) / "cmake"), str(Path(ninja.BIN_DIR) / "ninja")


def compiler() -> str | None:
    """The C++ compiler that is there: CXX's, or the first of the usual names; None for none."""
    compilers = (os.environ.get("CXX"), "c++", "g++", "clang++")
    return next((each for each in compilers if each and shutil.which(each)), None)


def _commands(toolchain: Toolchain, source: Path, tree: Path) -> list[list[str]]:
    """How CMake configures and builds halobench."""
    program, ninja = cmake_and_ninja()
    configure = [
        *(program, "-S", str(source), "-B", str(tree), "-G", "Ninja", *OPTIONS),
        f"-DCMAKE_MAKE_PROGRAM={ninja}",
        f"-DCMAKE_CXX_COMPILER={toolchain.mpicxx}",
        *_for_device(toolchain),
    ]
    jobs = str(len(machine.physical_cores()))
    return [configure, [program, "--build", str(tree), "--target", "halobench", "--parallel", jobs]]


def _for_device(toolchain: Toolchain) -> list[str]:
    """What CMake is told of the GPUs that halobench is built for; nothing where it is not.

    UserError where there is no compiler for them.
    """
    if toolchain.device is None:
        return []
    compiler = gpu_compilers.find(toolchain.device)
    language = toolchain.device.upper()
    return [
        f"-DHALOBENCH_DEVICE={toolchain.device}",
        f"-DCMAKE_{language}_COMPILER={compiler}",
        f"-DCMAKE_{language}_HOST_COMPILER={toolchain.mpicxx}",
        *gpu_compilers.options(toolchain.device),
    ]


def _run(command: list[str], environment: dict[str, str], log: Path, progress: Progress) -> None:
    """Run one step of a build, its output into the log; ninja's "[3/20]" go to `progress`.

    Its temporary files, and compilers at work, are gone with it, however it or this process ends.
    """
    last: deque[str] = deque(maxlen=20)
    with log.open("a", encoding="utf-8") as copy, scratch() as own:
        step = subprocess.Popen(
            process.supervised(command),
            env=environment | {"NINJA_STATUS": "[%f/%t] ", "TMPDIR": str(own.folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # a Ctrl-C is ours to handle
        )
        with step:
            assert step.stdin and step.stdout and step.stderr
            try:
                for line in io.TextIOWrapper(step.stderr, encoding="utf-8", errors="replace"):
                    copy.write(line)
                    last.append(line.rstrip())
                    if match := re.match(r"\[(\d+)/(\d+)\] ", line):
                        progress(int(match[1]), int(match[2]))
            finally:
                step.stdin.close()
                code, _ = process.told(step.stdout.read())
    if code != 0:
        what = "it does not build:\n    " + "\n    ".join(last)
        mend = f"the whole output: {log}; `haloscope doctor` checks the compilers"
        raise UserError(Problem("halobench", what, mend))
