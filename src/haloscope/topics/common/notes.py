# SPDX-License-Identifier: BSD-3-Clause
"""Which notes stand below each table or figure, and which stand once for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from haloscope.quantities import listed
from haloscope.topics.common.notebook import (
    EMULATED,
    FITTED,
    LAUNCHES_MISSING,
    ONE_ALLOCATION,
    OVERSUBSCRIBED,
    SIMULATED,
    VERIFIED,
)
from haloscope.topics.common.table import Table
from haloscope.topics.common.words import RANGE

_MARKS = (OVERSUBSCRIBED, EMULATED, SIMULATED, VERIFIED, FITTED, LAUNCHES_MISSING)
_SPREADS = ("[a, b]: ", "a … b: ", "(a … b): ", "A value without ", "A percentile without ")
_RATIOS = ("ratio: ", f"a{RANGE}b: ", "The speedup is ", "Test for p: ", "An interval may ")
NOTES = 3
"""NOTES is the maximum number of notes below a table or figure; the others stand once, apart."""


def explains_marks(note: str) -> bool:
    """Return whether a note explains marks, spreads, ratios, or tests, as in any table."""
    return note == ONE_ALLOCATION or note.startswith(
        (*(f"{mark} " for mark in _MARKS), *_SPREADS, *_RATIOS)
    )


def own_notes(several: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the notes to show below each item: at most three, which no other item has."""
    number_of = Counter(note for notes in several for note in dict.fromkeys(notes))
    return [
        [
            note
            for note in dict.fromkeys(notes)
            if number_of[note] == 1 and not explains_marks(note)
        ][:NOTES]
        for notes in several
    ]


def other_notes(several: Sequence[Sequence[str]]) -> dict[str, list[int]]:
    """Return all other notes, each with the indices of its items, and marks first."""
    having: dict[str, list[int]] = {}
    for index, (notes, own) in enumerate(zip(several, own_notes(several), strict=True)):
        for note in dict.fromkeys(notes):
            if note not in own:
                having.setdefault(note, []).append(index)
    return {note: having[note] for note in sorted(having, key=lambda one: not explains_marks(one))}


def placed(note: str, where: str) -> str:
    """Return a note with the tables and figures to which it applies: "... (Tables 1 to 3)."."""
    if note.endswith(")."):  # no second pair of brackets
        return f"{note} ({where})"
    return f"{note.removesuffix('.')} ({where}){'.' * note.endswith('.')}"


def common_notes(tables: Sequence[Table], *, ids: bool = False) -> list[str]:
    """Return all other notes of tables, each with the titles of its tables, unless all have it.

    ids: the tables are shown with their ids, which are shorter than titles.
    """
    return [
        note
        if len(having) == len(tables)
        else placed(note, _names([tables[k] for k in having], ids=ids))
        for note, having in other_notes([table.notes for table in tables]).items()
    ]


def _names(tables: Sequence[Table], *, ids: bool) -> str:
    return listed([one.id for one in tables]) if ids else "; ".join(one.title for one in tables)
