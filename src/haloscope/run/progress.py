# SPDX-License-Identifier: BSD-3-Clause
"""Progress of a run: a bar in a terminal, lines elsewhere, and the remaining time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import accumulate
from math import ceil, floor, inf
from statistics import fmean
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from haloscope.study.case import Case, Launch
from haloscope.toolchains.simgrid import SIMGRID
from haloscope.verbosity import shows_notes

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
        self._left = list(launches)
        self._forecast = forecast
        self._at_once = at_once
        self._clock = clock
        self._going: dict[tuple[str, int], float] = {}
        self._intervals: list[tuple[float, float]] = []
        self._most_s = inf if most_s is None else most_s
        self._cases = {launch.case.id: launch.case for launch in launches}
        self._walls = {key: list(earlier[key]) for key in self._cases if key in earlier}

    def started(self, launch: Launch) -> None:
        """Record the start of a launch."""
        self._going[launch.case.id, launch.number] = self._clock()

    def ended(self, launch: Launch, wall_s: float | None, *, stopped: str | None = None) -> None:
        """Record the end of a launch after `wall_s` seconds; None for one that existed already.

        stopped: as in `Case`.
        """
        self._going.pop((launch.case.id, launch.number), None)
        if wall_s is not None:
            now = self._clock()
            self._intervals.append((now - wall_s, now))
        case = launch.case.id
        if stopped:
            self._left = [one for one in self._left if one.case.id != case and stopped != "parted"]
        else:
            self._left = [one for one in self._left if one != launch]
        if wall_s is not None:
            self._walls.setdefault(case, []).append(wall_s)

    def seconds(self) -> float | None:
        """Return the seconds of all launches that have not ended; None while some are unknown."""
        expected = [
            self._expected(self._cases[key], launches)
            for key, launches in Counter(launch.case.id for launch in self._left).items()
        ]
        if None in expected:
            return None
        total = sum(one for one in expected if one is not None)
        if self._side_by_side == 1:
            return total
        done = [self._done(one) for one in self._left]
        longest = max(
            (
                (self._expected_once(one.case) or 0.0) - gone
                for one, gone in zip(self._left, done, strict=True)
            ),
            default=0.0,
        )
        return max(longest, (total - sum(done)) / self._side_by_side)

    @property
    def running(self) -> int:
        """Return how many launches have started and not ended."""
        return len(self._going)

    def _done(self, launch: Launch) -> float:
        began = self._going.get((launch.case.id, launch.number))
        if began is None:
            return 0.0
        return min(self._expected_once(launch.case) or 0.0, self._clock() - began)

    @property
    def _side_by_side(self) -> int:
        """Return how many launches run at a time: the expected number until enough have ended."""
        if self._at_once == 1 or len(self._intervals) <= self._at_once:
            return self._at_once
        changes = sorted(
            change for begin, end in self._intervals for change in ((begin, 1), (end, -1))
        )
        return max(1, *accumulate(step for _, step in changes))

    def _expected(self, case: Case, launches: int) -> float | None:
        """Return the seconds of `launches` launches of a case, limited by its maximum time.

        The last launch may exceed the limit.
        """
        one = self._expected_once(case)
        return None if one is None else min(launches * one, max(self._most_s, one))

    def _expected_once(self, case: Case) -> float | None:
        """Return a case's own mean, or that of the most similar case, scaled by its work.

        Otherwise its forecast, or the mean of other kernels. None if the most similar case is too
        different: another kind of messages, or other sizes.
        """
        if case.id in self._walls:
            return fmean(self._walls[case.id])
        known = [self._cases[key] for key in self._walls]
        alike = [one for one in known if one.kernel == case.kernel]
        if not alike:
            every = [wall for walls in self._walls.values() for wall in walls]
            forecast = self._forecast(case)
            return forecast if forecast is not None or not every else fmean(every)
        way = (case.toolchain, case.transport)
        alike = [one for one in alike if (one.toolchain, one.transport) == way]
        if not alike:
            return self._forecast(case)
        nearest = min(alike, key=lambda known: abs(_work(known) - _work(case)))
        ratio = _work(case) / _work(nearest) if _work(nearest) else 1.0
        near = ratio <= ALIKE
        return fmean(self._walls[nearest.id]) * ratio if near else self._forecast(case)


def _work(case: Case) -> int:
    """Return what the time of a launch grows with: memory or, without arithmetic, messages."""
    simulates_time_alone = case.toolchain == SIMGRID and not case.execute
    return case.layout.ranks if simulates_time_alone else case.memory_bytes


def _took(record: Mapping[str, Any]) -> str:
    """Describe how long a launch took on this machine; for a simulated one this is not
    its result.
    """
    simulation = record.get("simulation")
    if not simulation:
        return f"{record['wall_s']:.2f} s"
    cached = simulation.get("cached", False)
    return "from the cache" if cached else f"simulated in {record['wall_s']:.2f} s"


class Teller:
    """Prints messages on a console before and while launches run."""

    def __init__(self, console: Console) -> None:
        """Print on this console; bars are shown only if it is a terminal."""
        self.console = console

    def say(self, line: str) -> None:
        """Print a note, unless the command is quiet."""
        if shows_notes():
            self.warn(line)

    def warn(self, line: str) -> None:
        """Print a warning, or how to continue after an interruption, even with --quiet."""
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)

    @contextmanager
    def steps(self) -> Iterator[Callable[[int, int], None]]:
        """Show a bar for the steps of a build; the caller reports steps done and total."""
        bar = Progress(
            BarColumn(bar_width=30), MofNCompleteColumn(), console=self.console, transient=True
        )
        task = bar.add_task("", visible=False)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, visible=True)

        with bar if self.console.is_interactive and shows_notes() else nullcontext():
            yield show


def duration(seconds: float) -> str:
    """Format a duration, rounded up: 8 s, 3 min 10 s, 2 h 5 min."""
    whole = ceil(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 3600:
        return f"{ceil(seconds / 60)} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


_CUT = Column(ratio=1, no_wrap=True, overflow="ellipsis")
"""The name of the running launch, which is truncated in a narrow terminal."""


class _Elapsed(ProgressColumn):
    """The elapsed time of the run."""

    def __init__(self, started: Callable[[], float], table_column: Column) -> None:
        """Create a column. started: the time of the start, by the monotonic clock."""
        super().__init__(table_column=table_column)
        self._began = started

    def render(self, task: Task) -> Text:
        """Return the elapsed seconds, rounded down."""
        return Text(duration(floor(time.monotonic() - self._began())))


class RunView:
    """Display of a run on a console. Use as a context manager."""

    def __init__(
        self,
        console: Console,
        launches: Sequence[Launch],
        earlier: Mapping[str, Sequence[float]],
        most_s: float | None = None,
        at_once: int = 1,
        forecast: Callable[[Case], float | None] = lambda _: None,
    ) -> None:
        """Start with launches none of which has started; other arguments as in TimeLeft."""
        self._console = console
        self._launches = launches
        self._left = TimeLeft(launches, earlier, most_s, at_once, forecast=forecast)
        self._done = 0
        self._began = time.monotonic()
        short = Column(no_wrap=True)
        self._bar = Progress(
            BarColumn(bar_width=min(30, console.width // 6)),
            MofNCompleteColumn(table_column=short),
            _Elapsed(lambda: self._began, table_column=short),
            TextColumn("{task.fields[state]}", table_column=short),
            TextColumn("{task.description}", markup=False, table_column=_CUT),
            console=console,
            transient=True,
            expand=True,
        )
        self._task = self._bar.add_task("", total=len(launches), state="")

    def __enter__(self) -> Self:
        """Start the display."""
        if self._console.is_interactive and shows_notes():
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Restore the terminal."""
        if self._console.is_interactive:
            self._bar.stop()

    def watch(self, launches: Iterable[Launch]) -> Iterator[Launch]:
        """Yield the same launches; each is shown as running when it is taken."""
        for launch in launches:
            self._left.started(launch)
            self._bar.update(self._task, description=launch.case.title, state=self._state())
            yield launch

    def ended(self, launch: Launch, record: Mapping[str, Any]) -> None:
        """Record the end of a launch."""
        self._done += 1
        cached = (record.get("simulation") or {}).get("cached", False)
        self._left.ended(
            launch, None if cached else record["wall_s"], stopped=record.get("stopped")
        )
        self._bar.update(self._task, completed=self._done, state=self._state())
        if record["outcome"] != "ok":
            self._print(f"{record['outcome']}: {launch.case.title}: {record['reason']}")
        elif shows_notes() and not self._console.is_interactive:
            self._print(f"{launch.case.title}: {_took(record)}")

    def _print(self, line: str) -> None:
        count = f"[{self._done:>{len(str(len(self._launches)))}}/{len(self._launches)}]"
        left = ""
        if not self._console.is_interactive:
            elapsed = f"{duration(floor(time.monotonic() - self._began))} elapsed"
            left = "; ".join(["", *filter(None, (self._state(), elapsed))])
        self._console.print(f"{count} {line}{left}", markup=False, highlight=False, soft_wrap=True)

    def _state(self) -> str:
        running, seconds = self._left.running, self._left.seconds()
        left = "" if seconds is None else f"about {duration(seconds)} left"
        several = f"{running} running" if running > 1 else ""
        return ", ".join(filter(None, (several, left)))
