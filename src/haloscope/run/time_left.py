# SPDX-License-Identifier: BSD-3-Clause
"""The expected duration of the remaining launches of a run."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from math import inf
from operator import itemgetter

from haloscope.study.case import Case, Launch
from haloscope.toolchains.simgrid import SIMGRID

ALIKE = 16.0
"""The time of a case predicts that of a case with up to this many times its work, not more."""
_NS = 1_000_000_000
_Way = tuple[str, str, str | None]


class TimeLeft:
    """The expected duration of the remaining launches, from the durations of finished ones.

    When a launch ends, only the cases are estimated anew whose estimate it changes: 1 to 20 on
    average, of 10,000 cases in random order.
    """

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
        self._side_by_side = _SideBySide(at_once)
        self._going: dict[tuple[str, int], float] = {}
        self._cases = {launch.case.id: launch.case for launch in launches}
        self._left: dict[str, set[int]] = {key: set() for key in self._cases}
        for launch in launches:
            self._left[launch.case.id].add(launch.number)
        self._walls: dict[str, tuple[float, int]] = {}
        self._alike: dict[str, dict[_Way, _Alike]] = {}
        self._of_others: set[str] = set()
        self._once: dict[str, float | None] = {}
        self._longest: list[tuple[float, str]] = []
        self._total = _Total()
        for key in self._cases:
            if earlier.get(key):
                self._walls[key] = sum(earlier[key]), len(earlier[key])
                self._group(key).add(key, _work(self._cases[key]))
        for key, case in self._cases.items():
            if key not in self._walls:
                self._group(key).wait(key, _work(case))
        self._estimate(self._cases)

    def started(self, launch: Launch) -> None:
        """Record the start of a launch."""
        self._going[launch.case.id, launch.number] = self._clock()

    def ended(self, launch: Launch, wall_s: float | None, *, stopped: str | None = None) -> None:
        """Record the end of a launch after `wall_s` seconds; None for one that existed already.

        stopped: as in `Case`.
        """
        case = launch.case.id
        self._going.pop((case, launch.number), None)
        changed = [case]
        if stopped:
            changed = [*self._left] if stopped == "parted" else changed
            for key in changed:
                self._left[key].clear()
        else:
            self._left[case].discard(launch.number)
        if wall_s is not None:
            self._side_by_side.add(wall_s, self._clock())
            changed += self._learn(case, wall_s)
        self._estimate(changed)

    def seconds(self) -> float | None:
        """Return the seconds of all launches that have not ended; None while some are unknown."""
        if (total := self._total.seconds) is None:
            return None
        if (several := self._side_by_side.number) == 1:
            return total
        now = self._clock()
        gone, longest = 0.0, self._longest_waiting()
        for (key, number), began in self._going.items():
            if number in self._left[key]:
                once = self._once[key] or 0.0
                done = min(once, now - began)
                gone, longest = gone + done, max(longest, once - done)
        return max(longest, (total - gone) / several)

    @property
    def running(self) -> int:
        """Return how many launches have started and not ended."""
        return len(self._going)

    def _group(self, key: str) -> _Alike:
        case = self._cases[key]
        way = case.kernel, case.toolchain, case.transport
        return self._alike.setdefault(case.kernel, {}).setdefault(way, _Alike())

    def _learn(self, key: str, wall_s: float) -> list[str]:
        """Add the duration of a launch; return the other cases whose estimate it changes."""
        total, number = self._walls.get(key, (0.0, 0))
        self._walls[key] = total + wall_s, number + 1
        case, group = self._cases[key], self._group(key)
        if number == 0:
            first = not any(one.known for one in self._alike[case.kernel].values())
            group.add(key, _work(case))
            if first:
                every = (one.waiting for one in self._alike[case.kernel].values())
                return [*self._of_others, *(other for own in every for _, other in own)]
        alone = group.known[_work(case)][1] != key
        return [*self._of_others, *(() if alone else group.near(_work(case)))]

    def _estimate(self, keys: Iterable[str]) -> None:
        for key in keys:
            launches = len(self._left[key])
            self._once[key] = one = self._expected_once(self._cases[key]) if launches else 0.0
            if one is None:
                self._total.set(key, None)
                continue
            self._total.set(key, min(launches * one, max(self._most_s, one) if launches else 0.0))
            heappush(self._longest, (-one, key))

    def _expected_once(self, case: Case) -> float | None:
        """Return a case's own mean, or that of the most similar case, scaled by its work.

        Otherwise its forecast, or the mean of other kernels. None if the most similar case is too
        different: another kind of messages, or other sizes.
        """
        self._of_others.discard(case.id)
        if case.id in self._walls:
            return self._mean(case.id)
        nearest = self._group(case.id).nearest(_work(case))
        if nearest is not None:
            work = _work(self._cases[nearest])
            ratio = _work(case) / work if work else 1.0
            return self._mean(nearest) * ratio if ratio <= ALIKE else self._forecast(case)
        forecast = self._forecast(case)
        if forecast is not None or any(one.known for one in self._alike[case.kernel].values()):
            return forecast
        self._of_others.add(case.id)
        walls = self._walls.values()
        number = sum(each for _, each in walls)
        return sum(each for each, _ in walls) / number if number else None

    def _mean(self, key: str) -> float:
        total, number = self._walls[key]
        return total / number

    def _longest_waiting(self) -> float:
        """Return the seconds of the longest launch that has not started."""
        while self._longest:
            seconds, key = self._longest[0]
            waiting = any((key, number) not in self._going for number in self._left[key])
            if waiting and self._once[key] == -seconds:
                return -seconds
            heappop(self._longest)
        return 0.0


class _Alike:
    """Cases of one kernel, library, and transport, by the work of a launch."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[int, str]] = {}
        """By work: the first case with a time, and its number."""
        self._works: list[int] = []
        self.waiting: list[tuple[int, str]] = []
        """Cases without a time, in the order of their work."""

    def wait(self, key: str, work: int) -> None:
        """Add a case without a time."""
        insort(self.waiting, (work, key))

    def add(self, key: str, work: int) -> None:
        """Add a case with a time; it no longer waits."""
        at = bisect_left(self.waiting, (work, key))
        if self.waiting[at : at + 1] == [(work, key)]:
            del self.waiting[at]
        if work not in self.known:
            self.known[work] = len(self.known), key
            insort(self._works, work)

    def nearest(self, work: int) -> str | None:
        """Return the known case with the most similar work, the first one of several."""
        at = bisect_left(self._works, work)
        near = self._works[max(0, at - 1) : at + 1]
        best = min(near, key=lambda one: (abs(one - work), self.known[one][0]), default=None)
        return None if best is None else self.known[best][1]

    def near(self, work: int) -> list[str]:
        """Return the waiting cases whose most similar known case may have this work."""
        at = bisect_left(self._works, work)
        low, high = self._works[max(0, at - 1)], self._works[min(at + 1, len(self._works) - 1)]
        begin = bisect_left(self.waiting, low, key=itemgetter(0)) if at > 0 else 0
        last = at + 1 >= len(self._works)
        end = None if last else bisect_right(self.waiting, high, key=itemgetter(0))
        return [key for _, key in self.waiting[begin:end]]


class _Total:
    """A sum of seconds by key, in whole nanoseconds, which have no rounding errors."""

    def __init__(self) -> None:
        self._each: dict[str, int | None] = {}
        self._sum, self._unknown = 0, 0

    def set(self, key: str, seconds: float | None) -> None:
        """Replace the seconds of a key; None if unknown."""
        before, now = self._each.get(key, 0), None if seconds is None else round(seconds * _NS)
        self._unknown += (now is None) - (before is None)
        self._sum += (now or 0) - (before or 0)
        self._each[key] = now

    @property
    def seconds(self) -> float | None:
        """Return the sum; None while one is unknown."""
        return None if self._unknown else self._sum / _NS


class _SideBySide:
    """How many launches run at a time: the expected number until enough have ended."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._found: list[tuple[float, float, int]] = []
        """Begin and end of each launch in the order of ends, and how many ran when it began."""
        self._most = 1

    @property
    def number(self) -> int:
        """Return the number."""
        enough = self._at_once > 1 and len(self._found) > self._at_once
        return self._most if enough else self._at_once

    def add(self, wall_s: float, now: float) -> None:
        """Add a launch that ends now."""
        begin, own = now - wall_s, 1
        for at in range(len(self._found) - 1, -1, -1):
            other, end, running = self._found[at]
            if end <= begin:
                break
            if other >= begin:
                self._found[at] = other, end, running + 1
                self._most = max(self._most, running + 1)
            own += other <= begin
        self._found.append((begin, now, own))
        self._most = max(self._most, own)


def _work(case: Case) -> int:
    """Return what the time of a launch grows with: memory or, without arithmetic, messages."""
    simulates_time_alone = case.toolchain == SIMGRID and not case.execute
    return case.layout.ranks if simulates_time_alone else case.memory_bytes
