# SPDX-License-Identifier: BSD-3-Clause
"""Evaluation of a paper's statements on simulated cells: by the sentence, and by its own tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from haloscope.analysis.validation.predictions import RELATIVE, PredictedCell
from haloscope.analysis.validation.published import called
from haloscope.papers.assessment import Assessment, assessed
from haloscope.papers.known_cells import KnownCell, keys_of, measure, published_cells
from haloscope.papers.statements import NO_TABLE, Statement, statements
from haloscope.papers.tables import PaperTable, load

Score = Literal["right", "wrong", "not decided", "circular"]
RIGHT: Score = "right"
WRONG: Score = "wrong"
NOT_DECIDED: Score = "not decided"
CIRCULAR: Score = "circular"


@dataclass(frozen=True)
class Scored:
    """A statement, its score on the paper's own cells, and its score on simulated cells.

    If the paper has cells, only comparisons that these decide are simulated.

    simulated: None if its cells are not simulated. by_sentence: whether the simulation agrees with
    the sentence. by_table: whether it agrees with the paper's own cells, if these contradict the
    sentence; otherwise None. undecided: why by_sentence is "not decided".
    """

    statement: Statement
    published: Assessment
    simulated: Assessment | None
    by_sentence: Score
    by_table: Score | None
    undecided: str = ""

    @property
    def score(self) -> Score:
        """Score against the paper's own cells, or against the sentence if these agree with it."""
        return self.by_table or self.by_sentence


def scored(
    paper: str, cells: Sequence[PredictedCell], recorded: Sequence[KnownCell] = ()
) -> list[Scored]:
    """Return the score of every statement of a paper on the simulated cells of its tables.

    recorded: cells from result folders, for tables without other cells, whose times are in units of
    the paper.
    """
    known = [*_simulated(load(paper).tables, cells)]
    predicted = {cell.keys["table"] for cell in known}
    known += [cell for cell in recorded if cell.keys["table"] not in predicted]
    there = {str(cell.keys["table"]) for cell in known}
    return [_scored(paper, one, known, there) for one in statements(paper)]


def _scored(paper: str, one: Statement, cells: Sequence[KnownCell], there: set[str]) -> Scored:
    published = assessed(one, published_cells(paper, one))
    of_times = all(one.column in ("", measure(load(paper).table(name), "")) for name in one.tables)
    simulated = None
    tables = one.tables or (NO_TABLE,)
    if of_times and set(tables) <= there:
        own = [cell for cell in cells if cell.keys["table"] in tables]
        among = published.decided or None
        simulated = assessed(one, own, among)
    if simulated is None or simulated.verdict == "no cells":
        why = _why_undecided(paper, one, there, of_times=of_times)
        return Scored(one, published, simulated, NOT_DECIDED, None, why)
    if one.sets or simulated.fitted:
        return Scored(one, published, simulated, CIRCULAR, None)
    differs = published.verdict in ("no", "mixed")
    same: Score = RIGHT if simulated.verdict == published.verdict else WRONG
    by_sentence: Score = RIGHT if simulated.verdict == "yes" else WRONG
    if simulated.verdict == "mixed" and differs:
        by_sentence = NOT_DECIDED
    why = (
        ""
        if by_sentence != NOT_DECIDED
        else "both the paper's own cells and the simulation have mixed results"
    )
    return Scored(one, published, simulated, by_sentence, same if differs else None, why)


def _why_undecided(paper: str, one: Statement, there: set[str], *, of_times: bool) -> str:
    if not one.tables:
        return "no published table contains the compared cases, and they were not simulated"
    if not of_times:
        return f"the quantity '{one.column}' is not simulated"
    if lacking := [name for name in one.tables if name not in there]:
        why = load(paper).table(lacking[0]).not_predicted
        return f"{called(lacking[0])}: {why or 'not simulated in this run'}"
    return (
        "the rounding of the printed values permits both verdicts, or the compared cases were not "
        "simulated"
    )


def _simulated(
    tables: Mapping[str, PaperTable], cells: Iterable[PredictedCell]
) -> Iterator[KnownCell]:
    """Convert predicted cells to the form that statements use."""
    found: dict[tuple[object, ...], KnownCell] = {}
    for cell in cells:
        table = tables[cell.table]
        if cell.predicted is None or not cell.row:
            continue
        keys = keys_of(table, cell.row)
        value, fitted = cell.predicted, cell.fitted
        if cell.kind == RELATIVE:
            first = {**cell.row, "nodes": cell.keys["over"]}
            over = next(
                row
                for row in table.rows
                if all(row[key] == first[key] for key in ("ranks", "nodes"))
            )
            time = float(str(over["time_s"]))
            base = KnownCell(keys_of(table, over), table.keys, time, time, fitted)
            found.setdefault(base.identity, base)
            value *= time
        one = KnownCell(keys, table.keys, value, value, fitted)
        found[one.identity] = one
    yield from found.values()


def counts(found: Sequence[Scored]) -> dict[str, dict[Score, int]]:
    """Count right, wrong, undecided, and circular statements: by sentence, and by table."""
    names = (RIGHT, WRONG, NOT_DECIDED, CIRCULAR)
    by_sentence = {name: sum(one.by_sentence == name for one in found) for name in names}
    by_table = {name: sum(one.score == name for one in found) for name in names}
    return {"by the sentence": by_sentence, "by the paper's own cells": by_table}


__all__ = ["CIRCULAR", "NOT_DECIDED", "RIGHT", "WRONG", "Score", "Scored", "counts", "scored"]
