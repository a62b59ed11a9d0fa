# SPDX-License-Identifier: BSD-3-Clause
"""Prediction errors by settings, and notable groups."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.validation.residuals import (
    NODES,
    PROCESSES,
    Group,
    Residual,
    grouped,
    outstanding,
    varied,
)
from haloscope.quantities import error, seconds, signed
from haloscope.topics.common.table import Cell, Column, Table, label, missing, plain

MEANING = (
    "error: predicted / known - 1; negative means too fast.",
    "missing: known - predicted, per iteration or message, median.",
    "Cells that were used to set values in the cluster file are not included.",
)


def residual_tables(residuals: Sequence[Residual], of: str) -> list[Table]:
    """Return notable groups, then all residuals by each setting in which they differ,
    then by two.
    """
    tables = [_outstanding(residuals, of)] if residuals else []
    for group in varied(residuals):
        parts = grouped(residuals, group)
        name = f"residuals-{of}-{group.replace(' ', '-')}"
        columns = (Column("group", group, align="left"), *_COLUMNS)
        rows = tuple((label(one.names[0][1]), *_cells(one)) for one in parts)
        title = f"Residuals by {group}"
        tables.append(Table(name, "predicted", title, columns, rows, stub=1))
    if {NODES, PROCESSES} <= set(varied(residuals)):
        tables.append(_grid(residuals, of))
    return tables


_COLUMNS = (
    Column("number", "number"),
    Column("median", "median error"),
    Column("low", "lowest"),
    Column("high", "highest"),
    Column("missing_s", "missing"),
)


def _lost(one: Group) -> str:
    """Return the missing time with its sign; "" without one."""
    if one.missing_s is None:
        return ""
    return signed(f"{'-' if one.missing_s < 0 else '+'}{seconds(abs(one.missing_s))}")


def _cells(one: Group) -> tuple[Cell, ...]:
    errors = (plain(value, error(value, "+")) for value in (one.median, one.low, one.high))
    lost = missing() if one.missing_s is None else plain(one.missing_s, _lost(one))
    return (plain(one.number), *errors, lost)


def _outstanding(residuals: Sequence[Residual], of: str) -> Table:
    found = outstanding(residuals)
    none = [] if found else ["None: no group has large errors of one sign."]
    return Table(
        id=f"residuals-{of}",
        kind="predicted",
        title="Outliers among the residuals",
        columns=(Column("where", "where", align="left"), *_COLUMNS),
        rows=tuple(
            (label(", ".join(f"{group}: {name}" for group, name in one.names)), *_cells(one))
            for one in found
        ),
        notes=(*none, *MEANING),
        stub=1,
    )


def _grid(residuals: Sequence[Residual], of: str) -> Table:
    """Return median error and missing time by processes per node (rows) and nodes (columns)."""
    across = [one.names[0][1] for one in grouped(residuals, NODES)]
    down = [one.names[0][1] for one in grouped(residuals, PROCESSES)]
    found = {
        (one.names[0][1], one.names[1][1]): one for one in grouped(residuals, PROCESSES, NODES)
    }
    return Table(
        id=f"residuals-{of}-grid",
        kind="predicted",
        title="Median error, and missing time, by processes per node and nodes",
        columns=(
            Column("processes", "processes per node", align="left"),
            *(Column(f"error_{name.replace(' ', '_')}", name) for name in across),
        ),
        rows=tuple(
            (label(name), *(_both(found.get((name, nodes))) for nodes in across)) for name in down
        ),
        stub=1,
    )


def _both(one: Group | None) -> Cell:
    if one is None:
        return missing("")
    lost = f" ({_lost(one)})" if one.missing_s is not None else ""
    return plain(one.median, f"{error(one.median)}{lost}")
