# SPDX-License-Identifier: BSD-3-Clause
"""haloscope history: show the times of cases over result folders, and where they changed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from haloscope.commands.options import flag
from haloscope.commands.screen import Screen
from haloscope.errors import Problem, UserError, nearest
from haloscope.findings.finding import Claim, Finding, FindingShape, Ratio, Verdict
from haloscope.history import index
from haloscope.history.series import Measured, Series, series
from haloscope.quantities import SECONDS, count, number, quantity, unit_of
from haloscope.report import writing
from haloscope.report.document import Document, Section
from haloscope.report.draw import terminal
from haloscope.stats.change_points import FEWEST, lacking
from haloscope.stats.estimates import Estimate
from haloscope.topics import arranged
from haloscope.topics.common.figure import Axis, Curve, Figure, Lines, Mark
from haloscope.topics.common.notebook import spread_text
from haloscope.topics.common.table import Cell, Column, Table, label, plain

_DESCRIPTION = """\
Show how the time of each case changed across all result folders of a machine.

Two folders contain the same case if its kernel, parameters, layout, and MPI library are identical.
The time of a case in a folder is the median over its launches. With at least four folders, points
at which the time changed significantly are detected. Each is listed with everything else that
changed at the same time: MPI library, compiler, operating system, Linux kernel, or hosts.

Each folder is read only once. Its times are stored in an index in the cache folder. The index is
updated when records.jsonl changes, and can be deleted at any time. To compare one folder with the
most recent earlier one, use compare --with-last DIR.
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
_DATES = 3


def set_up(parser: argparse.ArgumentParser) -> None:
    """Describe `history`, and add its arguments."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    add = parser.add_argument
    add(
        "--of",
        metavar="CASE",
        help="show only the case with this id (or these first digits), or the cases of this kernel",
    )
    add(
        "--on",
        dest="machine",
        metavar="MACHINE",
        help="show only results from the machine, site, or simulated cluster with this name",
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
    flag(parser, "--rebuild", "read all result folders again, and rebuild the index")


def execute(arguments: argparse.Namespace) -> int:
    """Print the history; return 0. Raise UserError for an unknown folder, case, or machine."""
    if not arguments.root.is_dir():
        remedy = "give a folder that contains result folders"
        raise UserError(Problem(f"--in {arguments.root}", "folder not found", remedy))
    every = series(index.launches(arguments.root, rebuild=arguments.rebuild))
    if not every:
        what, remedy = (
            "contains no result folder with a successful launch",
            "measure first: haloscope run STUDY",
        )
        raise UserError(Problem(f"--in {arguments.root}", what, remedy))
    chosen = _chosen(every, arguments.of, arguments.machine)
    out = Screen()
    for place in dict.fromkeys(one.place for one in chosen):
        own = [one for one in chosen if one.place == place]
        folders = [_folders(own, "folders")] if len(chosen) == 1 else []
        out.print(terminal.tables([_overview(own), *folders, _changes(own, "changes")]))
    if arguments.out:
        out.lines(f"report: {writing.write_apart(_document(chosen), arguments.out)}")
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
        remedy = f"give the name of a kernel or the id of a case; {nearest(case, kernels)}"
        raise UserError(Problem(f"--of {case}", "no results for this case", remedy))
    return found


def _overview(own: Sequence[Series]) -> Table:
    def row(one: Series) -> tuple[Cell, ...]:
        times = [measured.time.value for measured in one.measured]
        ratio = times[-1] / times[0]
        return (
            label(one.name, case=one.case),
            plain(one.case),
            plain(len(times)),
            *(plain(time, quantity(time, SECONDS)) for time in (times[0], times[-1])),
            plain(ratio, number(ratio)),
            plain(_spark(times)),
        )

    names = ("case", "id", "folders", "first", "last", "last/first", "over time")
    columns = [Column(name, name) for name in names]
    columns[1] = Column("id", "id", align="left")
    columns[0] = Column("case", "case", align="left")
    return Table("overview", "history", own[0].place, tuple(columns), tuple(map(row, own)))


def _spark(times: Sequence[float]) -> str:
    shown = times[-20:]
    low, high = min(shown), max(shown)
    step = (high - low) / (len(_BARS) - 1)
    return "".join(_BARS[round((time - low) / step)] if step else _BARS[0] for time in shown)


def _document(chosen: Sequence[Series]) -> Document:
    places = list(dict.fromkeys(one.place for one in chosen))
    paths = {measured.folder for one in chosen for measured in one.measured}
    changes = sum(len(one.changes) for one in chosen)
    sections = []
    for number_, place in enumerate(places, start=1):
        own = [one for one in chosen if one.place == place]
        long = [one for one in own if len(one.measured) > 1]
        long.sort(key=lambda one: not one.changes)  # the answer shows the first figure
        figures = tuple(_figure(one, f"{number_}-{k}") for k, one in enumerate(long, start=1))
        tables = (_changes(own, f"changes-{number_}"), _folders(own, f"folders-{number_}"))
        sections.append(Section(f"place-{number_}", place, figures, tables))
    return Document(
        title=f"History of {count(len(chosen), 'case')}",
        summary=f"{count(len(paths), 'result folder')}, {count(changes, 'change point')}.",
        findings=tuple(arranged([*_findings(chosen, places)])),
        sections=tuple(sections),
        left_out=(),
        machine=(),
        toolchains=(),
        method=(
            "The time of a case in a folder is the median over launches. Change points are found "
            "in the logarithms of these medians by PELT (ruptures).",
            *([f"Change points were not determined: {problem}"] if (problem := lacking()) else []),
        ),
        provenance=tuple((str(k), str(path)) for k, path in enumerate(sorted(paths), start=1)),
    )


def _findings(chosen: Sequence[Series], places: Sequence[str]) -> Iterator[Finding]:
    for one in chosen:
        topic = f"place-{places.index(one.place) + 1}"
        for change in one.changes:
            after, before = one.measured[change.index], one.measured[change.index - 1]
            better = Estimate(1 / change.ratio, None, None, after.time.n, "none")
            claim = Claim(
                {"folder": after.folder.name},
                {"folder": before.folder.name},
                ratio=Ratio.of(better),
                verdict=Verdict.SLOWER if change.ratio > 1 else Verdict.FASTER,
            )
            shape = FindingShape.COMPARISON
            question = f"{one.name} on {one.place}"
            yield Finding(question, shape, (claim,), topic=topic, kind="change")


def _figure(one: Series, name: str) -> Figure:
    factor, unit = unit_of(one.measured[-1].time.value, SECONDS)

    def scaled(value: float | None) -> float | None:
        return None if value is None else value / factor

    marks = tuple(
        Mark(_day(each), each.time.value / factor, scaled(each.time.low), scaled(each.time.high))
        for each in one.measured
    )
    guides = tuple(
        (_day(one.measured[change.index]), f"{number(change.ratio)}x") for change in one.changes
    )
    first, last = (quantity(one.measured[k].time.value, SECONDS) for k in (0, -1))
    panel = Lines(
        id=f"history-{name}",
        title="",
        x=Axis("start of the measurement (UTC)", "linear", tuple(_dates(one)), from_zero=False),
        y=Axis(f"time of a step ({unit})", "linear", from_zero=False),
        curves=(Curve("median over launches", marks),),
        guides=guides,
    )
    return Figure(
        id=f"history-{name}",
        kind="history",
        title=f"{one.name} on {one.place}",
        panels=(panel,),
        alt=f"{one.name}: {first} at first, {last} last.",
        notes=("Bars: interval of the median, or the range if there are too few launches.",),
    )


def _day(measured: Measured) -> float:
    return measured.started.timestamp() / 86400


def _dates(one: Series) -> Iterator[tuple[float, str]]:
    step = -(-len(one.measured) // _DATES)
    for measured in one.measured[::step]:
        yield _day(measured), f"{measured.started:%Y-%m-%d}"


def _changes(own: Sequence[Series], name: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in own:
        for change in one.changes:
            first = one.measured[change.index]
            beside = "; ".join(
                f"{key}: {before} -> {after}" for key, before, after in change.beside
            )
            rows.append((
                label(one.name, case=one.case),
                plain(first.started.isoformat(), f"{first.started:%Y-%m-%d %H:%M}"),
                plain(first.folder.name),
                plain(change.ratio, number(change.ratio)),
                plain(beside or None, beside or "no difference in the records"),
            ))  # fmt: skip
    columns = (
        Column("case", "case", align="left"),
        Column("started", "first measured", align="left"),
        Column("folder", "folder", align="left"),
        Column("ratio", "after/before"),
        Column("beside", "changed at the same time", align="left"),
    )
    long = [one for one in own if len(one.measured) >= 2 * FEWEST]
    notes = []
    if problem := lacking():
        notes.append(f"Change points were not determined: {problem}")
    elif long and not rows:
        known = count(len(long), "case")
        notes.append(f"No change point in {known} with {2 * FEWEST} or more folders.")
    if short := len(own) - len(long):
        few = count(short, "case")
        notes.append(f"Too few folders for change points: {few} (needs {2 * FEWEST}).")
    title = f"Change points on {own[0].place}"
    return Table(name, "history", title, columns, tuple(rows), tuple(notes))


def _folders(own: Sequence[Series], name: str) -> Table:
    """Return the table of all folders of some series; change points are marked."""
    changes = {(one.case, change.index) for one in own for change in one.changes}
    rows = tuple(
        (
            label(one.name, case=one.case),
            plain(measured.started.isoformat(), f"{measured.started:%Y-%m-%d %H:%M}"),
            plain(measured.folder.name),
            plain(measured.time.n),
            Cell(
                measured.time.value,
                quantity(measured.time.value, SECONDS),
                measured.time.low,
                measured.time.high,
                spread_text(measured.time, SECONDS),
            ),
            plain("change" if (one.case, at) in changes else ""),
        )
        for one in own
        for at, measured in enumerate(one.measured)
    )
    columns = (
        Column("case", "case", align="left"),
        Column("started", "started (UTC)", align="left"),
        Column("folder", "folder", align="left"),
        Column("launches", "launches"),
        Column("time_s", "median"),
        Column("change", "", align="left"),
    )
    return Table(name, "history", "All folders", columns, rows, folded=True)
