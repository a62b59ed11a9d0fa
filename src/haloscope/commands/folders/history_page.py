# SPDX-License-Identifier: BSD-3-Clause
"""The report of `history`: a figure per case, all change points, all folders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from haloscope.findings.finding import Claim, Finding, FindingShape, Ratio, Verdict
from haloscope.history.series import Measured, Series
from haloscope.quantities import SECONDS, count, number, quantity, unit_of
from haloscope.report import writing
from haloscope.report.document import Document
from haloscope.report.section import Section
from haloscope.stats.change_points import lacking
from haloscope.stats.estimates import Estimate
from haloscope.topics import arranged
from haloscope.topics.common.figure import Axis, Curve, Figure, Lines, Mark
from haloscope.topics.common.notebook import spread_text
from haloscope.topics.common.table import Cell, Column, Table, label, plain

_DATES = 3


def write(chosen: Sequence[Series], directory: Path) -> Path:
    """Write the report of series; return the page's path. Raise UserError as
    `writing.write_apart`.
    """
    return writing.write_apart(_document(chosen), directory)


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
        tables = (_changes(own, f"changes-{number_}"), folders(own, f"folders-{number_}"))
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
            *([f"No search for change points: {problem}"] if (problem := lacking()) else []),
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
    none = () if rows else (f"No change points in {count(len(own), 'case')}.",)
    return Table(name, "history", "Change points", columns, tuple(rows), none)


def folders(own: Sequence[Series], name: str) -> Table:
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
