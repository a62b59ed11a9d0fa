# SPDX-License-Identifier: BSD-3-Clause
"""Progress of a run: a bar in a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import floor
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from haloscope.run.progress import duration
from haloscope.run.time_left import TimeLeft
from haloscope.study.case import Case, Launch
from haloscope.verbosity import shows_notes


def _took(record: Mapping[str, Any]) -> str:
    """Describe how long a launch took on this machine; for a simulated one this is not
    its result.
    """
    simulation = record.get("simulation")
    if not simulation:
        return f"{record['wall_s']:.2f} s"
    cached = simulation.get("cached", False)
    return "from the cache" if cached else f"simulated in {record['wall_s']:.2f} s"


_CUT = Column(ratio=1, no_wrap=True, overflow="ellipsis")
"""The name of the running launch, which is truncated in a narrow terminal."""


_FEW = 300
"""With so many launches left, the time left is estimated once a second, not after each of them."""


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
        self._began = self._estimated = time.monotonic()
        self._left_s = self._left.seconds()
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
        now, running = time.monotonic(), self._left.running
        if len(self._launches) - self._done < _FEW or now - self._estimated > 1:
            self._left_s, self._estimated = self._left.seconds(), now
        left = "" if self._left_s is None else f"about {duration(self._left_s)} left"
        several = f"{running} running" if running > 1 else ""
        return ", ".join(filter(None, (several, left)))
