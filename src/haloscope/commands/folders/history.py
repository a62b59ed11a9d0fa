# SPDX-License-Identifier: BSD-3-Clause
"""haloscope history: show the times of cases over result folders, and where they changed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from haloscope.commands.folders import history_page
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError, nearest
from haloscope.history import index
from haloscope.history.series import Series, series
from haloscope.quantities import SECONDS, count, number, quantity
from haloscope.report.draw import terminal
from haloscope.stats.change_points import FEWEST, lacking

_DESCRIPTION = """\
Show how the time of each case changed across all result folders of a machine.

Two folders contain the same case if kernel, parameters, layout, and toolchain name are identical.
The time of a case in a folder is the median over launches. With at least four folders, change
points are detected. Each is listed with everything else that changed at the same time: MPI library,
compiler, operating system and kernel, or hosts.

Each folder is read only once. An index in the cache folder stores its times. The index is updated
when records.jsonl changes, and can be deleted at any time. To compare one folder with the most
recent earlier one, use compare --with-last DIR.
"""
_EPILOG = """\
examples:
  haloscope history                                       all cases of the folders in results/
  haloscope history --of pingpong --on helios
  haloscope history --of 1f0c2d9a77e3 --out results/history            a report of one case
  haloscope history --in /data/measurements --rebuild

exit codes: 0 success; 2 usage error, or an unknown folder, case, or machine
"""
_BARS = "▁▂▃▄▅▆▇█"


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `history`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add = parser.add_argument
    add("--of", metavar="CASE", help="id of a case, or its first digits, or name of a kernel")
    add(
        "--on",
        dest="machine",
        metavar="MACHINE",
        help="name of a machine, a site, or a simulated cluster",
    )
    add(
        "--in",
        dest="root",
        metavar="FOLDER",
        type=Path,
        default=Path("results"),
        help="folder that contains the result folders (default: results)",
    )
    add("--out", metavar="DIR", type=Path, help="write a report with figures and tables to DIR")
    add("--rebuild", action="store_true", help="rebuild the index from all records")


def execute(arguments: argparse.Namespace) -> int:
    """Print the history; return 0. Raise UserError for an unknown folder, case, or machine."""
    if not arguments.root.is_dir():
        remedy = "give a folder that contains result folders"
        raise UserError(Problem(f"--in {arguments.root}", "folder not found", remedy))
    every = series(index.launches(arguments.root, rebuild=arguments.rebuild))
    if not every:
        what, remedy = (
            "contains no result folder with a successful launch",
            "measure first: haloscope run",
        )
        raise UserError(Problem(f"--in {arguments.root}", what, remedy))
    chosen = _chosen(every, arguments.of, arguments.machine)
    out = Screen()
    for place in dict.fromkeys(one.place for one in chosen):
        own = [one for one in chosen if one.place == place]
        out.print(_overview(place, own))
    if len(chosen) == 1:
        out.print(terminal.tables([history_page.folders(chosen, "folders")]))
    for line in _changes(chosen):
        out.print(line, soft_wrap=True)
    if arguments.out:
        out.print(f"report: {history_page.write(chosen, arguments.out)}", soft_wrap=True)
    return 0


def _chosen(every: Sequence[Series], case: str | None, machine: str | None) -> list[Series]:
    places = sorted({one.place for one in every})
    if machine is not None and machine not in places:
        raise UserError(
            Problem(f"--on {machine}", "no results from this machine", nearest(machine, places))
        )
    own = [one for one in every if machine in (None, one.place)]
    if case is None:
        return own
    kernels = sorted({str(one.settings["kernel"]) for one in own})
    found = [one for one in own if case == one.settings["kernel"] or one.case.startswith(case)]
    if not found:
        remedy = f"{nearest(case, kernels)}; alternatively, give the first digits of a case id"
        raise UserError(Problem(f"--of {case}", "no results for this case", remedy))
    return found


def _overview(place: str, own: Sequence[Series]) -> Table:
    table = Table(title=place, title_justify="left", box=None, padding=(0, 2, 0, 0))
    table.add_column("case", overflow="fold")
    table.add_column("id", no_wrap=True)
    for name in ("folders", "first", "last", "last/first"):
        table.add_column(name, justify="right")
    table.add_column("over time")
    for one in own:
        times = [measured.time.value for measured in one.measured]
        ends = (quantity(times[0], SECONDS), quantity(times[-1], SECONDS))
        ratio = number(times[-1] / times[0])
        table.add_row(one.name, one.case, str(len(times)), *ends, ratio, _spark(times))
    return table


def _spark(times: Sequence[float]) -> str:
    shown = times[-20:]
    low, high = min(shown), max(shown)
    step = (high - low) / (len(_BARS) - 1)
    return "".join(_BARS[round((time - low) / step)] if step else _BARS[0] for time in shown)


def _changes(chosen: Sequence[Series]) -> Iterator[Text]:
    if problem := lacking():
        yield Text(f"No search for change points: {problem}")
        return
    long = [one for one in chosen if len(one.measured) >= 2 * FEWEST]
    found = [(one, change) for one in long for change in one.changes]
    for one, change in found:
        first = one.measured[change.index]
        where = f"{first.started:%Y-%m-%d}, {first.folder.name}"
        yield Text(f"Change on {one.place}, {where}: {one.name} {change}")
        for name, before, after in change.beside:
            yield Text(f"  {name}: {before} -> {after}")
        if not change.beside:
            yield Text("  records show no other difference between the two folders")
    if not found and long:
        yield Text(
            f"No change point in {count(len(long), 'case')} with {2 * FEWEST} or more folders."
        )
    if short := len(chosen) - len(long):
        yield Text(
            f"Too few folders for change points: {count(short, 'case')} (needs {2 * FEWEST})."
        )
