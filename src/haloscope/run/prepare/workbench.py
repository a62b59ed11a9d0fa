# SPDX-License-Identifier: BSD-3-Clause
"""Toolchains, halobench's programs for each, and this machine."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haloscope import __version__
from haloscope.errors import Problem, UserError, guess
from haloscope.host import checkout
from haloscope.quantities import listed
from haloscope.records.maker import CampaignFacts
from haloscope.run.prepare import halobench, kernels, matrices, parameters
from haloscope.run.prepare.matrices import is_matrix_market
from haloscope.run.progress import Teller
from haloscope.study.case import Case, Value, text
from haloscope.study.program import Forecast, Program
from haloscope.toolchains import build, library, simgrid
from haloscope.toolchains.build import Build, KernelProgram
from haloscope.toolchains.library import Toolchain

if TYPE_CHECKING:
    from haloscope.programs.file import ExternalProgram

Seen = Mapping[tuple[str, str | None, bool], str | None]
"""For MPI library, transport, and whether ranks are on several nodes: what was used."""

Requested = Mapping[str, Sequence[str] | None]
"""Names of MPI libraries by what requests them, in a user's terms; None: the default library."""
Programs = Mapping[str, Iterable[KernelProgram]]
"""Programs of halobench by the MPI library with which they are built."""


@dataclass(frozen=True)
class Workbench:
    """halobench for every needed toolchain, and reasons for missing ones.

    built: builds in the cache. names: toolchains of runs that name none. missing: known libraries
    that are unavailable, with reasons. pending: libraries that are still to be downloaded, if a
    study is planned without them. programs: external programs, by name.
    """

    built: Mapping[str, Build]
    names: tuple[str, ...]
    problems: tuple[Problem, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    pending: tuple[str, ...] = ()
    programs: Mapping[str, ExternalProgram] = field(default_factory=dict)

    @property
    def program(self) -> Program:
        """Return all kernels, for planning."""
        return Kernels(self._to_ask, self.programs, self.toolchains)

    @property
    def toolchains(self) -> dict[str, Toolchain]:
        """Return the available MPI libraries, by name."""
        return {name: each.toolchain for name, each in self.built.items()}

    def _to_ask(self) -> Iterator[Build]:
        """Yield builds whose programs can answer --plan, its own first: all give the
        same answers.
        """
        yield from self.built.values()
        if any(one.device or one.family == "simgrid" for one in self.toolchains.values()):
            return
        for toolchain in library.available():
            if toolchain.name not in self.built:
                with suppress(UserError):  # without a compiler nothing is built with it
                    yield build.of(toolchain)

    def needed(self, cases: Iterable[Case]) -> dict[str, list[KernelProgram]]:
        """Return the programs that run the runnable ones of some cases, by MPI library."""
        found: dict[str, dict[KernelProgram, None]] = {}
        for case in cases:
            if case.absent is None and case.kernel not in self.programs:
                of_library = found.setdefault(case.toolchain, {})
                of_library[KernelProgram.of(case.kernel, case.params)] = None
        return {name: [*programs] for name, programs in found.items()}

    def lacking(self, *needed: Programs) -> dict[str, list[KernelProgram]]:
        """Return the programs that are not built yet, by MPI library; libraries without any are
        omitted.
        """
        every = {
            name: [one for programs in needed for one in programs.get(name, ())]
            for name in self.built
        }
        lacking = {name: self.built[name].lacking(those) for name, those in every.items()}
        return {name: programs for name, programs in lacking.items() if programs}

    def build(self, programs: Programs, tell: Teller) -> None:
        """Build the missing programs. Raise UserError if one fails."""
        for name, lacking in self.lacking(programs).items():
            found = self.built[name]
            make = simgrid.make if found.toolchain.family == "simgrid" else build.build
            with tell.steps() as steps:
                make(found, lacking, say=tell.say, progress=steps)

    def to_build(self, programs: Programs) -> list[str]:
        """Return a line for each library with which programs must be built first."""
        return [
            f"before the run: build {listed([str(one) for one in lacking])} for {name} "
            f"({self.built[name].toolchain.version})"
            for name, lacking in self.lacking(programs).items()
        ]


def workbench(requested: Requested, tell: Teller) -> Workbench:
    """Return every requested toolchain; None is the default one. Nothing is built yet.

    Libraries on PyPI are installed, including the default if there is no MPI library. Raise
    UserError if there is none then.
    """
    unnamed = [library.ensure(None, say=tell.say)] if None in requested.values() else []
    toolchains = {toolchain.name: toolchain for toolchain in unnamed}
    problems = unknown_toolchains(requested)
    missing: dict[str, str] = {}
    for name in (name for names in requested.values() for name in names or ()):
        if library.is_known(name) and name not in toolchains and name not in missing:
            try:
                toolchains[name] = library.ensure(name, say=tell.say)
            except UserError as error:
                missing[name] = error.problems[0].what
    if not toolchains and not library.available():
        remedy = "choose another MPI library: haloscope toolchain list"
        absent = [Problem(name, why, remedy) for name, why in missing.items()]
        raise UserError([*problems, *absent])
    built = {name: build.of(toolchain) for name, toolchain in toolchains.items()}
    return Workbench(
        built, tuple(toolchain.name for toolchain in unnamed), tuple(problems), missing
    )


def preview(requested: Requested) -> tuple[Workbench, tuple[str, ...]]:
    """Return the available toolchains, and a line for each that would be downloaded."""
    there = {one.name: one for one in library.available()}
    usual = next(iter(there), library.DEFAULT)
    names = [name for asked in requested.values() for name in asked or [usual]]
    named = [name for name in dict.fromkeys(names) if library.is_known(name)]
    for name in named:
        base, device = library.parted(name)
        if device is not None and base in there:
            there[name] = replace(there[base], name=name, device=device)
    fetched = [
        name for name in named if name not in there and library.parted(name)[0] in library.PYPI
    ]
    bench = Workbench(
        {name: build.of(there[name]) for name in named if name in there},
        (usual,) if None in requested.values() else (),
        tuple(unknown_toolchains(requested)),
        dict(_missing([one for one in named if one not in (*there, *fetched)])),
        tuple(fetched),
    )
    return bench, tuple(map(_to_fetch, fetched))


def of_one(toolchain: Toolchain) -> Workbench:
    """Return a workbench with a single available toolchain."""
    return Workbench({toolchain.name: build.of(toolchain)}, (toolchain.name,), ())


def _to_fetch(name: str) -> str:
    prefix = library.prefix_of(library.parted(name)[0])
    return (
        f"before the run: install {name} from PyPI in {prefix} and build halobench with it; "
        "its transports, and therefore the number of cases, are unknown until then"
    )


def _missing(names: list[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        try:
            library.find(name)
        except UserError as error:
            yield name, error.problems[0].what


def unknown_toolchains(requested: Requested) -> list[Problem]:
    """Return a problem for each unknown toolchain name, with the place of the request."""
    asked = ((where, name) for where, names in requested.items() for name in names or ())
    return [
        Problem(where, f"unknown toolchain '{name}'", library.known(name))
        for where, name in asked
        if not library.is_known(name)
    ]


@dataclass(frozen=True)
class Kernels:
    """The kernels for planning: their declarations, and their programs' answers.

    to_ask: builds whose programs can be queried. What needs a program that is not built is not
    checked, and the forecast says so. Answers are cached. programs: external programs, by name.
    toolchains: available MPI libraries, by name.
    """

    to_ask: Callable[[], Iterator[Build]]
    programs: Mapping[str, ExternalProgram] = field(default_factory=dict)
    toolchains: Mapping[str, Toolchain] = field(default_factory=dict)
    _planners: dict[KernelProgram, halobench.Planner | None] = field(default_factory=dict)
    _forecasts: dict[tuple[Any, ...], Forecast] = field(default_factory=dict)

    @cached_property
    def _files(self) -> Path:
        return matrices.folder()

    def kernels(self) -> Sequence[str]:
        """Return the names of all kernels."""
        return [*halobench.names(), *self.programs]

    def parameters(self, kernel: str) -> Mapping[str, Any]:
        """Return a kernel's parameters by name, each with its default."""
        known = kernels.kernel_of(kernel, self.programs).parameters
        return {one.name: one.default for one in known}

    def numbers(self, kernel: str) -> Sequence[str]:
        """Return the names of numeric parameters."""
        known = kernels.kernel_of(kernel, self.programs).parameters
        return [one.name for one in known if one.type in ("integer", "real")]

    def prepared(
        self, kernel: str, params: Mapping[str, Value], ranks: int
    ) -> tuple[Mapping[str, Value], str | None]:
        """Return parameters with converted Matrix Market files, and the folder of these."""
        known = kernels.kernel_of(kernel, self.programs).parameters
        files = [one for one in known if one.type == "file"]
        for one in files:
            matrices.refuse_unused(params, one.name, one.default)
        named = [one.name for one in files if is_matrix_market(params.get(one.name, ""))]
        for one in files:
            params = matrices.prepared(params, one.name, ranks)
        return params, str(matrices.folder()) if named else None

    def forecast(
        self, kernel: str, params: Mapping[str, Value], ranks: int, threads: int
    ) -> Forecast:
        """Return one case's resolved parameters, memory, and problems."""
        if (external := self.programs.get(kernel)) is not None:
            return _of_external(external, params, ranks)
        given = {key: text(value) for key, value in params.items()}
        question = (kernel, *given.items(), ranks, threads)
        if question not in self._forecasts:
            self._forecasts[question] = self._forecast(kernel, given, ranks, threads)
        return self._forecasts[question]

    def _forecast(self, kernel: str, given: dict[str, str], ranks: int, threads: int) -> Forecast:
        described = halobench.describe(kernel)
        resolved, wrong = parameters.resolved(described, given)
        if wrong:
            choices = {one.name: one.choices for one in described.parameters}
            return Forecast(
                resolved, 0, [_invalid(kernel, *one, choices.get(one[0], ())) for one in wrong]
            )
        program = KernelProgram.of(kernel, resolved)
        if planner := self._planner(program):
            found = planner.forecast(kernel, given, ranks=ranks, threads=threads, files=self._files)
            if differ := {*found.params} ^ {*resolved}:
                names = listed(sorted(differ))
                what = f"kernels.json lacks program parameters: {names}"
                remedy = f"run .venv/bin/python tests/support/kernels_file.py {kernel}"
                raise UserError(Problem(f"kernel {kernel}", what, remedy))
            return found
        if program.device and (host := self._planner(KernelProgram(kernel))):
            # the host's program also validates settings, so nothing is built for an invalid case
            asked = host.forecast(kernel, given, ranks=ranks, threads=threads, files=self._files)
            others = [one for one in asked.problems if one.where != f"{kernel} memory=device"]
            if others:
                return Forecast(resolved, 0, others)
        if ranks < (least := described.least_ranks):
            where, remedy = f"{kernel} ranks={ranks}", f"use at least {least} ranks"
            return Forecast(resolved, 0, [Problem(where, "too few ranks", remedy)])
        return Forecast(resolved, 0, (), unchecked=program)

    def _planner(self, program: KernelProgram) -> halobench.Planner | None:
        if program not in self._planners:
            paths = (one.path(program) for one in self.to_ask())
            there = next((path for path in paths if path.exists()), None)
            self._planners[program] = halobench.Planner(build.asked(there)) if there else None
        return self._planners[program]

    def unable(self, kernel: str, toolchain: str, *, simulated: bool) -> str | None:
        """Return why an external program cannot run with an MPI library or be simulated, or None.

        Of halobench's kernels, the forecast reports it.
        """
        if (program := self.programs.get(kernel)) is None:
            return None
        if simulated:
            return f"{kernel} is an external program; only kernels of halobench can be simulated"
        found = self.toolchains.get(toolchain)
        from haloscope.programs import needs  # only here, because few cases are of such programs

        return needs.ready(program, found).lacking if found else None


def _of_external(program: ExternalProgram, params: Mapping[str, Value], ranks: int) -> Forecast:
    resolved, wrong = program.resolved(params)
    declared = program.said.parameters
    problems = [
        _invalid(program.name, key, str(params[key]), f"give {allowed}", declared[key].choices)
        for key, allowed in wrong
    ]
    return Forecast(resolved, int(ranks * (program.said.memory_bytes_a_rank or 0)), problems)


def _invalid(kernel: str, key: str, value: str, allowed: str, choices: Sequence[str]) -> Problem:
    return Problem(f"{kernel} {key}={value}", "invalid value", f"{guess(value, choices)}{allowed}")


def facts(study: str, seed: int, described: Mapping[str, Any]) -> CampaignFacts:
    """Return what the records of one campaign have in common. described: the machine."""
    return CampaignFacts(study, seed, described, __version__, checkout.state(checkout.OWN))


def new_seed() -> int:
    """Return a seed for the order of launches, short enough to be typed again."""
    return random.SystemRandom().randrange(2**31)
