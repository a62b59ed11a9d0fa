# SPDX-License-Identifier: BSD-3-Clause
"""Parameter files of MPI libraries and their communication layers, and their contents.

Each parameter also has an environment variable, which takes precedence. Of two files, the first one
that sets a parameter applies.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from haloscope.errors import UserError
from haloscope.host import process
from haloscope.paths import opened
from haloscope.toolchains.library import Toolchain


@dataclass(frozen=True)
class FileParameter:
    """One parameter in a file.

    file: its name for people. key: as written there. variable: the environment variable of the same
    parameter. final: whether neither that variable nor a command line can change it.
    """

    file: str
    key: str
    variable: str
    value: str
    final: bool = False

    @property
    def name(self) -> str:
        """Its name in records."""
        return f"{self.file}: {self.key}"


@dataclass(frozen=True)
class _File:
    """A file, and the prefix of its parameters' variables. words: it has no equals signs."""

    path: Path
    prefix: str = ""
    final: bool = False
    words: bool = False


def settings(
    environment: Mapping[str, str], toolchain: Toolchain | None = None
) -> Iterator[FileParameter]:
    """Yield the parameters that a library's files set for a launch, each once."""
    home = environment.get("HOME")
    seen = set[str]()
    for file in _files(environment, Path(home) if home else None, toolchain):
        for key, value in _parameters(file):
            variable = f"{file.prefix}{key}"
            if variable not in seen:
                seen.add(variable)
                yield FileParameter(_shown(file.path, home), key, variable, value, file.final)


def _files(
    environment: Mapping[str, str], home: Path | None, toolchain: Toolchain | None
) -> Iterator[_File]:
    """Yield the files in order of precedence."""
    if toolchain is None or toolchain.family == "openmpi":
        yield from _of_open_mpi(environment, home, toolchain)
    yield from _of_ucx(environment, home, toolchain)
    if own := environment.get("NCCL_CONF_FILE"):
        yield _File(Path(own))
    elif home:
        yield _File(home / ".nccl.conf")
    yield _File(Path("/etc/nccl.conf"))
    if own := environment.get("MV2_USER_CONFIG"):
        yield _File(Path(own))
    elif home:
        yield _File(home / ".mvapich2.conf")
    yield _File(Path("/etc/mvapich2.conf"))
    if own := environment.get("ROMIO_HINTS"):
        yield _File(Path(own), words=True)


def _of_open_mpi(
    environment: Mapping[str, str], home: Path | None, toolchain: Toolchain | None
) -> Iterator[_File]:
    """Yield the files of Open MPI, of its launcher from version 5 on (PRRTE), and of PMIx."""
    installed = sysconfdir(toolchain, environment) if toolchain else None
    for project, prefix in (("openmpi", "OMPI_MCA_"), ("prte", "PRTE_MCA_"), ("pmix", "PMIX_MCA_")):

        def said(
            *names: str, prefix: str = prefix, usual: tuple[Path | None, ...] = ()
        ) -> list[Path]:
            """Return the files that a variable names, or else the default ones."""
            values = [
                environment[f"{prefix}{name}"] for name in names if prefix + name in environment
            ]
            if values:
                return [Path(one) for one in re.split("[,:]", values[0]) if one not in ("", "none")]
            return [one for one in usual if one]

        system = installed / f"{project}-mca-params.conf" if installed else None
        last = installed / f"{project}-mca-params-override.conf" if installed else None
        own = home / f".{project}/mca-params.conf" if home else None
        for path in said("mca_base_override_param_file", usual=(last,)):
            yield _File(path, prefix, final=True)
        for path in said("mca_base_param_file_prefix"):
            yield _File(path, prefix)
        for path in said("mca_base_param_files", "mca_param_files", usual=(own, system)):
            yield _File(path, prefix)


def sysconfdir(toolchain: Toolchain, environment: Mapping[str, str]) -> Path | None:
    """Return the folder with the configuration files of an Open MPI, or None if it is unknown."""
    if toolchain.prefix is not None:
        return toolchain.prefix / "etc"
    moved = {key: value for key, value in environment.items() if key.startswith("OPAL_")}
    return _sysconfdir(toolchain.mpicxx, tuple(sorted(moved.items())))


_ANSWER_S = 30.0
_TELL = ("orte-info", "ompi_info")
"""Programs that list an installation's files. Open MPI 4's first takes 0.01 s, the second 0.3 s."""


@cache
def _sysconfdir(mpicxx: Path, moved: tuple[tuple[str, str], ...]) -> Path | None:
    for folder in dict.fromkeys((mpicxx.parent, mpicxx.resolve().parent)):
        for ask in asking(folder):
            ended = process.run(ask, {**os.environ, **dict(moved)}, _ANSWER_S)
            if found := re.search(r"^path:sysconfdir:(/.*)$", ended.output, re.MULTILINE):
                return Path(found[1])
        distributed: tuple[Path, ...] = ()
        if folder.parent == Path("/usr"):
            distributed = (Path("/etc"), Path("/etc/openmpi"))
        for guess in (folder.parent / "etc", *distributed):
            if (guess / "openmpi-mca-params.conf").exists():
                return guess
    return None


def asking(folder: Path) -> Iterator[list[str]]:
    """Yield the commands that print the location of configuration files of an Open MPI."""
    programs = (str(folder / name) for name in _TELL)
    yield from (
        [program, "--path", "sysconfdir", "--parsable"]
        for program in programs
        if os.access(program, os.X_OK)
    )


def _of_ucx(
    environment: Mapping[str, str], home: Path | None, toolchain: Toolchain | None
) -> Iterator[_File]:
    """Yield the files of UCX: the last of its places takes precedence, so they are
    reversed here.
    """
    yield _File(Path("ucx.conf"))  # in the current folder of the ranks
    if own := environment.get("UCX_CONFIG_DIR"):
        yield _File(Path(own, "ucx.conf"))
    if home:
        yield _File(home / "ucx.conf")
    if toolchain is not None:
        yield _File((toolchain.prefix or toolchain.mpicxx.parent.parent) / "etc/ucx/ucx.conf")
    yield _File(Path("/etc/ucx/ucx.conf"))


_LARGEST_BYTES = 1 << 20


def _parameters(file: _File) -> Iterator[tuple[str, str]]:
    text = ""
    with suppress(OSError, UserError), opened(file.path) as stream:  # the file is optional
        text = stream.read(_LARGEST_BYTES).decode(errors="replace")
    for line in text.splitlines():
        if not (line := line.strip()) or line.startswith(("#", "[", "*")):
            continue  # a comment, or UCX's [section]
        key, parted, value = line.partition(" " if file.words else "=")
        if parted:
            yield key.strip(), value.strip()


def _shown(path: Path, home: str | None) -> str:
    if home and path.is_relative_to(home):
        return f"~/{path.relative_to(home)}"
    return str(path.absolute())
