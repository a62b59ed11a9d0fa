# SPDX-License-Identifier: BSD-3-Clause
"""Which external programs may be run: those that a user named, and those in a trusted folder.

A study says the name of a kernel, and no more: it can't make a program run that the user did not
name on the command line or put into a folder for such programs. The folder that haloscope is called
in is none: it may be anybody's.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from haloscope.errors import Problem, UserError
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
        """What it is called as a kernel."""
        return self.file.parent.name


def own_folder() -> Path | None:
    """The folder whose programs the user trusts; None where this user has no home."""
    if given := os.environ.get(VARIABLE):
        return Path(given).absolute()
    try:
        return platformdirs.user_config_path("haloscope") / "programs"
    except RuntimeError:
        return None


def trusted(named: Sequence[Path], kernels: Sequence[str] = ()) -> dict[str, Trusted]:
    """The programs that may be run, by name: the named ones before the user's, these before ours.

    named: program.toml files, or the folders that they lie in. kernels: names that are taken.
    UserError where one of those is none, or the user's folder is open to others.
    """
    found = {one.name: one for one in _programs_in(share("programs"))}
    if (own := own_folder()) is not None and own.is_dir():
        _require_closed(own)
        _require_in_place(own)
        theirs = _programs_in(own)
        for one in theirs:
            _require_closed(one.file.parent)
            _require_closed(one.file)
            _require_in_place(one.file)  # a link may lead to anywhere
        found |= {one.name: one for one in theirs}
    problems: list[Problem] = []
    mine: dict[str, Trusted] = {}
    for given in named:
        file = (given / FILE if given.is_dir() else given).absolute()
        one = Trusted(file, named=True)
        where = f"--program {given}"
        if not file.is_file():
            what, remedy = f"file not found: {file}", f"give a folder that contains {FILE}"
            problems.append(Problem(where, what, remedy))
        elif file.name != FILE or not re.fullmatch(NAME, one.name):
            what = f"invalid name of a program: '{one.name}'"
            remedy = f"name the file {FILE}, and its folder with lower-case letters, digits, and _"
            problems.append(Problem(where, what, remedy))
        elif one.name in mine and mine[one.name] != one:
            what = f"{mine[one.name].file.parent} has the same program name, {one.name}"
            problems.append(Problem(where, what, "give only one of them, or rename its folder"))
        mine[one.name] = one
    for name, one in {**found, **mine}.items():
        if name in kernels:
            what = "a kernel of halobench has the same name"
            problems.append(Problem(str(one.file.parent), what, "rename this folder"))
    if problems:
        raise UserError(problems)
    return {**found, **mine}


def named_again(programs: Sequence[Trusted]) -> list[str]:
    """The words of a command line that name these programs as the user did."""
    return [word for one in programs if one.named for word in ("--program", str(one.file))]


def _programs_in(folder: Path) -> list[Trusted]:
    files = sorted(folder.glob(f"*/{FILE}"))
    return [Trusted(file) for file in files if re.fullmatch(NAME, file.parent.name)]


def _require_closed(path: Path) -> None:
    """UserError where others than the user may write to what says which programs are run."""
    status = path.stat()
    if status.st_uid in (os.getuid(), 0) and not status.st_mode & (stat.S_IWOTH | stat.S_IWGRP):
        return
    remedy = f"run chmod go-w {path} as its owner, or set {VARIABLE} to another folder"
    what = "other users can write here and could add programs"
    raise UserError(Problem(str(path), what, remedy))


def _require_in_place(path: Path) -> None:
    """UserError where anybody may put something else in its place, as in no /tmp (mode 1777)."""
    for parent in path.resolve().parents:
        mode = parent.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            what = f"any user can write to {parent} and could replace it"
            remedy = f"run chmod o-w {parent} as its owner, or set {VARIABLE} to another folder"
            raise UserError(Problem(str(path), what, remedy))
