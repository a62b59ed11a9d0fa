"""Two sets of cases set against each other, case by case: before and after, here and there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from haloscope.comparison import Contrast, Measure, contrasts, measures
from haloscope.evidence import MeasuredCase, Setting, name_of
from haloscope.quantities import SECONDS, listed
from haloscope.tables.contrast import COLUMNS, cells, explain
from haloscope.tables.model import Cell, Column, Table, label
from haloscope.tables.notebook import Notebook, left_out

_COLUMNS = (
    Column("case", "case", align="left"),
    Column("first_time_s", "first", "time"),
    Column("second_time_s", "second", "time"),
    *COLUMNS,
)
_ELSEWHERE = ("runner",)
"""Settings that say where a case was run rather than what it is."""


@dataclass(frozen=True)
class Compared:
    """What came of it. table: None where no case is in both; the verdicts are those of its rows."""

    table: Table | None
    contrasts: tuple[Contrast, ...]
    notes: tuple[str, ...]


def compare_cases(
    first: Sequence[MeasuredCase], second: Sequence[MeasuredCase], seed: int = 0
) -> Compared:
    """Every case of the first set against the one of the same settings in the second.

    Where the two sets were each measured with one toolchain, and not with the same one, toolchains
    are what is compared: they need not be the same. Cases without a counterpart are named.
    """
    ignored = _ELSEWHERE + (("toolchain",) if _toolchain_differs(first, second) else ())
    counterparts = {_key(case, ignored): case for case in second}
    pairs = [
        (case, counterparts[key]) for case in first if (key := _key(case, ignored)) in counterparts
    ]
    paired = {id(case) for pair in pairs for case in pair}
    notes = [
        f"Only in the {which}: {name_of(case, [*first, *second])}."
        for which, cases in (("first", first), ("second", second))
        for case in cases
        if id(case) not in paired
    ]
    notes += [line for cases in (first, second) for line in left_out(cases, cases)]
    if ignored != _ELSEWHERE:
        names = [str(cases[0].settings.get("toolchain")) for cases in (first, second)]
        notes.insert(0, f"Toolchains compared: {names[0]} (first) and {names[1]} (second).")
    found = contrasts([pair for one, other in pairs for pair in _measures(one, other)], seed)
    table = _table(found, first) if found else None
    return Compared(table, tuple(found), tuple(dict.fromkeys(notes)))


def _toolchain_differs(first: Sequence[MeasuredCase], second: Sequence[MeasuredCase]) -> bool:
    """One toolchain in each set, and not the same one?"""
    names = [{case.settings.get("toolchain") for case in cases} for cases in (first, second)]
    return all(len(one) == 1 for one in names) and names[0] != names[1]


def _key(case: MeasuredCase, ignored: Sequence[str]) -> frozenset[tuple[str, Setting]]:
    return frozenset((name, v) for name, v in case.settings.items() if name not in ignored)


def _measures(first: MeasuredCase, second: MeasuredCase) -> list[tuple[Measure, Measure]]:
    """Their steps, or the points of a sweep that both have; without a good launch, the step."""
    theirs: Mapping[str, Measure] = {measure.what: measure for measure in measures(second)}
    common = [(own, theirs[own.what]) for own in measures(first) if own.what in theirs]
    return common or [(_step(first), _step(second))]


def _step(case: MeasuredCase) -> Measure:
    return Measure(case, "", tuple(case.times_s), case.time)


def _table(found: Sequence[Contrast], among: Sequence[MeasuredCase]) -> Table:
    shown = [case for one in found for case in (one.first.case, one.second.case)]
    notebook = Notebook([], shown)
    rows = tuple(_row(one, among, notebook) for one in found)
    explain(found, notebook)
    return Table(
        "compare", "compare", "First and second compared", _COLUMNS, rows, notebook.notes()
    )


def _row(one: Contrast, among: Sequence[MeasuredCase], notebook: Notebook) -> tuple[Cell, ...]:
    name = listed([text for text in (name_of(one.first.case, among), one.first.what) if text])
    return (
        label(name.replace(" and ", ", ")),
        notebook.estimate(one.first.time, one.first.case, SECONDS),
        notebook.estimate(one.second.time, one.second.case, SECONDS),
        *cells(one, notebook),
    )
