# SPDX-License-Identifier: BSD-3-Clause
"""Statements of papers, scored on simulations of what they compare; all papers in one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from simulated_tables import summed
from turns import taken

from haloscope.analysis.dossier import open_folder
from haloscope.analysis.validation.predictions import PredictedCell
from haloscope.analysis.validation.statements import RIGHT, WRONG, Score, Scored, counts, scored
from haloscope.papers.known_cells import KnownCell
from haloscope.papers.tables import list_papers
from haloscope.predict.paper_validation import Replicates, tables_of, validate
from haloscope.predict.planned_runs import PlannedCells, simulated_cells
from haloscope.quantities import listed
from haloscope.run.progress import Teller
from haloscope.topics.mapping.plan_cells import plan_cells

SEVERAL = 3
"""Launches of runs beside other jobs, each with its own set of them, where no number is given."""
BY_TABLE = "by the paper's own cells"
OWN = {
    "yes": "confirm", "no": "contradict", "mixed": "partly confirm",
    "no cells": "do not cover",
}  # fmt: skip
"""OWN says what the paper's own tables do to statements of a verdict."""


@dataclass(frozen=True)
class Simulated:
    """A paper, simulated with as many launches: its cells, its statements, and notes on them."""

    launches: int
    cells: Sequence[PredictedCell]
    found: Sequence[Scored]
    notes: Sequence[str]


def simulate(
    paper: str, tell: Teller, launches: int = 1, folders: Sequence[Path] = ()
) -> Simulated:
    """A paper's tables, and the runs that its statements compare or those of result folders."""
    several = Replicates(launches) if launches > 1 else None
    cells = [one for table in tables_of(paper, []) for one in validate(table, tell, several)]
    planned = PlannedCells() if folders else simulated_cells(paper, tell, launches)
    known = [cell for path in folders for cell in recorded(paper, path)]
    found = scored(paper, cells, [*known, *planned.cells])
    return Simulated(launches, cells, found, planned.notes)


def by_launches(paper: str, tell: Teller, several: int) -> Iterator[Simulated]:
    """One launch; several of a paper whose runs are simulated for its statements alone."""
    one = simulate(paper, tell)
    yield one
    if one.notes and several > 1:
        yield simulate(paper, tell, several)


def statements(paper: str, folders: Sequence[Path], several: int) -> list[str]:
    """A paper's statements, by its own cells and by the simulation of all its tables."""
    tell = Teller(Console(stderr=True))
    done = (
        [simulate(paper, tell, folders=folders)]
        if folders
        else [*by_launches(paper, tell, several)]
    )
    last = done[-1]
    verdicts = Counter(one.published.verdict for one in last.found)
    own = listed([f"{verb} {verdicts[name]}" for name, verb in OWN.items() if verdicts[name]])
    lines = [
        f"## {paper}: statements",
        "",
        f"{taken()} The paper makes {len(last.found)} statements. The paper's own tables {own}.",
        "",
        "| scored | launches | right | wrong | not decided | circular |",
        "|---|---|---|---|---|---|",
    ]
    for one in done:
        for side, scores in counts(one.found).items():
            figures = " | ".join(str(number) for number in scores.values())
            lines.append(f"| {side} | {one.launches} | {figures} |")
    lines += ["", *(line for note in last.notes for line in (note, ""))]
    if wrong := [one for one in last.found if one.score == WRONG and one.simulated is not None]:
        lines += [
            "The following statements are wrong when checked against the cells of the paper's "
            "tables. A statement counts as wrong if these cells contradict it, even if all of its "
            "comparisons hold in the simulation.",
            "",
            "| statement | place | comparisons that hold | first value that contradicts it |",
            "|---|---|---|---|",
            *map(failing, wrong),
            "",
        ]
    why: dict[str, list[str]] = {}
    for statement in last.found:
        if statement.undecided and statement.by_table is None:
            why.setdefault(statement.undecided, []).append(statement.statement.id)
    if why:
        reasons = [
            f"| {', '.join(f'`{one}`' for one in ids)} | {reason} |" for reason, ids in why.items()
        ]
        lines += [
            "| ids of undecided statements | reason |",
            "|---|---|",
            *reasons,
            "",
        ]
    return lines


def failing(one: Scored) -> str:
    """A wrong statement: how many of its comparisons hold, and the first value that fails."""
    assert one.simulated is not None
    held, all_ = one.simulated.holds, one.simulated.holds + one.simulated.fails
    example = contradiction(next(iter(one.simulated.examples), ""))
    return f"| {one.statement.says} | {one.statement.place} | {held} of {all_} | {example} |"


def contradiction(example: str) -> str:
    """The value of a comparison that fails, with its cells: "1.04 (ranks = 4)", "1.04"."""
    value, _, cells = example.partition(" with ")
    return value if cells in ("", "all cells") else f"{value} ({cells})"


def summary(several: int) -> list[str]:
    """Every paper: errors beside the naive guess by table, fastest layouts, and statements."""
    tell = Teller(Console(stderr=True))
    lines = [
        "## All papers",
        "",
        f"{taken()} The table covers cells whose error is known and from which no number in "
        "a cluster file was derived.",
        "",
        "The last column counts the combinations of mesh and number of nodes for which the "
        "fastest layout in the simulation also has the shortest published time. A combination is "
        "included if its published times differ between layouts, if the error of a fastest layout "
        "is known, and if no number was derived from that layout.",
        "",
        "| table | cells | median error | 90th percentile | largest error | naive median "
        "| naive 90th percentile | skill (median) | skill (90th percentile) "
        "| fastest layout found |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    scores: list[tuple[str, dict[Score, int]]] = []
    totals: dict[int, list[dict[Score, int]]] = {1: [], several: []}
    for paper in (one.id for one in list_papers()):
        done = [*by_launches(paper, tell, several)]
        for one in done:
            name = paper if one.launches == 1 else f"{paper}, {one.launches} launches:"
            for table_id in dict.fromkeys(cell.table for cell in one.cells):
                own = [cell for cell in one.cells if cell.table == table_id]
                if any(cell.error is not None and not cell.fitted for cell in own):
                    lines.append(f"| {name} {table_id} | {summed(own)} |")
            scores.append((name.rstrip(":"), counts(one.found)[BY_TABLE]))
        for launches, total in totals.items():
            total.append(counts(done[0 if launches == 1 else -1].found)[BY_TABLE])
    for launches, total in totals.items():
        name = "all" if launches == 1 else f"all, {launches} launches"
        scores.append((name, {key: sum(one[key] for one in total) for key in total[0]}))
    names = list(scores[0][1])
    lines += ["", f"| statements | {' | '.join(names)} | right / (right + wrong) |"]
    lines.append(f"|---|{'---|' * (len(names) + 1)}")
    for paper, found in scores:
        figures = " | ".join(str(found[name]) for name in names)
        lines.append(f"| {paper} | {figures} | {right_share(found):.0%} |")
    return [*lines, ""]


def right_share(scores: dict[Score, int]) -> float:
    """Right ones of those that are right or wrong."""
    return scores[RIGHT] / (scores[RIGHT] + scores[WRONG])


def recorded(paper: str, folder: Path) -> list[KnownCell]:
    """A paper's cells in a result folder."""
    dossier = open_folder(folder)
    return [*plan_cells(paper, dossier.cases, str((dossier.machine or {}).get("host")))]
