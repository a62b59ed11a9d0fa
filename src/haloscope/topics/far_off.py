# SPDX-License-Identifier: BSD-3-Clause
"""Simulated values that differ much from published ones in the same table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import median
from typing import TypeGuard

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.validation.bands import FAR, Basis, ErrorBand, reported
from haloscope.analysis.validation.published import Reference
from haloscope.findings.finding import (
    Claim,
    Finding,
    FindingShape,
    Metric,
    Prominence,
    Ratio,
    Verdict,
)
from haloscope.stats.estimates import Estimate
from haloscope.study import kinds
from haloscope.topics.common.making import in_common, made
from haloscope.topics.common.table import Cell, CellValue, Column, Table

_HIGHER = ("mlups", "rate", "_per_s")
_DERIVED = ("speedup", "efficiency")
"""_DERIVED are ends of the keys of columns that follow from times."""
_TIME = re.compile(r"(?<!per)_s(_\d+)?$")
_NUMBER = re.compile(r"\d[\d,]*(?:\.(\d+))?(?:e([-+]?\d+))?")


@dataclass(frozen=True)
class PublishedPair:
    """A value of a table with its published counterpart.

    low, high: range of published values with the same print.
    """

    cell: Cell
    column: Column
    published: float
    text: str
    low: float
    high: float

    @property
    def value(self) -> float:
        """The value of this project."""
        assert isinstance(self.cell.value, int | float)
        return float(self.cell.value)

    @property
    def over(self) -> float:
        """Value over the nearest published one with the same print; 1 if it is in their range."""
        return self.value / min(max(self.value, self.low), self.high)

    @property
    def metric(self) -> Metric:
        """What is compared: times have the unit "s"."""
        if self.is_time:
            return Metric("time")
        better = "higher" if self.column.key.endswith(_HIGHER) else "lower"
        return Metric(self.column.key.replace("_", " "), "", better)

    @property
    def is_time(self) -> bool:
        """Whether it is a time in seconds, and not a ratio or a number of iterations."""
        return bool(_TIME.search(self.column.key))

    @property
    def better(self) -> float:
        """How many times as good as the published value the value is."""
        return self.over if self.metric.better == "higher" else 1 / self.over


def far_off(
    tables: Sequence[Table], cases: Sequence[MeasuredCase], context: Context
) -> Iterator[Finding]:
    """Yield for each table how many simulated values differ from published ones by a factor of
    FAR, and the one that differs most; the most frequent one of a kernel is a warning if the
    kernel's error is that large.
    """
    found = [*_far_off(tables, cases, context)]
    worst: dict[str, Finding] = {}
    for one in (one for one in found if one.severity is Prominence.WARNING):
        kernel = str(one.common.get("kernel", ""))
        worst[kernel] = max(one, worst.get(kernel, one), key=lambda each: each.parts[0].count or 0)
    for one in found:
        shown = any(one is each for each in worst.values())
        yield one if shown else replace(one, severity=Prominence.DETAIL)


def _far_off(
    tables: Sequence[Table], cases: Sequence[MeasuredCase], context: Context
) -> Iterator[Finding]:
    simulated = {case.id: case for case in cases if case.simulated}
    for table in tables:
        pairs = [pair for pair in beside(table) if {*pair.cell.case.split()} & simulated.keys()]
        for metric in dict.fromkeys(pair.metric for pair in pairs):
            own = [pair for pair in pairs if pair.metric == metric]
            far = [pair for pair in own if abs(log(pair.over)) > log(FAR)]
            if far:
                yield _finding(table, metric, far, len(own), simulated, context)


def contradicted(
    tables: Sequence[Table], cases: Sequence[MeasuredCase]
) -> list[MeasuredCase] | None:
    """Return the cases with the errors by published values in these tables; None if these do not
    contradict the known errors. Variants without published values have the errors of others.
    """
    errors = _contradicting(tables, cases)
    of_kernel: dict[tuple[str, str], ErrorBand] = {}
    for case in (case for case in cases if name_in(case) in errors):
        cluster, name = name_in(case)
        other = replace(errors[cluster, name], basis=Basis.VARIANT, of=f"{name} on {cluster}")
        kernel = (cluster, case.kernel)
        of_kernel[kernel] = max(other, of_kernel.get(kernel, other), key=lambda one: one.factor)

    def error(case: MeasuredCase) -> ErrorBand | None:
        if case.subject is None or case.band is None or name_in(case) in errors:
            return errors.get(name_in(case))
        other = of_kernel.get((case.subject.cluster, case.kernel))
        wider = other and not case.band.compared and other.factor > case.band.factor
        return other if wider else None

    return [replace(case, reported=error(case)) for case in cases] if errors else None


def _contradicting(
    tables: Sequence[Table], cases: Sequence[MeasuredCase]
) -> dict[tuple[str, str], ErrorBand]:
    simulated = {case.id: case for case in cases if case.simulated}
    found: dict[tuple[str, str], dict[tuple[str, float, float], float]] = {}
    bands: dict[tuple[str, str], ErrorBand] = {}
    for pair in (pair for table in tables for pair in beside(table)):
        case = simulated.get(pair.cell.case)
        if case is None or case.band is None or not pair.is_time:
            continue
        name = name_in(case)
        widest = bands.setdefault(name, case.band)
        bands[name] = max(widest, case.band, key=lambda band: band.factor)
        found.setdefault(name, {})[case.id, pair.published, pair.value] = abs(log(pair.over))
    wider = {name: reported([*own.values()], bands[name]) for name, own in found.items()}
    return {name: band for name, band in wider.items() if band}


def name_in(case: MeasuredCase) -> tuple[str, str]:
    """Return the cluster, and the kernel and variant, of a simulated case; blanks if measured."""
    return (case.subject.cluster, case.subject.name) if case.subject else ("", "")


def _finding(
    table: Table,
    metric: Metric,
    far: Sequence[PublishedPair],
    of: int,
    simulated: Mapping[str, MeasuredCase],
    context: Context,
) -> Finding:
    far = sorted(far, key=lambda pair: -abs(log(pair.over)))
    ids = dict.fromkeys(one for pair in far for one in pair.cell.case.split())
    cases = [simulated[one] for one in ids if one in simulated]
    better = [pair.better for pair in far]
    largest = Estimate.alone(better[0])
    ratio = Ratio(largest, min(better), max(better), median(better))
    counted = Claim(count=len(far), ratio=ratio, verdict=Verdict.DISAGREES)
    largest_off = _claim(far[0], cases, simulated, context)
    topic = kinds.named(table.kind).topic
    found = made(
        context,
        cases,
        f"{kinds.TOPICS[topic]}, simulated and published",
        FindingShape.PUBLISHED,
        [counted, largest_off],
        topic=topic,
        kind=f"far_off.{table.kind}",
        metric=metric,
        of=of,
    )
    bands = [case.band for case in cases if case.band and metric.unit == "s"]
    is_off = any(band.factor >= FAR for band in bands)
    return replace(found, severity=Prominence.WARNING) if is_off else found


def beside(table: Table) -> Iterator[PublishedPair]:
    """Yield the values with a published counterpart; incomparable ones are omitted.

    A counterpart is in the cell, or in a column published_KEY.
    """
    column_of = {column.key: number for number, column in enumerate(table.columns)}
    for row in table.rows:
        for column, cell in zip(table.columns, row, strict=True):
            own = column_of.get(f"published_{column.key}")
            known = row[own].value if own is not None else cell.published_value
            text = row[own].text if own is not None else cell.published
            derived = column.key.endswith(_DERIVED)
            if not derived and _is_positive(cell.value) and _is_positive(known) and not cell.unlike:
                low, high = cell.published_ends or (known, known)
                if own is not None or low == high:
                    low, high = _printed(float(known), text)
                yield PublishedPair(cell, column, float(known), text, low, high)


def _printed(value: float, text: str) -> tuple[float, float]:
    """Return the range of values with the same print: "0.34 µs" is 0.335 to 0.345."""
    found = _NUMBER.search(text)
    number = float(found[0].replace(",", "")) if found else 0.0
    if found is None or not number:
        return value, value
    half = 0.5 * 10.0 ** (int(found[2] or 0) - len(found[1] or "")) * value / number
    return value - half, value + half


def _is_positive(value: CellValue) -> TypeGuard[float]:
    return isinstance(value, int | float) and value > 0


def _claim(
    pair: PublishedPair,
    cases: Sequence[MeasuredCase],
    simulated: Mapping[str, MeasuredCase],
    context: Context,
) -> Claim:
    own = [simulated[one] for one in pair.cell.case.split() if one in simulated]
    common = in_common(cases, context.all_cases)
    settings = in_common(own, context.all_cases)
    band = own[0].band.factor if own and own[0].band else None
    return Claim(
        {name: value for name, value in settings.items() if name not in common},
        estimate=Estimate(pair.value, None, None, 1, "simulated", band=band),
        ratio=Ratio.of(Estimate.alone(pair.better)),
        published=(Reference(pair.published, pair.text, pair.low, pair.high, ""),),
        verdict=Verdict.DISAGREES,
    )
