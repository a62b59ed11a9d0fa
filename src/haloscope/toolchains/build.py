# SPDX-License-Identifier: BSD-3-Clause
"""Build the programs of halobench, one per kernel, for a toolchain when they are needed.

Each is in the cache under a key of all that it depends on: toolchain, compiler, processor, sources.
A copy of the sources and the build tree stay beside it, so that a further kernel compiles only what
is new, even if the sources have changed since.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

from haloscope.errors import Problem, UserError
from haloscope.host import machine, process
from haloscope.host.scratch import program_folder
from haloscope.paths import cache_path, share, write_whole
from haloscope.quantities import listed
from haloscope.toolchains import gpu_compilers, in_path
from haloscope.toolchains.build_log import Progress, failure, full_disk, runs
from haloscope.toolchains.library import Say, Toolchain

OPTIONS = ("-DCMAKE_BUILD_TYPE=Release",)
"""CMake options of every build; the compiler's flags are in halobench/CMakeLists.txt."""

_FLAGS = ("CXXFLAGS", "LDFLAGS", "CUDAFLAGS", "CUDAHOSTCXX", "HIPFLAGS")

_SOURCES = {".cpp", ".hpp", ".def", ".txt", ".cmake"}

_KEPT_S = 30 * 86400

_SMPI_OWN = "platform.so"
"""The simulated cluster, which a build for SMPI has beside its programs."""


class KernelProgram(NamedTuple):
    """The program of a kernel. device: the one that also supports device memory."""

    kernel: str
    device: bool = False

    @classmethod
    def of(cls, kernel: str, params: Mapping[str, Any]) -> Self:
        """Return the program that runs a case. params: all parameters, or those that are not
        defaults.
        """
        return cls(kernel, params.get("memory") == "device")

    @property
    def file(self) -> str:
        """Its file name, which is also the name of its target in halobench/CMakeLists.txt."""
        return f"halobench_{self.kernel}{'_device' if self.device else ''}"

    def __str__(self) -> str:
        """Return its name for messages."""
        return f"{self.kernel} (device)" if self.device else self.kernel


@dataclass(frozen=True)
class Build:
    """halobench built by a toolchain.

    folder: in the cache, with the built programs. source: hash of the sources. compiler, flags:
    used by the build. sources: folder of the sources.
    """

    toolchain: Toolchain
    folder: Path
    source: str
    compiler: str = ""
    flags: str = ""
    sources: Path | None = None

    def path(self, program: KernelProgram) -> Path:
        """Return the path of a program, built or not."""
        return self.folder / program.file

    def lacking(self, programs: Iterable[KernelProgram]) -> list[KernelProgram]:
        """Return those that are not built yet, each once."""
        return [one for one in dict.fromkeys(programs) if not self.path(one).exists()]


def of(toolchain: Toolchain, source: Path | None = None) -> Build:
    """Return halobench for a toolchain, with the programs built so far.

    source: folder of its CMakeLists.txt; None: halobench's own. Raise UserError without a compiler.
    """
    source = source or share("halobench")
    compiler, contents = wrapped_compiler(toolchain), source_hash(source)
    builds = (cache_path() / "builds").resolve()  # CMake refuses a tree under another path
    folder = builds / _key(toolchain, compiler, contents)
    return Build(toolchain, folder, contents, compiler, flags(), source)


def asked(program: Path) -> Path:
    """Return the program that answers --list, --describe, and --plan: SMPI's needs its launcher."""
    beside = program.with_name(f"{program.name}_asked")
    return beside if beside.exists() else program


def build(
    found: Build,
    programs: Iterable[KernelProgram],
    *,
    say: Say = print,
    progress: Progress | None = None,
) -> Build:
    """Build the missing programs, and return the build.

    Only one process at a time builds a key. What is in the cache is complete, and an interrupted
    build is continued. Raise UserError, with the compiler's last lines and the log's path, if it
    fails.
    """
    requested, folder = list(programs), found.folder
    if not found.lacking(requested) and all(
        os.access(found.path(one), os.X_OK) for one in requested
    ):
        return found
    if _UNBUILDABLE.search(str(folder)):
        what = 'the path contains a ", ;, backslash, or line break, which CMake does not support'
        raise UserError(Problem(str(folder.parent), what, "set HALOSCOPE_CACHE to another folder"))
    try:
        _build_lacking(found, requested, say, progress)
    except OSError as error:
        if (full := full_disk(str(error))) is None:
            raise
        raise UserError(full) from error
    return found


_UNBUILDABLE = re.compile(r'[";\\\n\r]')


def _build_lacking(
    found: Build, requested: list[KernelProgram], say: Say, progress: Progress | None
) -> None:
    folder, toolchain = found.folder, found.toolchain
    program_folder("builds")
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(_beside(folder, "lock"), f"halobench for {toolchain.name}", say):
        if lacking := found.lacking(requested):
            _clear(folder)
            names = listed([str(one) for one in lacking])
            say(f"building {names} for {toolchain.name}: {toolchain.version}, {found.compiler}")
            _build(found, lacking, progress or (lambda done, total: None))


def _beside(folder: Path, suffix: str) -> Path:
    """Return the path of a file beside a build; its name may contain dots."""
    return folder.with_name(f"{folder.name}.{suffix}")


def _clear(used: Path) -> None:
    """Remove builds with other keys that have not been used for long and that no process holds."""
    from filelock import FileLock, Timeout  # imported here because few commands build

    os.utime(used)
    oldest = time.time() - _KEPT_S
    for folder in used.parent.iterdir():
        if folder.is_dir() and folder.stat().st_mtime < oldest:
            lock = _beside(folder, "lock")
            with suppress(Timeout), FileLock(lock).acquire(timeout=0):
                shutil.rmtree(folder, ignore_errors=True)
                _beside(folder, "log").unlink(missing_ok=True)


@contextmanager
def _alone(lock: Path, what: str, say: Say) -> Iterator[None]:
    """Hold a lock; print a message once if another process holds it."""
    from filelock import FileLock, Timeout

    held = FileLock(lock)
    try:
        held.acquire(timeout=0)
    except Timeout:
        say(f"waiting for another process that builds {what}")
        held.acquire()
    try:
        yield
    finally:
        held.release()


def source_hash(source: Path | None = None) -> str:
    """Return 12 hexadecimal digits: a hash of halobench's sources without tests."""
    source = source or share("halobench")
    digest = hashlib.sha256()
    for name in _source_files(source):
        path = source / name
        digest.update(f"{name}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _source_files(source: Path) -> list[Path]:
    names = (path.relative_to(source) for path in sorted(source.rglob("*")))
    return [name for name in names if name.suffix in _SOURCES and name.parts[0] != "tests"]


def flags() -> str:
    """Return settings of CMake and the compiler from outside halobench's own sources."""
    return " ".join([*OPTIONS, *_given_flags()])


def _given_flags() -> list[str]:
    return [f"{name}={value}" for name in _FLAGS if (value := os.environ.get(name))]


def wrapped_compiler(toolchain: Toolchain) -> str:
    """Return the first line that the compiler behind mpicxx prints about itself.

    Raise UserError without one: an MPI library's wrappers do not include a compiler.
    """
    asked = [str(toolchain.mpicxx), "--version"]
    done = process.run(asked, environment(toolchain), in_path.ANSWER_S)
    if done.code != 0 or done.timed_out:
        what = (
            f"the wrapper cannot find a C++ compiler: {in_path.why_failed(done, in_path.ANSWER_S)}"
        )
        remedy = "install one (Debian, Ubuntu: apt install g++), or set CXX"
        raise UserError(Problem(str(toolchain.mpicxx), what, remedy))
    return next(iter(done.output.splitlines()), f"unknown ({toolchain.mpicxx.name})")


def environment(toolchain: Toolchain) -> dict[str, str]:
    """Return the environment of the wrapper. A wrapper from PyPI gets the existing compiler."""
    env = {**os.environ, **toolchain.environment()}
    if toolchain.prefix is not None:
        there = compiler() or "c++"
        env |= {"OMPI_CXX": there, "MPICH_CXX": there, "I_MPI_CXX": there}
    return env


def _key(toolchain: Toolchain, wrapped: str, source: str) -> str:
    parts = (
        toolchain.version,
        str(toolchain.mpicxx),
        wrapped,
        machine.cpu_model(),
        source,
        *OPTIONS,
        *_given_flags(),
        *_for_device(toolchain),
        *((gpu_compilers.version(toolchain.device),) if toolchain.device else ()),
    )
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
    return f"{toolchain.name}-{digest}"


def _build(found: Build, programs: list[KernelProgram], progress: Progress) -> None:
    """Build in the tree, then put each program beside it in one step. The log is beside both."""
    log = _beside(found.folder, "log")
    log.unlink(missing_ok=True)
    tree, sources = found.folder / "tree", found.folder / "sources"
    cmake, ninja = cmake_and_ninja()
    variables = environment(found.toolchain)
    # for ccache: the same file in builds of two versions counts as the same file
    if "$" not in str(found.folder):  # ccache would take it for a variable
        variables |= {"CCACHE_BASEDIR": str(found.folder), "CCACHE_NOHASHDIR": "1"}
    configure = [
        *(cmake, "-S", str(sources), "-B", str(tree), "-G", "Ninja", *OPTIONS),
        f"-DCMAKE_MAKE_PROGRAM={ninja}",
        f"-DCMAKE_CXX_COMPILER={found.toolchain.mpicxx}",
        *_for_device(found.toolchain),
    ]

    def run(command: list[str]) -> None:
        if not runs(command, variables, log, progress):
            names = {one.kernel: str(one) for one in programs}
            raise UserError(failure(names, log, sources, found.sources))

    _configured(found, configure, run)
    targets = [one.file for one in programs]
    jobs = str(len(machine.physical_cores()))
    make = [cmake, "--build", str(tree), "--target", *targets, "--parallel", jobs]
    run(make)
    for name in targets:
        for file in (_SMPI_OWN, f"{name}_asked", name):  # the first two exist only with SMPI
            if (tree / file).exists():
                _put(tree / file, found.folder / file)


def _configured(found: Build, command: list[str], run: Callable[[list[str]], None]) -> None:
    """Copy the sources and configure the tree, unless the same command did; built files stay.

    Another command is from another CMake, as in a new virtual environment.
    """
    tree, sources = found.folder / "tree", found.folder / "sources"
    done = tree / "haloscope-configured"
    if not done.exists():
        shutil.rmtree(tree, ignore_errors=True)
        _copy_sources(found.sources or share("halobench"), sources, found.source)
    elif done.read_text(encoding="utf-8") == shlex.join(command):
        return
    run(command)
    write_whole(done, shlex.join(command))


def _copy_sources(source: Path, copy: Path, contents: str) -> None:
    """Copy halobench's sources. Raise UserError if they differ from those in the key."""
    shutil.rmtree(copy, ignore_errors=True)
    for name in _source_files(source):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, copy / name)
    if source_hash(copy) != contents:
        what = "the sources changed while they were copied"
        raise UserError(Problem(str(source), what, "build again"))


def _put(file: Path, final: Path) -> None:
    """Copy a file atomically."""
    part = final.with_name(f"{final.name}.part")
    shutil.copy2(file, part)
    part.replace(final)


def cmake_and_ninja() -> tuple[str, str]:
    """Return the programs cmake and ninja: from PyPI's packages or, without these, from PATH."""
    try:
        import cmake  # importing it reads all of its files
        import ninja
    except ImportError:  # for example in an installation by a package manager
        return "cmake", "ninja"
    return str(Path(cmake.CMAKE_BIN_DIR) / "cmake"), str(Path(ninja.BIN_DIR) / "ninja")


def compiler() -> str | None:
    """Return the C++ compiler: CXX's, or the first of the usual names; None without any."""
    compilers = (os.environ.get("CXX"), "c++", "g++", "clang++")
    return next((each for each in compilers if each and shutil.which(each)), None)


def _for_device(toolchain: Toolchain) -> list[str]:
    """Return the CMake options for the GPUs that halobench is built for; nothing without any."""
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
