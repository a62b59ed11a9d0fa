# SPDX-License-Identifier: BSD-3-Clause
"""Results of external programs: values, tables, and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from haloscope.analysis.cases import MeasuredCase, label_of
from haloscope.analysis.comparison import (
    FEW_ALLOCATIONS,
    UNDECIDED,
    UNTESTABLE,
    Contrast,
    Measure,
    TestVerdict,
    contrasts,
)
from haloscope.analysis.context import Context
from haloscope.analysis.facets import Facet, facets_of_kernels, labelled
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.grouped import grouped
from haloscope.quantities import BYTES_PER_SECOND, SCALES, SECONDS, Scale, capitalised, seconds
from haloscope.records.points import size_in
from haloscope.stats.estimates import Estimate
from haloscope.study.kinds import without_kind
from haloscope.topics.common.figure import Axis, Curve, Figure, Lines, bars, mark, size_ticks
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import Cell, Column, Table, label, missing, plain
from haloscope.topics.common.words import clock

ResultVerdict = Literal[
    "higher",
    "lower",
    "the same",
    "different",
    "no difference shown",
    "too few launches",
    "undecided: one allocation each",
    "undecided: too few allocations",
    "absent",
    "new",
]
_NAMES: Mapping[TestVerdict, ResultVerdict] = {
    "faster": "lower",
    "slower": "higher",
    "equal": "the same",
    "no difference shown": "no difference shown",
    UNTESTABLE: "too few launches",
    UNDECIDED: UNDECIDED,
    FEW_ALLOCATIONS: FEW_ALLOCATIONS,
}
UNPAIRED = ("absent", "new")
"""UNPAIRED are the verdicts on a result that only the first or only the second side printed."""


@dataclass(frozen=True)
class ResultContrast:
    """A result of a case in a second folder compared with the first.

    contrast: the test of numbers; None for texts and lists, for numbers that are all equal, and if
    one side did not print the result.
    """

    name: str
    first: MeasuredCase
    second: MeasuredCase
    verdict: ResultVerdict
    contrast: Contrast | None = None

    @property
    def adjusted(self) -> float | None:
        """The p-value after Holm's correction; None without a test."""
        return self.contrast.adjusted if self.contrast else None


def results_compared(
    pairs: Sequence[tuple[MeasuredCase, MeasuredCase]], seed: int = 0
) -> list[ResultContrast]:
    """Compare every result of external programs: numbers by a test, corrected for their number."""
    own = [
        ResultContrast(name, one, other, _equality(one, other, name))
        for one, other in pairs
        if one.external and one.launches and other.launches
        for name in names([one, other])
        if printed(one, name) or printed(other, name)
    ]
    tested = [
        one
        for one in own
        if one.verdict == "different"
        and _are_numbers([*printed(one.first, one.name), *printed(one.second, one.name)])
    ]
    made = contrasts(
        [(_measure(one.first, one.name), _measure(one.second, one.name)) for one in tested],
        seed,
        apart=True,
    )
    found = {id(one): contrast for one, contrast in zip(tested, made, strict=True)}
    return [
        replace(one, verdict=_NAMES[contrast.verdict], contrast=contrast)
        if (contrast := found.get(id(one)))
        else one
        for one in own
    ]


def _equality(first: MeasuredCase, second: MeasuredCase, name: str) -> ResultVerdict:
    mine, theirs = (
        [tuple(value) if isinstance(value, list) else value for value in printed(case, name)]
        for case in (first, second)
    )
    if not mine or not theirs:
        return "absent" if mine else "new"
    if _are_numbers((*mine, *theirs)):
        return "the same" if len({*mine, *theirs}) == 1 else "different"
    everywhere = len(mine) == len(first.launches), len(theirs) == len(second.launches)
    alike = {*mine} == {*theirs} and everywhere[0] == everywhere[1]
    return "the same" if alike else "different"


def _are_numbers(values: Sequence[object]) -> bool:
    return all(isinstance(value, int | float) for value in values)


def _measure(case: MeasuredCase, name: str) -> Measure:
    of = tuple(
        place
        for place, record in enumerate(case.launches)
        if isinstance(record.result.get(name), int | float)
    )
    sample = tuple(number_of(case, name))
    return Measure(case, name, sample, case.estimate(sample, of=of), of=of)


def names(cases: Sequence[MeasuredCase]) -> list[str]:
    """Return the names of all results, in the order of their program's file."""
    return list(
        dict.fromkeys(name for case in cases for record in case.launches for name in record.result)
    )


def number_of(case: MeasuredCase, name: str) -> list[float]:
    """Return a result that is one number, of each good launch that printed it."""
    found = (record.result.get(name) for record in case.launches)
    return [float(value) for value in found if isinstance(value, int | float)]


def printed(case: MeasuredCase, name: str) -> list[Any]:
    """Return a result as printed by the good launches."""
    found = (record.result.get(name) for record in case.launches)
    return [value for value in found if value not in (None, [])]


def texts_of(case: MeasuredCase, name: str, digits: int = 6) -> list[str]:
    """Return a result that is not a single number, in words: each different one once."""
    return list(dict.fromkeys(_in_words(value, digits) for value in printed(case, name)))


def _in_words(value: object, digits: int) -> str:
    if isinstance(value, list):
        return " ".join(f"{one:.{digits}g}" for one in value)
    return str(value)


def scale(case: MeasuredCase, name: str) -> Scale:
    """Return the unit of a result, as declared in its program's file."""
    unit = case.unit(name)
    return SCALES.get(unit, ((1.0, unit),))


def results_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Results of external programs and of kernels without a table, in their declared units."""
    own = [case for case in cases if case.external or without_kind(case.kernel)]
    parts = grouped(own, lambda case: case.kernel).values()
    return [_result_table(part, context) for part in parts if names(part)]


def _result_table(cases: Sequence[MeasuredCase], context: Context) -> Table:
    notebook = Notebook(cases, context.all_cases)
    found = names(cases)
    rows = tuple(
        (
            label(label_of(case, cases), case=case.id),
            *(_cell(case, name, notebook) for name in found),
        )
        for case in cases
    )
    return notebook.table(
        "results",
        context.title(f"Results of {cases[0].kernel}"),
        (
            Column("case", "case", align="left"),
            *(Column(name, name.replace("_", " ")) for name in found),
        ),
        rows,
    )


def _cell(case: MeasuredCase, name: str, notebook: Notebook) -> Cell:
    if not case.launches:
        return notebook.absent(case)
    if sample := number_of(case, name):
        return notebook.estimate(case.estimate(sample), case, scale(case, name))
    return plain("; ".join(texts_of(case, name)) or None, "; ".join(texts_of(case, name)) or "–")


def points_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Sweeps of external programs: time and bandwidth by size, as printed."""
    own = [case for case in cases if case.external and sweep(case)]
    return [_point_table(part, context) for part in facets_of_kernels(own, ())]


def _point_table(part: Facet, context: Context) -> Table:
    (case,) = part.cases
    notebook = Notebook(part.cases, context.all_cases)
    at = {(point.operation, point.size_bytes): point for point in sweep(case)}
    operations = list(dict.fromkeys(operation for operation, _ in at))

    good = len(case.launches)
    complete = all(len({*point.of}) == good for point in at.values())

    def cells(operation: str | None, bytes_: int) -> tuple[Cell, Cell, Cell]:
        point = at.get((operation, bytes_))
        if point is None:
            return missing(), missing(), plain(0)
        speed = notebook.estimate(point.rate, case, BYTES_PER_SECOND) if point.bytes else missing()
        own = len({*point.of})
        launches = Cell(own, f"{own} of {good}", tone="" if own == good else "warning")
        return notebook.estimate(point.time, case, SECONDS), speed, launches

    rows = tuple(
        (
            label(size_in(bytes_, case.size_unit), bytes_, case.id),
            *(cell for operation in operations for cell in cells(operation, bytes_)),
        )
        for bytes_ in sorted({bytes_ for _, bytes_ in at})
    )
    return notebook.table(
        "points",
        context.title(f"{case.kernel} by size", part.label.removeprefix(case.kernel)),
        (
            Column("size_bytes" if case.size_unit == "B" else "size", "size", align="left"),
            *(column for operation in operations for column in _columns(operation, complete)),
        ),
        rows,
    )


def _columns(operation: str | None, complete: bool) -> tuple[Column, Column, Column]:
    """Return the columns time, bandwidth, and launches of an operation; a single one has no name.

    complete: whether all launches have all points.
    """
    name = operation or ""
    before = f"{name}_" if name else ""
    return (
        Column(f"{before}time_s", "time", name),
        Column(f"{before}bandwidth_bytes_per_s", "bandwidth", name),
        Column(f"{before}launches", "launches", name, only_csv=complete),
    )


def points_figures(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """Sweeps of external programs: time by size, one panel per operation, and one bandwidth panel.

    A figure a program, a curve a case; sizes of 0 bytes are in the table alone.
    """
    own = [case for case in cases if case.external and _points(case)]
    kinds = grouped(own, lambda case: (case.kernel, case.size_unit))
    return [_figure(alike, context) for alike in kinds.values()]


def _sizes(sizes: Sequence[float], unit: str) -> Axis:
    if unit == "B":
        return Axis("size", "log2", size_ticks(sizes))
    ticks = tuple((at, f"{at:,.0f}") for at, _ in size_ticks(sizes))
    return Axis(f"size ({unit})", "log2", ticks)


def _points(case: MeasuredCase) -> list[Swept]:
    return [point for point in sweep(case) if point.size_bytes]


def _figure(cases: Sequence[MeasuredCase], context: Context) -> Figure:
    names = labelled(cases)
    operations = list(dict.fromkeys(p.operation for case in cases for p in _points(case)))
    panels = [
        _panel("time", operation, names, Axis("time (µs)", "log"), lambda p: p.time.times(1e6))
        for operation in operations
    ]
    if len(operations) == 1 and cases[0].size_unit == "B":
        speed = Axis("bandwidth (GB/s)", "log")
        panels.append(
            _panel("bandwidth", operations[0], names, speed, lambda p: p.rate.times(1e-9))
        )
    return Figure(
        kind="points",
        title=context.title(f"{cases[0].kernel} by size"),
        panels=tuple(panels),
        alt=" ".join(panel.alt for panel in panels[: len(operations)]),
        notes=bars(cases, panels),
    )


def _panel(
    what: str,
    operation: str | None,
    names: Mapping[MeasuredCase, str],
    y: Axis,
    of: Callable[[Swept], Estimate],
) -> Lines:
    own = {
        name: [p for p in _points(case) if p.operation == operation] for case, name in names.items()
    }
    sizes = [float(point.size_bytes) for points in own.values() for point in points]
    cases = [*names]
    return Lines(
        f"{what}-{operation}" if operation else what,
        operation or capitalised(what),
        _sizes(sizes, cases[0].size_unit),
        y,
        tuple(
            Curve(name or clock(cases), tuple(mark(p.size_bytes, of(p)) for p in points))
            for name, points in own.items()
            if points
        ),
        alt=_longest(own, operation, cases[0].size_unit),
    )


def _longest(own: dict[str, list[Swept]], operation: str | None, unit: str) -> str:
    name, most = max(
        ((name, point) for name, points in own.items() for point in points),
        key=lambda one: one[1].time.value,
    )
    of = "".join(f", {word}" for word in (operation, name) if word)
    return f"Longest: {size_in(most.size_bytes, unit)} take {seconds(most.time.value)}{of}."
