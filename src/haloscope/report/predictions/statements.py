# SPDX-License-Identifier: BSD-3-Clause
"""Statements of papers with their evaluation on published and on simulated cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.validation.statements import WRONG, Scored, counts
from haloscope.papers.assessment import Assessment
from haloscope.papers.statements import Statement
from haloscope.topics.common.table import Cell, Column, Table, label, plain

VERDICTS = (
    "yes: the comparisons hold as often as the statement requires; no: fewer than half hold.",
    "mixed: between these; no cells: none were published.",
    "Comparisons within the rounding of printed digits do not count.",
)


def own_cells(checked: Sequence[tuple[Statement, Assessment]], paper: str) -> list[Table]:
    """Return a paper's statements with their verdicts on its own tables, and counts of verdicts."""
    columns = (
        *(Column("statement", "statement", align="left"), Column("place", "place", align="left")),
        *(Column("cells", "own cells", align="left"), Column("holds", "hold")),
        *(Column("fails", "fail"), Column("open", "open")),
        Column("example", "first failure", align="left"),
    )
    rows = tuple(
        (
            *(label(one.says), label(one.place), _verdict(found)),
            *(plain(found.holds), plain(found.fails), plain(found.open)),
            label(found.examples[0] if found.examples else ""),
        )
        for one, found in checked
    )
    names = ("yes", "no", "mixed", "no cells")
    numbers = {name: sum(found.verdict == name for _, found in checked) for name in names}
    summary = Table(
        id="statements-count",
        kind="statements",
        title=f"{len(checked)} statements of {paper}, checked against its own cells",
        columns=tuple(Column(name.replace(" ", "_"), name) for name in numbers),
        rows=(tuple(plain(number) for number in numbers.values()),),
        notes=VERDICTS,
    )
    return [Table("statements", "statements", "Statements", columns, rows, stub=1), summary]


def simulated(scored: Sequence[Scored]) -> list[Table]:
    """Return statements that the simulation contradicts, or whose table differs, and the score."""
    shown = [one for one in scored if one.by_sentence == WRONG or one.by_table is not None]
    columns = (
        *(Column("statement", "statement", align="left"), Column("place", "place", align="left")),
        *(
            Column("cells", "own cells", align="left"),
            Column("simulated", "simulated", align="left"),
        ),
        *(Column("sentence", "by the sentence", align="left"),),
        Column("table", "by its own cells", align="left"),
        Column("example", "simulated: first failure", align="left"),
    )
    rows = tuple(
        (
            *(label(one.statement.says), label(one.statement.place), _verdict(one.published)),
            label(one.simulated.verdict if one.simulated else ""),
            *(label(one.by_sentence), label(one.by_table or "")),
            label(one.simulated.examples[0] if one.simulated and one.simulated.examples else ""),
        )
        for one in shown
    )
    numbers = counts(scored)
    names = list(next(iter(numbers.values())))
    summary = Table(
        id="statements-score",
        kind="statements",
        title=f"{len(scored)} statements, simulated",
        columns=(
            Column("scored", "scored", align="left"),
            *(Column(name.replace(" ", "_"), name) for name in names),
        ),
        rows=tuple(
            (label(side), *(plain(values[name]) for name in names))
            for side, values in numbers.items()
        ),
        notes=(
            "circular: its cells or its number were used to set values in the cluster file.",
            *_undecided(scored),
        ),
        stub=1,
    )
    title = (
        "Statements that the simulation contradicts, or that the paper's own cells do not support"
    )
    found = Table("statements-wrong", "statements", title, columns, rows, stub=1)
    return [*([found] if rows else []), summary]


def _undecided(scored: Sequence[Scored]) -> Iterator[str]:
    own = [one for one in scored if one.undecided and one.by_table is None]
    for why in dict.fromkeys(one.undecided for one in own):
        ids = [one.statement.id for one in own if one.undecided == why]
        yield f"Not decided ({len(ids)}), {why}: {', '.join(ids)}."


def _verdict(found: Assessment) -> Cell:
    decided = found.holds + found.fails
    return label(found.verdict if not decided else f"{found.verdict} ({found.holds} of {decided})")
