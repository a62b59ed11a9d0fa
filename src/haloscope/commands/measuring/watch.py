# SPDX-License-Identifier: BSD-3-Clause
"""haloscope watch: show the progress of a measurement."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from math import inf, isinf
from pathlib import Path

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from haloscope.commands.options import flag
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError
from haloscope.quantities import MISSING, SECONDS, count, percent, quantity
from haloscope.records.folder import ResultFolder, require_enclosed
from haloscope.run.campaign.watching import CaseProgress, Watched, watched
from haloscope.run.progress import duration
from haloscope.stats.estimates import Estimate

_DESCRIPTION = (
    "Show the progress of a measurement: completed rounds and launches, time left, and the slowest "
    "hosts. Each case is listed with its median time and the width of its confidence interval. "
    "The command only reads the folder, so it also works while a batch job on another machine is "
    "measuring. The output fits into 60 columns. In a terminal, it is updated until all launches "
    "are done or Ctrl-C is pressed; otherwise, it is printed once.\n"
)
_EPILOG = """\
examples:
  haloscope watch results/quick-20261121-010203
  ssh login haloscope watch results/scaling --once

exit codes: 0 success; 2 usage error, or no result folder
"""
_EVERY_S = 2.0
_WIDTH = 60
_CASES = 12
_HOSTS = 5


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `watch`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.add_argument("directory", metavar="DIR", type=Path, help="the result folder")
    flag(parser, "--once", "print progress once and exit")


def execute(arguments: argparse.Namespace) -> int:
    """Show it until all is done; return 0. Raise UserError without records and plan."""
    folder = ResultFolder(arguments.directory)
    require_enclosed(folder.path)
    if not (folder.plan.exists() or folder.records.exists()):
        remedy = "give a folder written by haloscope run"
        raise UserError(Problem(str(folder.path), "contains neither a plan nor records", remedy))
    out = Screen()
    now = watched(folder)
    if arguments.once or not out.is_interactive:
        out.print(view(now))
        return 0
    with Live(view(now), console=out, auto_refresh=False, vertical_overflow="crop") as live:
        while not now.complete:
            time.sleep(_EVERY_S)
            now = watched(folder)
            live.update(view(now), refresh=True)
    return 0


def view(now: Watched, at: datetime | None = None) -> RenderableType:
    """Return the state of a folder, at most 60 columns wide. at: the time, if not now."""
    return Group(*_head(now, at or datetime.now(UTC)), *_cases(now), *_hosts(now))


def _head(now: Watched, at: datetime) -> Iterator[RenderableType]:
    yield _line(now.name, "bold")
    launches = count(now.done, "launch", "launches")
    if now.planned is not None:
        done, rounds = now.rounds
        launches = f"{now.done} of {now.planned} launches, {done} of {rounds} rounds"
        filled = _WIDTH * now.done // max(1, now.planned)
        yield _line(f"{'━' * filled}{'╌' * (_WIDTH - filled)}")
    left = f"about {duration(now.left_s)} left" if now.left_s else "complete" * now.complete
    yield _line(", ".join(filter(None, (launches, left))))
    if now.not_good:
        failures = ", ".join(f"{number} {outcome}" for outcome, number in now.not_good.items())
        yield _line(f"failed: {failures}", "yellow")
    if now.last is not None and not now.complete:
        yield _line(f"last launch ended {duration(max(0.0, (at - now.last).total_seconds()))} ago")


def _line(text: str, style: str = "") -> Text:
    line = Text(text, style=style, no_wrap=True, overflow="ellipsis")
    line.truncate(_WIDTH, overflow="ellipsis")
    return line


def _cases(now: Watched) -> Iterator[RenderableType]:
    ordered = sorted(now.cases, key=_order)
    table = Table(box=None, padding=(0, 1, 0, 0), width=_WIDTH)
    table.add_column("case, widest interval first", ratio=1, overflow="fold")
    for name in ("n", "median", "±", "± at n/2"):
        table.add_column(name, justify="right", no_wrap=True)
    names = _names(now.cases)
    for case in ordered[:_CASES]:
        table.add_row(names[case.id], *_numbers(case))
    yield table
    if len(ordered) > _CASES:
        yield _line(f"and {count(len(ordered) - _CASES, 'further case')}")


def _names(cases: Sequence[CaseProgress]) -> dict[str, str]:
    """Return names by id, without the settings that all cases of a kernel share."""
    parts = {
        case.id: [*case.name.partition(", ")[0].split(), *case.name.split(", ")[1:]]
        for case in cases
    }
    names = {}
    for case in cases:
        others = [parts[one.id] for one in cases if one.kernel == case.kernel and one is not case]
        own = [
            part
            for part in parts[case.id][1:]
            if not others or any(part not in one for one in others)
        ]
        names[case.id] = " ".join([case.kernel, *own]) if case.name else f"{case.kernel} {case.id}"
    return names


def _order(case: CaseProgress) -> tuple[bool, bool, float]:
    width = _half_width(case.now)
    return case.now is None, isinf(width), -width


def _half_width(estimate: Estimate | None) -> float:
    return inf if estimate is None else estimate.relative_half_width


def _numbers(case: CaseProgress) -> tuple[str, str, str, str]:
    shares = map(_half_width, (case.now, case.before))
    now, before = (MISSING if isinf(one) else percent(one) for one in shares)
    launches = str(case.done) if case.planned is None else f"{case.done}/{case.planned}"
    return launches, quantity(case.now.value if case.now else None, SECONDS), now, before


def _hosts(now: Watched) -> Iterator[RenderableType]:
    slow = [host for host in now.hosts if host.excess > 0][:_HOSTS]
    if not slow:
        return
    table = Table(box=None, padding=(0, 1, 0, 0), width=_WIDTH)
    table.add_column("slowest hosts", ratio=1, no_wrap=True, overflow="ellipsis")
    table.add_column("launches", justify="right")
    table.add_column("over the median", justify="right")
    for host in slow:
        table.add_row(host.host, str(host.launches), f"+{percent(host.excess)}")
    yield table
