"""What every measurement starts with: toolchains, halobench built with each, this machine."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from haloscope import __version__
from haloscope.errors import Problem, UserError, nearest
from haloscope.host import machine
from haloscope.records.maker import CampaignFacts
from haloscope.run import halobench, matrices
from haloscope.run.matrices import is_matrix_market
from haloscope.run.progress import Teller
from haloscope.run.runners import process
from haloscope.run.runners.local import Built
from haloscope.study.capacity import Site
from haloscope.study.case import Case, Value, text
from haloscope.study.plan import Forecast
from haloscope.toolchains import build, launch, library
from haloscope.toolchains.job import Job
from haloscope.toolchains.launch import launch_command
from haloscope.toolchains.transport import complaint, told

PROBE_TIMEOUT_S = 30


@dataclass(frozen=True)
class Workbench:
    """halobench as every toolchain that is needed built it, and what stands in the way of others.

    built has at least one entry; names are those that a run without toolchains is measured with.
    missing: libraries that are known but can't be had here, and why.
    """

    built: Mapping[str, Built]
    names: tuple[str, ...]
    problems: tuple[Problem, ...]
    missing: Mapping[str, str] = field(default_factory=dict)

    @property
    def program(self) -> Halobench:
        """Any of the programs, to plan with: they all plan alike."""
        return Halobench(build.asked(next(iter(self.built.values())).program))


def workbench(wanted: Mapping[str, Sequence[str] | None], tell: Teller) -> Workbench:
    """Build halobench with every toolchain that is wanted somewhere; None is the usual one.

    wanted: names by the place that asks for them, as a user would look for it. What PyPI has is
    installed, and so is the usual one if there is no MPI at all. UserError if there is nothing
    even to plan with.
    """
    unnamed = [library.ensure(None, say=tell.say)] if None in wanted.values() else []
    found = {one.name: one for one in unnamed}
    problems = unknown_toolchains(wanted)
    missing: dict[str, str] = {}
    for name in (name for names in wanted.values() for name in names or ()):
        if name in library.names() and name not in found and name not in missing:
            try:
                found[name] = library.ensure(name, say=tell.say)
            except UserError as error:
                missing[name] = error.problems[0].what
    if not found:  # any will do to plan with, so that all other problems are found too
        found = {one.name: one for one in library.available()[:1]}
    if not found:
        absent = [Problem(name, why, "add another") for name, why in missing.items()]
        raise UserError([*problems, *absent])
    source = build.source_hash()
    built = {}
    for name, one in found.items():
        with tell.steps() as steps:
            program = build.build(one, say=tell.say, progress=steps)
        built[name] = Built(one, program, source)
    return Workbench(built, tuple(one.name for one in unnamed), tuple(problems), missing)


def unknown_toolchains(wanted: Mapping[str, Sequence[str] | None]) -> list[Problem]:
    """Names among those wanted that no toolchain has, each where it was asked for."""
    known = library.names()
    asked = ((where, name) for where, names in wanted.items() for name in names or ())
    return [
        Problem(where, f"there is no '{name}'", nearest(name, known))
        for where, name in asked
        if name not in known
    ]


def complete(wanted: Mapping[str, Sequence[str] | None]) -> bool:
    """Is all that is wanted there, so that `workbench` has nothing to install or build?"""
    there = {one.name: one for one in library.available()}
    usual = [*there][:1]
    named = {name for names in wanted.values() for name in names or usual}
    needed = named & {*library.names()} or usual  # one to plan with, if nothing else
    return bool(there) and all(name in there and build.built(there[name]) for name in needed)


@dataclass(frozen=True)
class Probe:
    """Whether a library can use a transport here. seen: what it says it used; None: it can't tell.

    problem: why two ranks could not exchange messages; None if they did.
    """

    seen: str | None
    problem: str | None


def probe(built: Built, transport: str | None) -> Probe:
    """Let two ranks exchange a few messages while the library says what it does."""
    two = Job(ranks=2, oversubscribe=True, transport=transport)
    program = [str(built.program), "ring", "repetitions=1", "steps=1", "warmup=0"]
    command, environment = launch_command(built.toolchain, two, program, talkative=True)
    ended = process.run(command, environment, PROBE_TIMEOUT_S, tail=1 << 20)
    if ended.timed_out:
        return Probe(None, f"no message arrived within {PROBE_TIMEOUT_S} s")
    if ended.code != 0:
        return Probe(None, complaint(ended.output))
    return Probe(told(built.toolchain.family, transport, ended.output), None)


def probed(
    cases: Sequence[Case], built: Mapping[str, Built]
) -> tuple[tuple[Case, ...], dict[tuple[str, str | None], str | None]]:
    """Cases and, by toolchain and transport, what a library says it uses; one probe of each.

    Cases whose transport does not work here become absent, with the reason.
    """
    asked = {
        (case.toolchain, case.transport)
        for case in cases
        if case.absent is None and case.layout.ranks > 1
    }
    probes = {key: probe(built[key[0]], key[1]) for key in sorted(asked, key=str)}
    able = tuple(
        replace(case, absent=probes[key].problem, launches=1)
        if (key := (case.toolchain, case.transport)) in probes and probes[key].problem
        else case
        for case in cases
    )
    return able, {key: one.seen for key, one in probes.items()}


def usual(tell: Teller) -> Workbench:
    """The workbench with nothing but the toolchain that is used when none is named."""
    return workbench({"": None}, tell)


@dataclass(frozen=True)
class Halobench:
    """A built halobench, asked without launching it; the same question is asked once."""

    binary: Path
    _known: dict[str, halobench.Kernel] = field(default_factory=dict)
    _forecasts: dict[tuple[Any, ...], Forecast] = field(default_factory=dict)

    def kernels(self) -> Sequence[str]:
        """The names of all kernels."""
        return halobench.names()

    def parameters(self, kernel: str) -> Sequence[str]:
        """The names of a kernel's parameters."""
        return [parameter.name for parameter in self._described(kernel).parameters]

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
            self._forecasts[question] = halobench.forecast(
                self.binary, kernel, given, ranks=ranks, threads=threads, files=matrices.folder()
            )
        return self._forecasts[question]


class _Transports(Mapping[str, Sequence[str]]):
    """By MPI library, the transports it has: looked for, which takes long, when they are wanted."""

    def __init__(self, built: Mapping[str, Built]) -> None:
        self._built = built

    def __getitem__(self, name: str) -> Sequence[str]:
        return launch.transports(self._built[name].toolchain)

    def __contains__(self, name: object) -> bool:
        return name in self._built

    def __iter__(self) -> Iterator[str]:
        return iter(self._built)

    def __len__(self) -> int:
        return len(self._built)


def site(bench: Workbench, *, oversubscribe: bool) -> Site:
    """This machine, as a place to run cases in."""
    return Site(
        nodes=1,
        cores=len(machine.processors("cores")),
        hardware_threads=len(machine.processors("threads")),
        memory_bytes=machine.memory_available_bytes(),
        oversubscribe=oversubscribe,
        toolchains=bench.names,
        transports=_Transports(bench.built),
        missing=bench.missing,
        placements=[name for name, pair in machine.placements().items() if pair],
    )


def facts(study: str, seed: int) -> CampaignFacts:
    """What the records of one invocation have in common."""
    described = {**machine.describe(), "busy_processors": machine.busy_processors()}
    return CampaignFacts(study, seed, described, __version__, checkout(Path(__file__).parents[3]))


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
