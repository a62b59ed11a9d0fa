# SPDX-License-Identifier: BSD-3-Clause
"""The plan of a study: its cases in one place, the order of their launches, and plan.json."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Any

from haloscope.errors import Problem, no_such
from haloscope.paths import share
from haloscope.quantities import count
from haloscope.stats import Rule
from haloscope.study.case import Case, Launch, Value
from haloscope.study.checks.capacity import Site
from haloscope.toolchains.build import KernelProgram


@dataclass(frozen=True)
class Plan:
    """Cases in the order of the study, notes on skipped cases, and problems.

    unchecked: the programs that are not built, so that their cases are only partly checked.
    """

    cases: tuple[Case, ...]
    notes: tuple[str, ...]
    problems: tuple[Problem, ...]
    unchecked: tuple[KernelProgram, ...] = ()


@dataclass
class GrowingPlan:
    """A plan under construction; equal problems and notes are kept once."""

    cases: dict[str, Case] = field(default_factory=dict)
    notes: dict[str, dict[str, None]] = field(default_factory=dict)
    problems: dict[Problem, None] = field(default_factory=dict)
    unchecked: dict[KernelProgram, None] = field(default_factory=dict)
    merged: int = 0

    def add(self, case: Case) -> None:
        """Add a case; of an equal one, keep the larger number of launches."""
        known = self.cases.setdefault(case.id, case)
        if known is not case:
            self.merged += 1
            launches, execute = max(known.launches, case.launches), known.execute or case.execute
            self.cases[case.id] = replace(known, launches=launches, execute=execute)

    def leave_out(self, why: str, what: str) -> None:
        """Note what is skipped."""
        self.note(f"skipped ({why})", what)

    def note(self, why: str, what: str) -> None:
        """Add to the note on a reason."""
        self.notes.setdefault(why, {})[what] = None

    def finished(self) -> Plan:
        """Return the plan, with one note per reason."""
        notes = [f"{why}: {'; '.join(what)}" for why, what in self.notes.items()]
        if self.merged:
            notes.append(f"{count(self.merged, 'duplicate case')} merged")
        cases, problems = tuple(self.cases.values()), tuple(self.problems)
        return Plan(cases, tuple(notes), problems, tuple(self.unchecked))


def no_kernel(where: str, kernel: str, known: Sequence[str]) -> Problem:
    """Return the problem of an unknown kernel; the remedy also names external programs."""
    one = no_such(where, "kernel", kernel, known)
    if kernel in {path.stem for path in share("studies").glob("*.toml")}:
        return replace(one, remedy=f"'{kernel}' is a study; to run it: haloscope run {kernel}")
    own = "to use a program of your own as a kernel, add --program FOLDER (see docs/programs.md)"
    return replace(one, remedy=f"{one.remedy}\n    {own}")


def nothing_runs(plan: Plan, site: Site, where: str) -> list[Problem]:
    """Return a problem if no case of a plan can run; absent ones of this machine are records."""
    absent = dict.fromkeys(case.absent for case in plan.cases if site.facts.simulated)
    if plan.cases and (not absent or None in absent):
        return []
    why = "\n    ".join([*plan.notes, *map(str, absent)])
    return [Problem(where, f"no case can run {site.where}", why)]


def assignments(axes: Mapping[str, Sequence[Value]]) -> Iterator[dict[str, Value]]:
    """Yield every choice of one value per axis; the last axis varies fastest."""
    for values in product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


@dataclass(frozen=True)
class Via:
    """Where simulated cases are computed: in jobs of a site, with this number of nodes each."""

    site: str
    nodes: int


@dataclass(frozen=True)
class SavedPlan:
    """plan.json: what is measured, with which programs, and on which machine.

    name: of the study. sources: hash of halobench's sources for each toolchain. on: the place, as
    named by --on. keep: folder of simulated cases' files, or None. via: the site whose jobs
    simulate them, or None. machine: what must be identical for all records of a folder: host,
    processor, cores, cluster file, and its state. libraries: likewise for each toolchain: version,
    compiler, flags. changes: accepted differences when the folder was
    continued. rule: stopping rule of a study with a precision. parting: if cases are compared until
    no two of their intervals overlap, the launches of each between two checks; there is no rule
    then. programs: of each external program: its file and hash, and version and hash of the
    executable. allocations: number of allocations of a batch system that share the launches of each
    case; None: determined by the jobs. together: whether cases on few nodes run in the jobs of
    those on the most.
    """

    name: str
    study: str
    seed: int
    cases: tuple[Case, ...]
    notes: tuple[str, ...]
    sources: Mapping[str, str]
    machine: Mapping[str, Any]
    on: str = "local"
    keep: str | None = None
    rule: Rule | None = None
    libraries: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    changes: tuple[str, ...] = ()
    via: Via | None = None
    programs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    allocations: int | None = None
    together: bool = False
    parting: int | None = None

    @property
    def ends_early(self) -> bool:
        """Whether cases may have fewer launches than planned, depending on the first ones."""
        return self.rule is not None or self.parting is not None

    def launches(self) -> list[Launch]:
        """Return every launch of every case, in rounds: each is a shuffled pass over all cases.

        A slow drift of the machine then affects all cases alike. The first rounds depend only on
        the cases and the seed, not on the number of rounds.
        """
        chance = random.Random(self.seed)
        launches = []
        for number in range(max((case.launches for case in self.cases), default=0)):
            shuffled = chance.sample(self.cases, len(self.cases))
            launches += [Launch(case, number) for case in shuffled if number < case.launches]
        return launches

    def with_launches(self, launches: int | None) -> SavedPlan:
        """Return the plan with another number of launches of every case, if given."""
        if launches is None:
            return self
        cases = tuple(replace(case, launches=launches) for case in self.cases)
        return replace(self, cases=cases)

    def in_allocations(self, number: int | None) -> SavedPlan:
        """Return the plan with another number of allocations, if given."""
        if number is None:
            return self
        cases = tuple(
            replace(one, launches=one.launches * number // (self.allocations or 1))
            if one.absent is None
            else one
            for one in self.cases
        )
        return replace(self, cases=cases, allocations=number)

    def allocation_of(self, launch: Launch) -> int:
        """Return the allocation of a launch, counted from 0."""
        return launch.number * (self.allocations or 1) // launch.case.launches

    def stopped(self, case: str, launches: int, why: str) -> SavedPlan:
        """Return the plan with a case that needs no more launches."""
        cases = tuple(
            replace(one, launches=launches, stopped=why) if one.id == case else one
            for one in self.cases
        )
        return replace(self, cases=cases)

    def as_dict(self) -> dict[str, Any]:
        """Return plan.json; `order` is for people and reports, and follows from the rest."""
        return {
            **asdict(self),
            "cases": [case.as_dict() for case in self.cases],
            "order": [[launch.case.id, launch.number] for launch in self.launches()],
        }
