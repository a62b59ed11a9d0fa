"""What every measurement starts with: toolchains, halobench built with each, this machine."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from haloscope import __version__, build, halobench, machine, toolchain
from haloscope.case import Value, text
from haloscope.errors import Problem, UserError
from haloscope.plan import Forecast, Site
from haloscope.progress import Teller
from haloscope.runners.base import Session
from haloscope.runners.local import Built


@dataclass(frozen=True)
class Workbench:
    """halobench as every toolchain that is needed built it, and what stands in the way of others.

    built has at least one entry; names are those that a run without toolchains is measured with.
    """

    built: Mapping[str, Built]
    names: tuple[str, ...]
    problems: tuple[Problem, ...]

    @property
    def program(self) -> Halobench:
        """Any of the programs, to plan with: they all plan alike."""
        return Halobench(next(iter(self.built.values())).program)


def workbench(wanted: Iterable[Sequence[str] | None], tell: Teller) -> Workbench:
    """Build halobench with every toolchain that some run wants; None is the usual one.

    The usual one is installed if there is no MPI at all. UserError if no toolchain is usable.
    """
    lists = list(wanted)
    usual = [toolchain.ensure(None, say=tell.say)] if None in lists or not lists else []
    found = {one.name: one for one in usual}
    problems: list[Problem] = []
    for name in dict.fromkeys(name for names in lists for name in names or ()):
        try:
            found.setdefault(name, toolchain.find(name))
        except UserError as error:
            problems += error.problems
    if not found:
        raise UserError(problems)
    source = build.source_hash()
    built = {}
    for name, one in found.items():
        with tell.steps() as steps:
            program = build.build(one, say=tell.say, progress=steps)
        built[name] = Built(one, program, source)
    return Workbench(built, tuple(one.name for one in usual), tuple(problems))


@dataclass(frozen=True)
class Halobench:
    """A built halobench, asked without launching it; the same question is asked once."""

    binary: Path
    _known: dict[str, list[str]] = field(default_factory=dict)

    @cached_property
    def _kernels(self) -> list[str]:
        return [kernel.name for kernel in halobench.kernels(self.binary)]

    def kernels(self) -> Sequence[str]:
        """The names of all kernels."""
        return self._kernels

    def parameters(self, kernel: str) -> Sequence[str]:
        """The names of a kernel's parameters."""
        if kernel not in self._known:
            described = halobench.describe(self.binary, kernel)
            self._known[kernel] = [parameter.name for parameter in described.parameters]
        return self._known[kernel]

    def forecast(
        self, kernel: str, params: Mapping[str, Value], ranks: int, threads: int
    ) -> Forecast:
        """One case's resolved parameters, memory and problems."""
        given = {key: text(value) for key, value in params.items()}
        return halobench.plan(self.binary, kernel, given, ranks=ranks, threads=threads)


def site(names: Sequence[str], *, oversubscribe: bool) -> Site:
    """This machine, as a place to run cases in."""
    return Site(
        nodes=1,
        cores=len(machine.processors("cores")),
        hardware_threads=len(machine.processors("threads")),
        memory_bytes=machine.memory_available_bytes(),
        oversubscribe=oversubscribe,
        toolchains=tuple(names),
    )


def session(study: str, seed: int) -> Session:
    """What the records of one invocation have in common."""
    return Session(
        study, seed, machine.describe(), __version__, checkout(Path(__file__).parents[2])
    )


def identity() -> dict[str, Any]:
    """What must be the same for records to be of one machine."""
    described = machine.describe()
    return {key: described[key] for key in ("host", "cpu", "cores")}


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
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
