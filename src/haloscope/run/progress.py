# SPDX-License-Identifier: BSD-3-Clause
"""Messages on a console before and while launches run, and the progress of builds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from math import ceil

from rich.console import Console

from haloscope.verbosity import shows_notes


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
        from rich.progress import BarColumn, MofNCompleteColumn, Progress  # few commands build

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
