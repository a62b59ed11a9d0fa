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
from haloscope.topics.common.table import Cell, CellValue, Table

FAR = 1.5
"""FAR is the ratio of a simulated and a published value from which they disagree."""
SHOWN = 3
"""SHOWN is how many values of a table a finding names: those that differ most."""


def far_off(
    tables: Sequence[Table], cases: Sequence[MeasuredCase], context: Context
) -> Iterator[Finding]:
    """Yield the simulated values of each table that differ from published ones by a
    factor of FAR.
    """
    simulated = {case.id: case for case in cases if case.simulated}
    for table in tables:
        pairs = [pair for pair in beside(table) if {*pair[1].case.split()} & simulated.keys()]
        far = [pair for pair in pairs if abs(log(pair[3])) > log(FAR)]
        if far:
            ids = dict.fromkeys(one for _, cell, *_ in far for one in cell.case.split())
            far.sort(key=lambda pair: -abs(log(pair[3])))
            named = f"of {count(len(pairs), 'value')} with a published one are that far from it"
            yield made(
                context,
                [simulated[one] for one in ids if one in simulated],
                f"{table.title}, beyond {FAR}x of published values",
                FindingShape.PUBLISHED,
                [*(_claim(*pair) for pair in far[:SHOWN]), Claim({"name": f"{len(far)} {named}"})],
                topic=kinds.named(table.kind).topic,
                metric=Metric("value", ""),
                of=len(pairs),
            )


def beside(table: Table) -> Iterator[tuple[str, Cell, Cell, float]]:
    """Yield the place of a value with a published counterpart, both cells, and their ratio.

    A counterpart is in the cell, or in a column published_KEY. Incomparable ones are omitted.
    """
    column_of = {column.key: number for number, column in enumerate(table.columns)}
    for row in table.rows:
        name = ", ".join(cell.text for cell in row[: table.stub])
        for column, cell in zip(table.columns, row, strict=True):
            own = column_of.get(f"published_{column.key}")
            known = row[own].value if own is not None else cell.published_value
            text = row[own].text if own is not None else cell.published
            ours = cell.value
            if _is_positive(ours) and _is_positive(known) and not cell.unlike:
                yield f"{name}, {column.title}", cell, Cell(known, text), ours / known


def _is_positive(value: CellValue) -> TypeGuard[float]:
    return isinstance(value, int | float) and value > 0


def _claim(where: str, cell: Cell, known: Cell, ratio: float) -> Claim:
    assert isinstance(known.value, int | float)
    value = float(known.value)
    return Claim(
        {"name": where},
        ratio=Ratio.of(Estimate(ratio, None, None, 0, "none")),
        published=(Reference(value, f"{known.text} (simulated {cell.text})", value, value, ""),),
        verdict=Verdict.DISAGREES,
    )
