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
    """What the launches that are left will take, learned from the walls of those that ended."""

    def __init__(
        self,
        launches: Sequence[Launch],
        earlier: Mapping[str, Sequence[float]],
        most_s: float | None = None,
        at_once: int = 1,
        clock: Callable[[], float] = time.monotonic,
        forecast: Callable[[Case], float | None] = lambda _: None,
    ) -> None:
        """For these launches, of which none has ended yet.

        earlier: walls by case, where known. most_s: the cap on a case's time, if it has one.
        at_once: how many run side by side, as far as is known before. forecast: seconds of a case
        that is like none that ended; None where nothing is known.
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
        """One launch starts."""
        self._going[launch.case.id, launch.number] = self._clock()

    def ended(self, launch: Launch, wall_s: float | None, *, stopped: str | None = None) -> None:
        """One launch ended after `wall_s` seconds; None for one that was there already.

        stopped: as of `Case`.
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
        """Seconds for all launches that have not ended; None while nothing is known of some."""
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
        """How many launches have started and not ended."""
        return len(self._going)

    def _done(self, launch: Launch) -> float:
        began = self._going.get((launch.case.id, launch.number))
        if began is None:
            return 0.0
        return min(self._expected_once(launch.case) or 0.0, self._clock() - began)

    @property
    def _side_by_side(self) -> int:
        """How many launches ran at a time: as was said before, until enough of them have ended."""
        if self._at_once == 1 or len(self._intervals) <= self._at_once:
            return self._at_once
        changes = sorted(
            change for begin, end in self._intervals for change in ((begin, 1), (end, -1))
        )
        return max(1, *accumulate(step for _, step in changes))

    def _expected(self, case: Case, launches: int) -> float | None:
        """Seconds of so many launches of a case, within its cap, which its last may pass."""
        one = self._expected_once(case)
        return None if one is None else min(launches * one, max(self._most_s, one))

    def _expected_once(self, case: Case) -> float | None:
        """A case's own mean; else that of the case most like it, scaled by its work.

        Else what is forecast of it, or the mean of other kernels. None where the most like it is
        not like it at all: messages by another way, or other sizes.
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
    """What the time of a launch grows with: memory; if no arithmetic is executed, messages."""
    simulates_time_alone = case.toolchain == SIMGRID and not case.execute
    return case.layout.ranks if simulates_time_alone else case.memory_bytes


def _took(record: Mapping[str, Any]) -> str:
    """How long a launch took on this machine; of a simulated one that is no result."""
    simulation = record.get("simulation")
    if not simulation:
        return f"{record['wall_s']:.2f} s"
    cached = simulation.get("cached", False)
    return "from the cache" if cached else f"simulated in {record['wall_s']:.2f} s"


class Teller:
    """Prints messages on a console before and while launches run."""

    def __init__(self, console: Console) -> None:
        """On this console; bars are shown only if it is a terminal."""
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
    """A length of time for people, rounded up: 8 s, 3 min 10 s, 2 h 5 min."""
    whole = ceil(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 3600:
        return f"{ceil(seconds / 60)} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


_CUT = Column(ratio=1, no_wrap=True, overflow="ellipsis")
"""What is cut off where a terminal is narrow: the name of what runs."""


class _Elapsed(ProgressColumn):
    """How long the run has been going on."""

    def __init__(self, started: Callable[[], float], table_column: Column) -> None:
        """started: when it began, by the monotonic clock."""
        super().__init__(table_column=table_column)
        self._began = started

    def render(self, task: Task) -> Text:
        """So many seconds, rounded down to what has passed."""
        return Text(duration(floor(time.monotonic() - self._began())))


class RunView:
    """Shows a run on a console while it goes on. Use as a context manager."""

    def __init__(
        self,
        console: Console,
        launches: Sequence[Launch],
        earlier: Mapping[str, Sequence[float]],
        most_s: float | None = None,
        at_once: int = 1,
        forecast: Callable[[Case], float | None] = lambda _: None,
    ) -> None:
        """For launches of which none has started; the rest as in TimeLeft."""
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
        """Start to show."""
        if self._console.is_interactive and shows_notes():
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the terminal as it was."""
        if self._console.is_interactive:
            self._bar.stop()

    def watch(self, launches: Iterable[Launch]) -> Iterator[Launch]:
        """The same launches, each shown as the one that runs when it is taken."""
        for launch in launches:
            self._left.started(launch)
            self._bar.update(self._task, description=launch.case.title, state=self._state())
            yield launch

    def ended(self, launch: Launch, record: Mapping[str, Any]) -> None:
        """One launch ended with this record."""
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
