# SPDX-License-Identifier: BSD-3-Clause
"""Simulated cells of papers' tables beside the published ones: errors, skill, fastest layouts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import MappingProxyType

from rich.console import Console
from turns import taken

from haloscope.analysis.validation.predictions import (
    JACOBI,
    WALL_TIME,
    Errors,
    PredictedCell,
    Skill,
)
from haloscope.papers.tables import Scalar
from haloscope.predict.paper_validation import tables_of, validate
from haloscope.report.predictions.prediction_errors import groups
from haloscope.run.progress import Teller

NEWER, OLDER = (0.06, 0.25), (0.10, 0.40)
"""Median and worst absolute relative error to reach over the cells that were only predicted."""
TABLES = MappingProxyType({
    "hpcf-2018-10 4.1": NEWER, "hpcf-2018-10 6.1": NEWER, "hpcf-2018-10 6.2": NEWER,
    "hpcf-2018-10 6.3": NEWER, "hpcf-2018-10 7.1": NEWER, "hpcf-2018-10 7.2": NEWER,
    "hpcf-2010-6 4.1": OLDER, "hpcf-2010-6 5.1": OLDER,
})  # fmt: skip

BEYOND = ["| cell whose error exceeds the aim | predicted, s | published, s |", "|---|---|---|"]


def table(name: str) -> list[str]:
    """A table's title, its errors, what simulating it took, and the cells beyond the aim."""
    paper, table_id = name.split()
    median, most = TABLES[name]
    (published,) = tables_of(paper, [table_id])
    start = time.perf_counter()
    cells = validate(published, Teller(Console(stderr=True)))
    wall = time.perf_counter() - start
    known = [cell for cell in cells if cell.error is not None]
    fitted = Errors.of([cell for cell in known if cell.fitted])
    others = [cell for cell in known if not cell.fitted]
    predicted = Errors.of(others)
    beyond = [described(cell) for cell in others if abs(cell.error or 0) > most]
    return [
        f"## {paper}, table {table_id}: cells with an error",
        "",
        f"{taken()} {len(cells)} cells were simulated in {wall:.0f} s without cached results.",
        "",
        "| cells | number | median error | aim | largest error | aim | 90th percentile "
        "| naive median | naive 90th percentile | skill (median) | skill (90th percentile) |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        f"| set a number | {errors(fitted, '', '')} | {beside([])} |",
        f"| only predicted | {errors(predicted, f'{median:.0%}', f'{most:.0%}')} "
        f"| {beside(others)} |",
        "",
        *structure(others),
        *([*BEYOND, *beyond, ""] if beyond else []),
    ]


def beside(cells: Sequence[PredictedCell]) -> str:
    """The worst tenth of predictions, and the naive guess of those that have one."""
    found = Skill.of(cells, "naive")
    if not found.guess.number:
        return " | | | | "
    figures = (Errors.of(cells).tenth, found.guess.median, found.guess.tenth)
    skills = (found.at_median, found.at_tenth)
    shares = [f"{one:.1%}" if one is not None else "" for one in figures]
    return " | ".join([*shares, *(f"{one:.2f}" if one is not None else "" for one in skills)])


def structure(cells: Sequence[PredictedCell]) -> list[str]:
    """Errors and skill by distance and by size of time."""
    lines = [
        "| group | cells | number | median error | 90th percentile | naive median "
        "| naive 90th percentile | skill (median) | skill (90th percentile) |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for group, parts in groups(cells).items():
        for name, own in parts.items():
            middle = Errors.of(own).median
            number_of = f"{len(own)} | {middle or 0.0:.1%}"
            lines.append(f"| {group} | {name} | {number_of} | {beside(own)} |")
    return [*lines, ""]


def summed(cells: Sequence[PredictedCell]) -> str:
    """A table's line: of cells in the last reading of the paper that no number is from."""
    last = cells[-1].reading if cells[-1].kind == JACOBI else None
    own = [one for one in cells if not one.fitted and (last is None or one.reading == last)]
    found, skill = Errors.of(own), Skill.of(own, "naive")
    shares = (found.median, found.tenth, found.worst, skill.guess.median, skill.guess.tenth)
    figures = [f"{one:.1%}" if one is not None else "" for one in shares]
    figures += [f"{x:.2f}" if x is not None else "" for x in (skill.at_median, skill.at_tenth)]
    named, asked = fastest_named(cells)
    figures.append(f"{named} of {asked}" if asked else "")
    return " | ".join([str(found.number), *figures])


def fastest_named(cells: Sequence[PredictedCell]) -> tuple[int, int]:
    """In how many groups the predicted fastest layout is a published fastest one; groups."""
    groups_: dict[tuple[Scalar, ...], list[PredictedCell]] = {}
    for cell in cells:
        if cell.kind == WALL_TIME and cell.predicted is not None:
            same = tuple(v for k, v in cell.keys.items() if k not in ("ppn", "threads"))
            groups_.setdefault(same, []).append(cell)
    named = asked = 0
    for own in groups_.values():
        least = min(cell.published for cell in own)
        first = [cell for cell in own if cell.published == least]
        if len(first) == len(own) or all(c.error is None or c.fitted for c in first):
            continue
        asked += 1
        named += min(own, key=lambda cell: cell.predicted or 0.0) in first
    return named, asked


def errors(of: Errors, median: str, most: str) -> str:
    """The figures of a line."""
    if of.median is None or of.worst is None:
        return f"0 | | {median} | | {most}"
    return f"{of.number} | {of.median:.1%} | {median} | {of.worst:.1%} | {most}"


def described(cell: PredictedCell) -> str:
    """The row of a cell below BEYOND."""
    where = ", ".join(f"{key} = {value}" for key, value in cell.keys.items())
    return f"| {where} | {cell.predicted:.3g} | {cell.published:g} |"


def orfeo() -> list[str]:
    """Jacobi on ORFEO's nodes, all tables together: errors by how the paper is read."""
    tell, cells = Teller(Console(stderr=True)), []
    for published in tables_of("orfeo-mpi-report", []):
        if published.kind == JACOBI:
            cells += validate(published, tell)
    lines = [
        "## orfeo-mpi-report: updates per second of Jacobi's sweeps, all tables",
        "",
        f"{taken()} The aim is the earlier result: a median error of 0.9 % and a largest error "
        "of 9.3 %.",
        "",
        "| interpretation | cells | number | median error | largest error |",
        "|---|---|---|---|---|",
    ]
    for reading in dict.fromkeys(cell.reading for cell in cells):
        for kind, fitted in (("set a number", True), ("only predicted", False)):
            own = [c for c in cells if (c.reading, c.fitted) == (reading, fitted)]
            found = Errors.of(own)
            if found.median is not None and found.worst is not None:
                figures = f"{found.number} | {found.median:.1%} | {found.worst:.1%}"
                lines.append(f"| {reading} | {kind} | {figures} |")
    return [*lines, ""]
