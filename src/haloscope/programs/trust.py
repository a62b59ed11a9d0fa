# SPDX-License-Identifier: BSD-3-Clause
"""External programs that may be run: those named by the user, and those in a trusted folder.

A study contains only the name of a kernel. It cannot run a program that the user did not name on
the command line or put into a folder for such programs. The current folder is not trusted: it may
belong to anybody.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from haloscope.errors import Problem, UserError, reject
from haloscope.paths import share
from haloscope.programs.values import NAME

FILE = "program.toml"
VARIABLE = "HALOSCOPE_PROGRAMS"


@dataclass(frozen=True)
class Trusted:
    """A program.toml that may be used. named: by the user, on this command line."""

    file: Path
    named: bool = False

    @property
    def name(self) -> str:
        """Its name as a kernel."""
        return self.file.parent.name


def own_folder() -> Path | None:
    """Return the folder whose programs the user trusts; None if this user has no home."""
    if given := os.environ.get(VARIABLE):
        return Path(given).absolute()
    try:
        return platformdirs.user_config_path("haloscope") / "programs"
    except RuntimeError:
        return None


def trusted(named: Sequence[Path], kernels: Sequence[str] = ()) -> dict[str, Trusted]:
    """Return the programs that may be run, by name: named ones first, then the user's, then ours.

    named: program.toml files, or their folders. kernels: reserved names. Raise UserError for an
    invalid one, or if other users can write to the user's folder.
    """
    found = {one.name: one for one in _programs_in(share("programs"))}
    if (own := own_folder()) is not None and own.is_dir():
        _require_closed(own)
        _require_in_place(own)
        theirs = _programs_in(own)
        for one in theirs:
            _require_closed(one.file.parent)
            _require_closed(one.file)
            _require_in_place(one.file)  # a link may lead anywhere
        found |= {one.name: one for one in theirs}
    problems: list[Problem] = []
    mine: dict[str, Trusted] = {}
    for given in named:
        file = (given / FILE if given.is_dir() else given).absolute()
        one = Trusted(file, named=True)
        where = f"--program {given}"
        if not file.is_file():
            what, remedy = f"{file} not found", f"give a folder that contains {FILE}"
            problems.append(Problem(where, what, remedy))
        elif file.name != FILE or not re.fullmatch(NAME, one.name):
            what = f"invalid program name '{one.name}'"
            remedy = f"name the file {FILE}; use only lower-case letters, digits, and _ in the "
            remedy += "name of its folder, and begin with a letter"
            problems.append(Problem(where, what, remedy))
        elif one.name in mine and mine[one.name] != one:
            what = f"{mine[one.name].file.parent} has the same program name, '{one.name}'"
            problems.append(
                Problem(where, what, "give only one of them, or rename one of the folders")
            )
        mine[one.name] = one
    for name, one in {**found, **mine}.items():
        if name in kernels:
            what = "a kernel of halobench has the same name"
            problems.append(Problem(str(one.file.parent), what, "rename this folder"))
    reject(problems)
    return {**found, **mine}


def named_again(programs: Sequence[Trusted]) -> list[str]:
    """Return the command-line words that name these programs as the user did."""
    return [word for one in programs if one.named for word in ("--program", str(one.file))]


def _programs_in(folder: Path) -> list[Trusted]:
    files = sorted(folder.glob(f"*/{FILE}"))
    return [Trusted(file) for file in files if re.fullmatch(NAME, file.parent.name)]


def _require_closed(path: Path) -> None:
    """Raise UserError if other users may change the file that determines which programs are run."""
    status = path.stat()
    if status.st_uid in (os.getuid(), 0) and not status.st_mode & (stat.S_IWOTH | stat.S_IWGRP):
        return
    remedy = f"run 'chmod go-w {path}' as its owner, or set {VARIABLE} to another folder"
    what = "other users can write to this folder and could add programs"
    raise UserError(Problem(str(path), what, remedy))


def _require_in_place(path: Path) -> None:
    """Raise UserError if others may replace the path, as in a folder writable by all without sticky
    bit.
    """
    for parent in path.resolve().parents:
        mode = parent.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            what = f"any user can write to {parent} and could replace this folder or file"
            remedy = f"run 'chmod o-w {parent}' as its owner, or set {VARIABLE} to another folder"
            raise UserError(Problem(str(path), what, remedy))
