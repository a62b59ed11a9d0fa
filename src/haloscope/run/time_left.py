# SPDX-License-Identifier: BSD-3-Clause
"""The expected duration of the remaining launches of a run."""

from __future__ import annotations

import time
from bisect import bisect_left, insort
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from math import inf

from haloscope.study.case import Case, Launch
from haloscope.toolchains.simgrid import SIMGRID

ALIKE = 16.0
"""The time of a case predicts that of a case with up to this many times its work, not more."""


class TimeLeft:
    """The expected duration of the remaining launches, from the durations of finished ones."""

    def __init__(
        self,
        launches: Sequence[Launch],
        earlier: Mapping[str, Sequence[float]],
        most_s: float | None = None,
        at_once: int = 1,
        clock: Callable[[], float] = time.monotonic,
        forecast: Callable[[Case], float | None] = lambda _: None,
    ) -> None:
        """Start with these launches, none of which has ended.

        earlier: durations by case, if known. most_s: maximum time of a case, if any. at_once:
        expected number of simultaneous launches. forecast: returns the seconds of a case that
        resembles no finished one; None if unknown.
        """
        self._forecast = forecast
        self._clock = clock
        self._most_s = inf if most_s is None else most_s
        self._at_once = at_once
        self._going: dict[tuple[str, int], float] = {}
        self._cases = {launch.case.id: launch.case for launch in launches}
        self._left: dict[str, set[int]] = {key: set() for key in self._cases}
        for launch in launches:
            self._left[launch.case.id].add(launch.number)
        self._walls: dict[str, tuple[float, int]] = {}
        self._all = (0.0, 0)
        self._spans: list[tuple[float, float]] = []
        self._works: dict[tuple[str, ...], list[tuple[int, int, str]]] = {}
        for key in self._cases:
            for wall_s in earlier.get(key, ()):
                self._learn(key, wall_s)

    def started(self, launch: Launch) -> None:
        """Record the start of a launch."""
        self._going[launch.case.id, launch.number] = self._clock()

    def ended(self, launch: Launch, wall_s: float | None, *, stopped: str | None = None) -> None:
        """Record the end of a launch after `wall_s` seconds; None for one that existed already.

        stopped: as in `Case`.
        """
        case = launch.case.id
        self._going.pop((case, launch.number), None)
        self._left.get(case, set()).discard(launch.number)
        if stopped == "parted":
            self._left.clear()
        elif stopped or not self._left.get(case):
            self._left.pop(case, None)
        if wall_s is not None:
            now = self._clock()
            self._spans.append((now - wall_s, now))
            self._learn(case, wall_s)

    def seconds(self) -> float | None:
        """Return the seconds of all launches that have not ended; None while some are unknown."""
        total = longest = 0.0
        over, several, now = 0.0, self._side_by_side(), self._clock()
        for key, numbers in self._left.items():
            if (once := self._once(self._cases[key])) is None:
                return None
            total += min(len(numbers) * once, max(self._most_s, once))
            begun = [self._going[key, one] for one in numbers if (key, one) in self._going]
            done = [min(once, now - begin) for begin in begun]
            over += sum(done)
            each = [once - one for one in done] + [once] * (len(done) < len(numbers))
            longest = max(longest, *each)
        return total if several == 1 else max(longest, (total - over) / several)

    @property
    def running(self) -> int:
        """Return how many launches have started and not ended."""
        return len(self._going)

    def _learn(self, key: str, wall_s: float) -> None:
        total, number = self._walls.get(key, (0.0, 0))
        if number == 0:
            case = self._cases[key]
            insort(self._works.setdefault(_way(case), []), (_work(case), len(self._walls), key))
        self._walls[key] = total + wall_s, number + 1
        self._all = self._all[0] + wall_s, self._all[1] + 1

    def _once(self, case: Case) -> float | None:
        """Return a case's own mean, or that of the most similar case, scaled by its work.

        Otherwise its forecast, or the mean of other kernels. None if the most similar case is too
        different: another kind of messages, or other sizes.
        """
        if case.id in self._walls:
            return _mean(self._walls[case.id])
        work, known = _work(case), self._works.get(_way(case))
        if known:
            at = bisect_left(known, (work,))
            smaller = bisect_left(known, (known[max(0, at - 1)][0],))
            near = [known[one] for one in {smaller, min(at, len(known) - 1)}]
            other, _, nearest = min(near, key=lambda one: (abs(one[0] - work), one[1]))
            ratio = work / other if other else 1.0
            return _mean(self._walls[nearest]) * ratio if ratio <= ALIKE else self._forecast(case)
        forecast = self._forecast(case)
        if forecast is not None or any(way[0] == case.kernel for way in self._works):
            return forecast
        return _mean(self._all) if self._walls else None

    def _side_by_side(self) -> int:
        """Return how many launches run at a time: the expected number until enough have ended."""
        if self._at_once == 1 or len(self._spans) <= self._at_once:
            return self._at_once
        begins, ends = zip(*self._spans, strict=True)
        steps = sorted([*((end, -1) for end in ends), *((begin, 1) for begin in begins)])
        return max(1, *accumulate(step for _, step in steps))  # absent cases take no time


def _mean(walls: tuple[float, int]) -> float:
    return walls[0] / walls[1]


def _way(case: Case) -> tuple[str, ...]:
    return case.kernel, case.toolchain, case.transport or ""


def _work(case: Case) -> int:
    """Return what the time of a launch grows with: memory or, without arithmetic, messages."""
    simulates_time_alone = case.toolchain == SIMGRID and not case.execute
    return case.layout.ranks if simulates_time_alone else case.memory_bytes
