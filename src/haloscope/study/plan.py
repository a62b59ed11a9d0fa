# SPDX-License-Identifier: BSD-3-Clause
"""The plan of a study: its cases in one place, and the order of their launches."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from haloscope.errors import Problem, no_such
from haloscope.quantities import count
from haloscope.study import file
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
    if kernel in {path.stem for path in file.ready()}:
        return replace(one, remedy=f"'{kernel}' is a study; to run it: haloscope run {kernel}")
    own = "for a program of your own: --program FOLDER (docs/programs.md)"
    return replace(one, remedy=f"{one.remedy}; {own}")


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


def schedule(cases: Sequence[Case], seed: int) -> list[Launch]:
    """Return every launch of every case, in rounds: each round is a shuffled pass over all cases.

    A slow drift of the machine then affects all cases alike. The first rounds depend only on the
    cases and the seed, not on the number of rounds.
    """
    chance = random.Random(seed)
    launches = []
    for number in range(max((case.launches for case in cases), default=0)):
        shuffled = chance.sample(cases, len(cases))
        launches += [Launch(case, number) for case in shuffled if number < case.launches]
    return launches
