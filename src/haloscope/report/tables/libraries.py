# SPDX-License-Identifier: BSD-3-Clause
"""MPI libraries, transports, and placements, compared by size with a test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.comparison import Contrast, contrasts
from haloscope.analysis.context import Context
from haloscope.analysis.fits import exchanges
from haloscope.analysis.message_races import message_races, one_way, seldom_of
from haloscope.analysis.races import Race
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.quantities import SECONDS, count, size
from haloscope.report.tables.contrast import COLUMNS, cells, explain
from haloscope.report.tables.model import Cell, Column, Table, label
from haloscope.report.tables.notebook import Notebook
from haloscope.study.settings import describe, varying

PLACES = ("placement", "nodes", "ppn", "places")
"""PLACES are the settings that say where the two ranks are."""
SIZES = (8, 1 << 10, 1 << 16, 1 << 20)
"""SIZES are the sizes that are shown: a message of each kind that is sent differently."""


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Of each placement the fastest library against the others, then of each library placements."""
    raced = message_races(cases, context.seed)
    found = [_of_races(part, races, context) for part, races in raced]
    own = [case for case in cases if exchanges(case) and case.launches]
    placed = [part for part in facets(own, PLACES) if len(part.cases) > 1]
    return [table for table in (*found, *(_of_places(part, context) for part in placed)) if table]


def _of_races(part: Facet, races: Mapping[int, Race[str]], context: Context) -> Table | None:
    """The races at a few sizes, whose tests are those of all sizes."""
    notebook = Notebook(part.cases, context.all_cases)
    shown = {at: races[at] for at in SIZES if at in races}
    rows = tuple(row for at, race in shown.items() for row in _raced(at, race, notebook))
    explain([contrast for race in shown.values() for contrast in race.against.values()], notebook)
    if len(shown) < len(races):
        notebook.note(f"Shown are {len(shown)} of {count(len(races), 'size')}, tested together.")
    if seldom := seldom_of(part):
        notebook.note(f"Not in it, launched too seldom for a test: {'; '.join(seldom)}.")
    columns = (
        Column("size", "message", align="left"),
        Column("fastest", "lowest median", align="left"),
        Column("fastest_s", "its time"),
        Column("setting", "against", align="left"),
        Column("time_s", "its time"),
        *COLUMNS,
    )
    title = context.title("Half round trip: the fastest against each other", part.label)
    return _table(title, columns, rows, notebook)


def _raced(at: int, race: Race[str], notebook: Notebook) -> Iterator[tuple[Cell, ...]]:
    for other, contrast in race.against.items():
        yield (
            label(size(at), at),
            label(race.best),
            notebook.estimate(contrast.second.time, contrast.second.case, SECONDS),
            label(other),
            notebook.estimate(contrast.first.time, contrast.first.case, SECONDS),
            *cells(contrast, notebook),
        )


def _of_places(part: Facet, context: Context) -> Table | None:
    """All placements of a library against its first."""
    first, *others = part.cases
    pairs = [
        (one_way(first, a), one_way(other, b)) for other in others for a, b in _shared(first, other)
    ]
    found = contrasts(pairs, context.seed)
    notebook = Notebook(part.cases, context.all_cases)
    apart = varying([case.settings for case in part.cases])
    rows = tuple(
        _placed(at, describe(contrast.second.case.settings, apart), contrast, notebook)
        for (at, contrast) in zip(_sizes(first, others), found, strict=True)
    )
    explain(found, notebook)
    reference = describe(first.settings, apart)
    columns = (
        Column("setting", "setting", align="left"),
        Column("size", "message", align="left"),
        Column("reference_s", reference),
        Column("time_s", "this one"),
        *COLUMNS,
    )
    title = context.title(f"Half round trip against {reference}", part.label)
    return _table(title, columns, rows, notebook)


def _placed(at: int, name: str, contrast: Contrast, notebook: Notebook) -> tuple[Cell, ...]:
    return (
        label(name),
        label(size(at), at),
        notebook.estimate(contrast.first.time, contrast.first.case, SECONDS),
        notebook.estimate(contrast.second.time, contrast.second.case, SECONDS),
        *cells(contrast, notebook),
    )


def _sizes(first: MeasuredCase, others: Sequence[MeasuredCase]) -> list[int]:
    return [point.size_bytes for other in others for point, _ in _shared(first, other)]


def _shared(first: MeasuredCase, other: MeasuredCase) -> list[tuple[Swept, Swept]]:
    """The points at a few sizes that both have."""
    at = {point.size_bytes: point for point in sweep(other)}
    return [
        (p, at[p.size_bytes]) for p in sweep(first) if p.size_bytes in SIZES and p.size_bytes in at
    ]


def _table(
    title: str, columns: tuple[Column, ...], rows: tuple[tuple[Cell, ...], ...], notebook: Notebook
) -> Table | None:
    """None where no size is shown that both have."""
    if not rows:
        return None
    return Table("libraries", "libraries", title, columns, rows, notebook.notes(), 2)
