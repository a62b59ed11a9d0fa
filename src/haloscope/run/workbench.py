# SPDX-License-Identifier: BSD-3-Clause
"""What every measurement starts with: toolchains, halobench built with each, this machine."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from haloscope import __version__
from haloscope.errors import Problem, UserError
from haloscope.programs.file import ExternalProgram
from haloscope.records.maker import CampaignFacts
from haloscope.run import halobench, matrices
from haloscope.run.kernels import Kernels
from haloscope.run.matrices import is_matrix_market
from haloscope.run.progress import Teller
from haloscope.run.runners.local import Built
from haloscope.study.case import Value, text
from haloscope.study.plan import Forecast, Program
from haloscope.toolchains import build, library
from haloscope.toolchains.library import Toolchain


@dataclass(frozen=True)
class Workbench:
    """halobench as every toolchain that is needed built it, and what stands in the way of others.

    built has at least one entry; names are those that a run without toolchains is measured with.
    missing: libraries that are known but can't be had here, and why.
    pending: libraries that are still to be fetched, where a study is planned without.
    programs: external programs that are kernels, too, by name.
    """

    built: Mapping[str, Built]
    names: tuple[str, ...]
    problems: tuple[Problem, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    pending: tuple[str, ...] = ()
    programs: Mapping[str, ExternalProgram] = field(default_factory=dict)

    @property
    def halobench(self) -> Halobench:
        """Any of its builds, to be asked: they all plan alike."""
        return Halobench(build.asked(next(iter(self.built.values())).program))

    @property
    def program(self) -> Program:
        """All kernels, to plan with."""
        return Kernels(self.halobench, self.programs, self.toolchains)

    @property
    def toolchains(self) -> dict[str, Toolchain]:
        """The MPI libraries that there are, by name."""
        return {name: each.toolchain for name, each in self.built.items()}


def workbench(wanted: Mapping[str, Sequence[str] | None], tell: Teller) -> Workbench:
    """Build halobench with every toolchain that is wanted somewhere; None is the usual one.

    wanted: names by what asks for them, as a user would look for it. What PyPI has is
    installed, and so is the usual one if there is no MPI at all. UserError if there is nothing
    even to plan with.
    """
    unnamed = [library.ensure(None, say=tell.say)] if None in wanted.values() else []
    toolchains = {toolchain.name: toolchain for toolchain in unnamed}
    problems = unknown_toolchains(wanted)
    missing: dict[str, str] = {}
    for name in (name for names in wanted.values() for name in names or ()):
        if library.is_known(name) and name not in toolchains and name not in missing:
            try:
                toolchains[name] = library.ensure(name, say=tell.say)
            except UserError as error:
                missing[name] = error.problems[0].what
    if not toolchains:  # any will do to plan with, so that all other problems are found too
        toolchains = {each.name: each for each in library.available()[:1]}
    if not toolchains:
        absent = [Problem(name, why, "add another") for name, why in missing.items()]
        raise UserError([*problems, *absent])
    source = build.source_hash()
    built = {}
    for name, toolchain in toolchains.items():
        with tell.steps() as steps:
            program = build.build(toolchain, say=tell.say, progress=steps)
        compiler = build.wrapped_compiler(toolchain)
        built[name] = Built(toolchain, program, source, compiler, build.flags())
    return Workbench(
        built, tuple(toolchain.name for toolchain in unnamed), tuple(problems), missing
    )


def unknown_toolchains(wanted: Mapping[str, Sequence[str] | None]) -> list[Problem]:
    """Names among those wanted that no toolchain has, each where it was asked for."""
    asked = ((where, name) for where, names in wanted.items() for name in names or ())
    return [
        Problem(where, f"there is no '{name}'", library.known(name))
        for where, name in asked
        if not library.is_known(name)
    ]


def usual(tell: Teller) -> Workbench:
    """The workbench with nothing but the toolchain that is used when none is named."""
    return workbench({"": None}, tell)


@dataclass(frozen=True)
class Halobench:
    """A built halobench, asked without launching it; the same question is asked once."""

    binary: Path
    _known: dict[str, halobench.Kernel] = field(default_factory=dict)
    _forecasts: dict[tuple[Any, ...], Forecast] = field(default_factory=dict)

    @cached_property
    def _files(self) -> Path:
        return matrices.folder()

    @cached_property
    def _planner(self) -> halobench.Planner:
        return halobench.Planner(self.binary)

    def kernels(self) -> Sequence[str]:
        """The names of all kernels."""
        return halobench.names()

    def parameters(self, kernel: str) -> Sequence[str]:
        """The names of a kernel's parameters."""
        return [parameter.name for parameter in self._described(kernel).parameters]

    def numbers(self, kernel: str) -> Sequence[str]:
        """The names of those that are numbers."""
        known = self._described(kernel).parameters
        return [parameter.name for parameter in known if parameter.type in ("integer", "real")]

    def _described(self, kernel: str) -> halobench.Kernel:
        if kernel not in self._known:
            self._known[kernel] = halobench.describe(self.binary, kernel)
        return self._known[kernel]

    def prepared(
        self, kernel: str, params: Mapping[str, Value], ranks: int
    ) -> tuple[Mapping[str, Value], str | None]:
        """Parameters with Matrix Market files made into binary ones, and the folder of those."""
        named = [
            parameter.name
            for parameter in self._described(kernel).parameters
            if parameter.type == "file" and is_matrix_market(params.get(parameter.name, ""))
        ]
        for key in named:
            params = matrices.prepared(params, key, ranks)
        return params, str(matrices.folder()) if named else None

    def forecast(
        self, kernel: str, params: Mapping[str, Value], ranks: int, threads: int
    ) -> Forecast:
        """One case's resolved parameters, memory and problems."""
        given = {key: text(value) for key, value in params.items()}
        question = (kernel, *given.items(), ranks, threads)
        if question not in self._forecasts:
            self._forecasts[question] = self._planner.forecast(
                kernel, given, ranks=ranks, threads=threads, files=self._files
            )
        return self._forecasts[question]

    def unable(self, kernel: str, toolchain: str, *, simulated: bool) -> str | None:
        """None: what a kernel can't do here, its forecast says."""
        return None


def facts(study: str, seed: int, described: Mapping[str, Any]) -> CampaignFacts:
    """What the records of one campaign have in common. described: the machine."""
    return CampaignFacts(study, seed, described, __version__, checkout(Path(__file__).parents[3]))


def new_seed() -> int:
    """A seed for the order of launches, short enough to be typed again."""
    return random.SystemRandom().randrange(2**31)


def checkout(root: Path) -> dict[str, Any] | None:
    """The commit of a git checkout and whether it was changed since; None if it is none."""
    if not (root / ".git").exists():
        return None
    try:
        commit = _git(root, "rev-parse", "HEAD")
        return {"commit": commit, "dirty": bool(_git(root, "status", "--porcelain"))}
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None  # no git here, or no commit yet


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", check=True
    ).stdout.strip()
