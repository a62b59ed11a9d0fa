# SPDX-License-Identifier: BSD-3-Clause
"""Simulated values that differ much from published ones in the same table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log
from typing import TypeGuard

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.validation.published import Reference
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric, Ratio, Verdict
from haloscope.quantities import count
from haloscope.stats.estimates import Estimate
from haloscope.study import kinds
from haloscope.topics.common.making import made
from haloscope.topics.common.table import Cell, CellValue, Column, Table

FAR = 1.5
"""FAR is the ratio of a simulated and a published value from which they disagree."""


def far_off(
    tables: Sequence[Table], cases: Sequence[MeasuredCase], context: Context
) -> Iterator[Finding]:
    """Yield for each table how many simulated values differ from published ones by a factor of
    FAR, and the one that differs most.
    """
    simulated = {case.id: case for case in cases if case.simulated}
    for table in tables:
        pairs = [pair for pair in beside(table) if {*pair[1].case.split()} & simulated.keys()]
        far = [pair for pair in pairs if _distance(pair) > log(FAR)]
        if far:
            ids = dict.fromkeys(one for _, cell, *_ in pairs for one in cell.case.split())
            name = f"{len(far)} of {count(len(pairs), 'value')} differ by more than {FAR}x"
            yield made(
                context,
                [simulated[one] for one in ids if one in simulated],
                f"{table.title.partition(', ')[0]}, simulated and published",
                FindingShape.PUBLISHED,
                [Claim({"name": name}, count=len(far)), _claim(*max(far, key=_distance))],
                topic=kinds.named(table.kind).topic,
                kind=f"far_off.{table.kind}",
                metric=Metric("value", ""),
                of=len(pairs),
            )


Beside = tuple[str, Cell, Cell, float]
"""Beside is the place of a value with a published counterpart, both cells, and their ratio."""


def _distance(pair: Beside) -> float:
    return abs(log(pair[3]))


def beside(table: Table) -> Iterator[Beside]:
    """Yield the values of a table that have a published counterpart.

    A counterpart is in the cell, or in a column published_KEY. Incomparable ones are omitted.
    """
    column_of = {column.key: number for number, column in enumerate(table.columns)}
    names = [""] * table.stub
    for row in table.rows:
        # A row that continues the one above has an empty name.
        own_names = map(_named, table.columns[: table.stub], row[: table.stub])
        names = [own or above for own, above in zip(own_names, names, strict=True)]
        for column, cell in zip(table.columns, row, strict=True):
            at = column_of.get(f"published_{column.key}")
            known = row[at].value if at is not None else cell.published_value
            text = row[at].text if at is not None else cell.published
            ours = cell.value
            if _is_positive(ours) and _is_positive(known) and not cell.unlike:
                where = ", ".join([*filter(None, names), column.title])
                yield where, cell, Cell(known, text), ours / known


def _named(column: Column, cell: Cell) -> str:
    return f"{column.title} = {cell.text}" if cell.text.isdigit() else cell.text


def _is_positive(value: CellValue) -> TypeGuard[float]:
    return isinstance(value, int | float) and value > 0


def _claim(where: str, cell: Cell, known: Cell, ratio: float) -> Claim:
    assert isinstance(known.value, int | float)
    value = float(known.value)
    return Claim(
        {"name": f"largest difference at {where}: simulated {cell.text}"},
        ratio=Ratio.of(Estimate.alone(ratio)),
        published=(Reference(value, known.text, value, value, ""),),
        verdict=Verdict.DISAGREES,
    )
