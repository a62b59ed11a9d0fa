# SPDX-License-Identifier: BSD-3-Clause
"""The MPI library in PATH: its compiler wrapper and launcher, or why it cannot be used.

Distributions and cluster modules use many names for them. Both are queried for their library,
because PATH can contain those of several.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path

from haloscope.host import process
from haloscope.host.scratch import scratch
from haloscope.toolchains.transport import Family
from haloscope.verbosity import warn_once

COMPILERS = (
    *("mpicxx", "mpic++", "mpiCC", "mpicxx.openmpi", "mpicxx.mpich"),
    *("mpiicpx", "mpiicpc", "mpigxx"),  # Intel MPI
    *("CC", "mpixlC", "mpiFCC", "mpinc++"),  # Cray, IBM, Fujitsu, NEC
)
"""COMPILERS are C++ wrappers, the usual one first."""
C_COMPILERS = ("mpicc", "mpiicx", "mpiicc", "mpigcc", "mpixlc", "mpifcc", "mpincc", "cc")
"""C_COMPILERS are C wrappers, which show that a machine has a library that C++ cannot use yet."""
LAUNCHERS = (
    *("mpirun", "mpiexec", "orterun", "mpiexec.hydra"),
    *("mpirun.openmpi", "mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich"),
)
"""LAUNCHERS start ranks, if they belong to a known library; the usual one first."""
SIGNS = (
    *LAUNCHERS,
    *("prterun", "mpirun_rsh", "mpiexec.slurm", "mpiexec_mpt", "mpirun.lsf"),
    *("srun", "yhrun", "aprun", "jsrun", "lrun", "ibrun", "flux", "ccc_mprun", "prun", "runjob"),
    *("sbatch", "yhbatch", "qsub", "bsub", "pjsub", "oarsub", "llsubmit"),
    *("mpif77", "mpif90", "mpifort", "mpiifort", "mpiifx", "mpifrt", "mpixlf", "ftn"),
)
"""SIGNS are programs that show that a machine or its cluster has an MPI library, although no
wrapper works. poe is not included, because it is usually a task runner for Python.
"""

SMALLEST = "#include <mpi.h>\nint main(int argc, char** argv) {\n"
SMALLEST += "  return MPI_Init(&argc, &argv) + MPI_Finalize();\n}\n"
"""SMALLEST is an MPI program that is compiled and linked as a test."""
ANSWER_S = 20.0
"""ANSWER_S is the time limit for a version query of a launcher or a compiler, in seconds."""
COMPILED_S = 120.0
"""COMPILED_S is the time limit for compiling a program of three lines, in seconds."""

_OTHERWISE = "use another library: --toolchain openmpi"


@dataclass(frozen=True)
class Pair:
    """A compiler wrapper and the launcher of its ranks.

    launcher: srun, pals, or jsrun if it is not the library's own; otherwise None.
    """

    mpicxx: Path
    mpirun: Path
    family: Family
    version: str
    launcher: str | None = None


@dataclass(frozen=True)
class Unusable:
    """Why the MPI library in PATH, or of this cluster, cannot be used, and the remedy."""

    what: str
    remedy: str


@dataclass(frozen=True)
class _Reported:
    """The library that a program reports. why: reason for no answer.

    base: the MPICH from which a library is derived, as reported by its launcher. pals: whether it
    is the launcher of HPE's systems.
    """

    program: str
    family: Family | None
    version: str = ""
    why: str = ""
    base: str = ""
    pals: bool = False

    def fits(self, launcher: _Reported) -> bool:
        """Return whether a launcher belongs to the library. Intel MPI writes its version in two
        ways.
        """
        if self.family is None or launcher.family != self.family:
            return False
        own = self.base or self.version
        return self.family == "impi" or _numbers(own) == _numbers(launcher.version)


def _numbers(version: str) -> str:
    """Return a library's name and three numbers of its version: mpi.h of a 4.1.0rc1 has 4.1.0."""
    return re.sub(r"(\d+(?:\.\d+){0,2}).*", r"\1", version)


def found() -> Pair | None:
    """Return the first wrapper that includes an mpi.h, with its library's or the system's launcher.

    Warn about skipped ones, which a user may have meant.
    """
    if (pair := _found()) is not None:
        for line in passed_over(pair):
            warn_once(f"{line}; {pair.mpicxx} and {pair.mpirun} are used")
    return pair


def _found() -> Pair | None:
    for wrapper in _wrappers():
        mpicxx, family = Path(wrapper.program), wrapper.family
        if family is None or (mpicxx.name == "CC" and does_not_compile(wrapper.program)):
            continue
        if fit := next((one for one in _launchers() if wrapper.fits(one)), None):
            version = wrapper.version if wrapper.base else fit.version
            return Pair(mpicxx, Path(fit.program), family, version)
        if (of_system := _of_system(wrapper)) and not does_not_compile(wrapper.program):
            return Pair(mpicxx, Path(of_system[1]), family, wrapper.version, of_system[0])
    return None


def _of_system(wrapper: _Reported) -> tuple[str, str] | None:
    """Return the system launcher that starts the ranks of a library, with its path."""
    if srun := shutil.which("srun"):
        return "srun", srun
    if pals := next((one.program for one in _launchers() if one.pals), None):
        return ("pals", pals) if wrapper.family == "mpich" else None
    jsrun = shutil.which("jsrun")
    return ("jsrun", jsrun) if jsrun and wrapper.version.startswith("Spectrum MPI") else None


def passed_over(pair: Pair) -> list[str]:
    """Return the programs that precede a pair by name, and why they are not used."""
    lines = []
    for one in takewhile(lambda one: one.program != str(pair.mpicxx), _wrappers()):
        lines.append(f"{one.program} cannot compile an MPI program: {one.why}")
    for one in takewhile(lambda one: one.program != str(pair.mpirun), _launchers()):
        other = f"{one.program} belongs to {one.version}, but {pair.mpicxx} belongs to "
        other += pair.version
        lines.append(other if one.family else one.why)
    return lines


def unusable() -> Unusable | None:
    """Return what is missing of the MPI library in PATH, or None if it is complete or absent."""
    if found() is not None:
        return None
    first, wrappers = next(_launchers(), None), [*_wrappers()]
    for one in wrappers:
        if (why := _unusable_wrapper(one, first)) is not None:
            return why
    without = "no compiler wrapper for C++ (mpicxx; Cray: CC) is in PATH"
    if wrappers:
        without = f"{wrappers[0].program} does not compile MPI programs, and no mpicxx is in PATH"
    return _without_wrapper(without, first)


def _unusable_wrapper(one: _Reported, launcher: _Reported | None) -> Unusable | None:
    """Return why a wrapper cannot be used; None for a CC that is not an MPI wrapper."""
    if one.family is not None and not does_not_compile(one.program):
        by = "neither mpirun nor srun is in PATH"
        if launcher is not None:
            own = f"{launcher.program} belongs to {launcher.version}"
            by = own if launcher.family else launcher.why
        remedy = "load the module with its mpirun or srun, put the bin folder of the intended "
        remedy += (
            f"library first in PATH (Debian: update-alternatives --config mpirun), or {_OTHERWISE}"
        )
        return Unusable(f"{one.program} belongs to {one.version}, but {by}", remedy)
    if one.family is None and Path(one.program).name == "CC":
        return None
    why = one.why or does_not_compile(one.program)
    compiler = next(filter(shutil.which, ("c++", "g++", "clang++")), "g++")
    family = one.family or (launcher.family if launcher else None)
    remedy = f"{compiler_remedy(family, compiler)}, load the "
    remedy += f"module of the wrapper's compiler, or {_OTHERWISE}"
    return Unusable(f"{one.program} cannot compile an MPI program: {why}", remedy)


def _without_wrapper(without: str, launcher: _Reported | None) -> Unusable | None:
    """Return the remains of an MPI library that cannot compile C++; None without any."""
    for name in C_COMPILERS:
        if (compiler := shutil.which(name)) and (of_c := _included(compiler, "c")).family:
            what = f"{compiler} compiles C programs with {of_c.version}, but {without}"
            return Unusable(what, f"load the module of the C++ compiler, or {_OTHERWISE}")
    if launcher is not None and launcher.family is not None:
        remedy = "install its compiler wrapper (Debian, Ubuntu: apt install libopenmpi-dev), or "
        what = f"{launcher.program} belongs to {launcher.version}, but {without}"
        return Unusable(what, remedy + _OTHERWISE)
    if sign := next(filter(None, map(shutil.which, SIGNS)), None):
        remedy = f"load the MPI module of this cluster, or {_OTHERWISE}"
        return Unusable(f"{sign} is in PATH, but {without}", remedy)
    return None


def compiler_remedy(family: Family | None, compiler: str) -> str:
    """Return the remedy if a wrapper does not find its compiler. compiler: one that works."""
    variable = {"openmpi": "OMPI_CXX", "impi": "I_MPI_CXX"}.get(family or "", "MPICH_CXX")
    remedy = f"export {variable}={compiler} (this compiler works), or install the compiler that "
    return f"{remedy}the wrapper calls (with conda: conda install cxx-compiler)"


def _launchers() -> Iterator[_Reported]:
    """Yield the launchers in PATH, each program once, in the order of their names."""
    found: dict[Path, str] = {}
    for path in filter(None, map(shutil.which, LAUNCHERS)):
        found.setdefault(Path(path).resolve(), path)
    yield from map(_launched, found.values())


def _wrappers() -> Iterator[_Reported]:
    """Yield the C++ wrappers in PATH."""
    yield from (_included(path) for name in COMPILERS if (path := shutil.which(name)))


def version(program: str) -> list[str]:
    """Return the command that prints the version of a wrapper or a launcher."""
    return [program, "--version"]


@cache
def _launched(path: str) -> _Reported:
    ended = process.run(version(path), os.environ, ANSWER_S)
    if recognised := recognise(ended.output):
        return _Reported(path, *recognised)
    if ended.timed_out or ended.code:
        why = why_failed(ended, ANSWER_S).removeprefix(f"{path}: ")
        return _Reported(path, None, why=f"{path} does not work: {why}")
    if pals := re.match(r"mpiexec version (\d\S*)", ended.output):
        return _Reported(path, None, why=f"{path} is PALS {pals[1]}", pals=True)
    return _Reported(path, None, why=f"{path} belongs to an unknown library")


@cache
def _included(path: str, language: str = "c++") -> _Reported:
    ended = macros_of(path, language)
    if family := family_of(ended.output):
        base, own = (
            f"MPICH {_macro('MPICH_VERSION', ended.output)}",
            version_of(family, ended.output),
        )
        if own == base and _is_parastation(Path(path)):
            own = f"ParaStation MPI ({base})"
        is_made_from_it = own != base and own.startswith(("MVAPICH", "ParaStation"))
        return _Reported(path, family, own, base=base if is_made_from_it else "")
    why = "it cannot find mpi.h"
    if ended.timed_out or ended.code:
        why = why_failed(ended, ANSWER_S)
    return _Reported(path, None, why=why)


def _is_parastation(wrapper: Path) -> bool:
    """Return whether a wrapper's MPICH is ParaStation's, which only its device shows."""
    asked = wrapper.resolve().with_name("mpichversion")
    if not asked.exists():
        return False
    ended = process.run([str(asked), "-d"], os.environ, ANSWER_S)
    return re.search(r"^MPICH Device:\s*psp\b", ended.output, re.MULTILINE) is not None


def origin_of(program: Path) -> str | None:
    """Return the Spack package or conda environment of a program, or None."""
    real = program.resolve()
    for folder in (program.parent.parent, *real.parents):
        if (folder / "conda-meta").is_dir():
            return f"conda environment {folder}"
        with suppress(OSError, ValueError, LookupError, TypeError):
            spec = json.loads((folder / ".spack" / "spec.json").read_text(encoding="utf-8"))["spec"]
            root = spec["nodes"][0]  # the package itself, before its dependencies
            return f"Spack {root['name']}@{root['version']}/{root['hash'][:7]}"
    return None


def recognise(version_text: str) -> tuple[Family, str] | None:
    """Family and version from what `mpirun --version` prints; None for an unknown library."""
    patterns: tuple[tuple[Family, str, str], ...] = (
        ("openmpi", "Open MPI", r"\(Open(?: MPI|RTE)\) (\S+)"),
        ("openmpi", "Spectrum MPI", r"\(IBM Spectrum MPI\) (\S+)"),
        ("impi", "Intel MPI", r"Intel\(R\) MPI Library.*Version (\d[^ ,]*(?: Update \d+)?)"),
        ("mpich", "MPICH", r"HYDRA build details:\s+Version:\s+(\S+)"),
    )
    for family, title, pattern in patterns:
        if match := re.search(pattern, version_text):
            return family, f"{title} {match[1]}"
    return None


def macros_of(
    wrapper: str, language: str = "c++", environment: Mapping[str, str] | None = None
) -> process.Ended:
    """Run a compiler that prints the macros of the mpi.h that it includes."""
    asked = {**os.environ, **(environment or {})}
    return process.run(dump(wrapper, language), asked, ANSWER_S, _MACROS_CHARACTERS)


def dump(wrapper: str, language: str = "c++") -> list[str]:
    """Return the command with which a wrapper prints the macros of its mpi.h."""
    return [wrapper, "-E", "-dM", "-x", language, "-include", "mpi.h", "/dev/null"]


_MACROS_CHARACTERS = 1 << 21
"""_MACROS_CHARACTERS exceeds the length of an mpi.h's macros."""


def family_of(macros: str) -> Family | None:
    """Return the family of the library whose mpi.h has these macros; None if unknown."""
    marks: tuple[tuple[str, Family], ...] = (
        ("I_MPI_VERSION", "impi"),
        ("OMPI_MAJOR_VERSION", "openmpi"),
        ("MPICH_VERSION", "mpich"),
    )
    return next((family for mark, family in marks if f"#define {mark} " in macros), None)


def version_of(family: Family, macros: str) -> str:
    """Return a library's name and version from the macros of its mpi.h."""
    if family == "openmpi":
        major, *others = (
            _macro(f"OMPI_{part}_VERSION", macros) for part in ("MAJOR", "MINOR", "RELEASE")
        )
        # IBM's, derived from Open MPI, counts from 10
        name = "Spectrum MPI" if len(major) > 1 else "Open MPI"
        return f"{name} {'.'.join((major, *others))}"
    if family == "impi":
        return f"Intel MPI {_macro('I_MPI_VERSION', macros)}"
    cray = _macro("CRAY_MPICH_VERSION", macros) or os.environ.get("CRAY_MPICH_VERSION")
    if cray:
        return f"Cray MPICH {cray}"
    if own := _MVAPICH.search(macros):
        return f"{own[1]} {own[2]}"
    return f"MPICH {_macro('MPICH_VERSION', macros)}"


_MVAPICH = re.compile(r'^#define (MVAPICH2?)_VERSION "?([^"\n]*)', re.MULTILINE)


def _macro(name: str, macros: str) -> str:
    found = re.search(rf'^#define {name} "?([^"\n]*)', macros, re.MULTILINE)
    return found[1].strip() if found else ""


@cache
def does_not_compile(wrapper: str) -> str | None:
    """Return why a wrapper does not compile and link an MPI program; None if it does."""
    return compiled(wrapper, os.environ)


def compiled(wrapper: str, environment: Mapping[str, str]) -> str | None:
    """Return the same for an environment, without a cached answer."""
    with scratch() as own:
        source, program = own.folder / "smallest.cpp", own.folder / "smallest"
        source.write_text(SMALLEST, encoding="utf-8")
        ended = process.run([wrapper, str(source), "-o", str(program)], environment, COMPILED_S)
        if ended.timed_out or ended.code:
            return why_failed(ended, COMPILED_S)
        return None if program.exists() else "it reports no error, but writes no executable"


def why_failed(ended: process.Ended, limit_s: float) -> str:
    """Return why a command failed: its output from the first error on, without separator lines."""
    if ended.timed_out:
        return f"no answer within {limit_s:g} s"
    lines = [line.strip() for line in ended.output.splitlines() if line.strip("- \t")]
    first = next((n for n, line in enumerate(lines) if re.search(r"\berror\b", line)), 0)
    return " ".join(lines[first:])[:300] or f"exit code {ended.code}"


def forget() -> None:
    """Clear cached answers, as after a change of PATH or of a program."""
    for one in (_launched, _included, does_not_compile, warn_once):
        one.cache_clear()
