# SPDX-License-Identifier: BSD-3-Clause
"""A paper's statements on simulated cells: right or wrong, by the sentence and by its own table."""

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
    """A statement, how the paper's own cells bear it out, and how a simulation does.

    Where the paper has cells, the simulation is asked of the comparisons that these decide.

    simulated: None where nothing simulates its cells. by_sentence: whether the simulation says what
    the sentence says. by_table: whether it says what the paper's own cells say, where these say
    another thing than the sentence; else None. undecided: why by_sentence is "not decided".
    """

    statement: Statement
    published: Assessment
    simulated: Assessment | None
    by_sentence: Score
    by_table: Score | None
    undecided: str = ""

    @property
    def score(self) -> Score:
        """What it says of the paper's own cells, or of the sentence where these agree with it."""
        return self.by_table or self.by_sentence


def scored(
    paper: str, cells: Sequence[PredictedCell], recorded: Sequence[KnownCell] = ()
) -> list[Scored]:
    """Every statement of a paper, on the cells that were simulated of its tables.

    recorded: those of result folders, of tables that have no other: the others' times are in units
    of the paper.
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
    why = "" if by_sentence != NOT_DECIDED else "the paper's own cells and the simulation are mixed"
    return Scored(one, published, simulated, by_sentence, same if differs else None, why)


def _why_undecided(paper: str, one: Statement, there: set[str], *, of_times: bool) -> str:
    if not one.tables:
        return "no table contains its cells, and no simulation represents them"
    if not of_times:
        return f"{one.column} is not simulated"
    if lacking := [name for name in one.tables if name not in there]:
        why = load(paper).table(lacking[0]).not_predicted
        return f"{called(lacking[0])}: {why or 'not simulated this time'}"
    return "printed digits leave its comparisons open, or its cells were not simulated"


def _simulated(
    tables: Mapping[str, PaperTable], cells: Iterable[PredictedCell]
) -> Iterator[KnownCell]:
    """Predicted cells as statements know cells."""
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
    """How many statements are right, wrong, not decided and circular: by sentence, by table."""
    names = (RIGHT, WRONG, NOT_DECIDED, CIRCULAR)
    by_sentence = {name: sum(one.by_sentence == name for one in found) for name in names}
    by_table = {name: sum(one.score == name for one in found) for name in names}
    return {"by the sentence": by_sentence, "by the paper's own cells": by_table}


__all__ = ["CIRCULAR", "NOT_DECIDED", "RIGHT", "WRONG", "Score", "Scored", "counts", "scored"]
