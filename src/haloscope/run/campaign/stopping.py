# SPDX-License-Identifier: BSD-3-Clause
"""Stopping of cases that have been launched often enough, individually or together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from statistics import median

from haloscope.records.attempts import Attempt
from haloscope.stats import Rule
from haloscope.stats.enough import decide_over, enough_in
from haloscope.stats.sequential import Why, decide, parted, steady_medians
from haloscope.study.case import Launch


class Stopping(ABC):
    """Follows the launches of a campaign, and reports which cases need no more
    launches, and why.
    """

    def __init__(self) -> None:
        """Start with a campaign without launches."""
        self._launches: dict[str, int] = {}
        self.done: dict[str, Why] = {}

    @abstractmethod
    def add(self, attempt: Attempt) -> bool:
        """Add a launch; return whether its case is done."""

    def launches(self, case: str) -> int:
        """Return the launches of a case so far, including failed ones."""
        return self._launches.get(case, 0)

    def needed(self, launches: Iterable[Launch]) -> Iterator[Launch]:
        """Yield the launches in order, except those of cases that are done."""
        return (launch for launch in launches if self._needs(launch))

    def _needs(self, launch: Launch) -> bool:
        case = launch.case.id
        return case not in self.done or launch.number < self.launches(case)

    def _count(self, attempt: Attempt) -> None:
        there = self.launches(attempt.case)
        self._launches[attempt.case] = max(there, attempt.launch + 1)


class Precision(Stopping):
    """Stopping of each case at a required precision.

    A case is done when each of its times (one per size, for a kernel that sweeps: the median of its
    repetitions) is as precise as the rule requires. Failed launches have no times, but their
    duration counts: a case that never ends is done at the maximum time. Launches in allocations of
    a batch system are nested in them, and a case may have enough launches in one allocation before
    it is done.
    """

    def __init__(self, rule: Rule, attempts: Iterable[Attempt]) -> None:
        """Create a rule. attempts: existing launches of a campaign that continues."""
        super().__init__()
        self._rule = rule
        self._samples: dict[str, list[list[float]]] = {}
        self._allocations: dict[str, list[str]] = {}
        self._here: str | None = None
        self._spent_s: dict[str, float] = {}
        for attempt in attempts:
            if attempt.outcome == "ok":
                self.add(attempt)
        self._here = None  # this allocation may be a new one

    def add(self, attempt: Attempt) -> bool:
        """Add a launch; return whether its case is done."""
        case = attempt.case
        if case in self.done:
            return False
        self._count(attempt)
        spent_s = self._spent_s.get(case, 0.0) + (attempt.wall_s or 0.0)
        self._spent_s[case] = spent_s
        if attempt.outcome != "ok":
            if self._rule.most_s is not None and spent_s >= self._rule.most_s:
                self.done[case] = "time"
            return case in self.done
        times = [median(times) for times in attempt.times_s if times]
        if (known := self._samples.setdefault(case, [])) and len(times) != len(known[0]):
            return False  # other points than in earlier launches
        known.append(times)
        if attempt.allocation is not None:
            self._here = " ".join(map(str, attempt.allocation))
            self._allocations.setdefault(case, []).append(self._here)
        if (why := self._decided(case)) != "go on":
            self.done[case] = why
        return case in self.done

    def _decided(self, case: str) -> Why:
        by_size = [list(sample) for sample in zip(*self._samples[case], strict=True)]
        if (nested := self._nested(case)) is not None:
            return decide_over(nested, self._spent_s[case], self._rule)
        return decide(by_size, self._spent_s[case], self._rule)

    def _nested(self, case: str) -> list[dict[str, list[float]]] | None:
        """Return each time of a case by allocation; None unless every launch ran in one."""
        launches, names = self._samples[case], self._allocations.get(case, [])
        if len(names) != len(launches):
            return None
        nested: list[dict[str, list[float]]] = [{} for _ in launches[0]]
        for name, times in zip(names, launches, strict=True):
            for sample, time in zip(nested, times, strict=True):
                sample.setdefault(name, []).append(time)
        return nested

    def _enough_here(self, case: str) -> bool:
        if self._here is None or case not in self._samples:
            return False
        nested = self._nested(case)
        return nested is not None and enough_in(nested, self._here, self._rule)

    def _needs(self, launch: Launch) -> bool:
        case = launch.case.id
        return super()._needs(launch) and (case in self.done or not self._enough_here(case))


class Parting(Stopping):
    """Stopping of cases that are compared.

    All are done once the interval of the median ratio over rounds of every two cases excludes 1.
    This is checked whenever each case has been tried `every` more times. Failed launches, and cases
    with only these, are ignored.
    """

    def __init__(self, every: int, cases: Collection[str], attempts: Iterable[Attempt]) -> None:
        """cases: those that can run. attempts: existing launches."""
        super().__init__()
        self._looks_at = self._every = every
        self._tried: dict[str, set[int]] = {case: set() for case in cases}
        self._steps: dict[str, dict[int, Sequence[float]]] = {}
        for attempt in attempts:
            self.add(attempt)

    def add(self, attempt: Attempt) -> bool:
        """Add a launch; return whether all cases are done."""
        if self.done or attempt.case not in self._tried:
            return bool(self.done)
        self._count(attempt)
        self._tried[attempt.case].add(attempt.launch)
        steps = [sum(times) for times in zip(*attempt.times_s, strict=False)]
        if attempt.outcome == "ok" and steps:
            self._steps.setdefault(attempt.case, {})[attempt.launch] = steps
        if min(map(len, self._tried.values())) >= self._looks_at:
            self._looks_at += self._every
            times = [
                dict(zip(own, steady_medians([*own.values()]), strict=True))
                for own in self._steps.values()
            ]
            if times and parted(times):
                self.done = dict.fromkeys(self._tried, "parted")
        return bool(self.done)
