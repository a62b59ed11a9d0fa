# SPDX-License-Identifier: BSD-3-Clause
"""Rate of Jacobi sweeps by ranks and grid: models, measured values, and published values.

The form of tables IV to XI of the ORFEO report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.models.jacobi import exchanged
from haloscope.papers.file import PublishedValue
from haloscope.quantities import capitalised, error, number, percent
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import Cell, Column, Table, label, missing, plain, shown
from haloscope.topics.common.words import clock
from haloscope.topics.jacobi import (
    JacobiCase,
    JacobiScaling,
    published,
    root_mean_square,
    scalings,
)


def _columns(known: str) -> tuple[Column, ...]:
    return (
        Column("ranks", "N", align="left"),
        Column("grid", "grid", align="left"),
        Column("neighbours", "k"),
        Column("volume_mb", "c (MB)"),
        Column("textbook_mlups", "MLUP/s", "textbook model"),
        Column("textbook_ratio", "N P₁ / P", "textbook model"),
        Column("detailed_mlups", "MLUP/s", "detailed model"),
        Column("detailed_error", "error of", "detailed model"),
        Column("mlups", "MLUP/s", known),
        Column("ratio", "N P₁ / P", known),
        Column("published_model_mlups", "textbook model", "published (MLUP/s)"),
        Column("published_mlups", "measured", "published (MLUP/s)"),
        Column("published_ratio", "N P₁ / P", "published (MLUP/s)"),
    )


def jacobi_tables(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """Rate of Jacobi sweeps by ranks and grid: models, measured values, and published values."""
    return [_table(one, context) for one in scalings(cases, context.all_cases)]


_MEASURED = (
    "Models use one rank's sweep, messages between two ranks, and memory bandwidth, all "
    "measured here."
)
_SHARED = (
    "Models use rates from the same simulation, so their agreement says nothing about the real "
    "machine."
)


def _table(scaling: JacobiScaling, context: Context) -> Table:
    own = [one.case for one in scaling.swept]
    notebook = Notebook(own, context.all_cases)
    rows = tuple(_row(scaling, one, notebook, context) for one in scaling.swept)
    for name, model in scaling.models.items():
        errors = scaling.errors(name)
        ranks = sorted({one.sweep.ranks for one in errors})
        over = f"{ranks[0]} to {ranks[-1]}" if len(ranks) > 1 else f"{ranks[0]}"
        rms = percent(root_mean_square(errors.values()))
        notebook.note(
            f"{name} model: error {rms} (root mean square) over {over} ranks; {model.source}."
        )
    if scaling.models:
        notebook.note(_SHARED if clock(own) == "simulated" else _MEASURED)
    for why in scaling.lacking:
        notebook.note(f"{capitalised(why)}.")
    if any(row[-2].value is not None for row in rows):
        notebook.note(
            "Published values: the report's own, different program on its own cluster, with 1200³ "
            "points per rank."
        )
    return notebook.table(
        "jacobi",
        context.title("Jacobi by ranks and grid", scaling.part.label),
        _columns(clock(own)),
        rows,
        stub=2,
    )


def _row(
    scaling: JacobiScaling, one: JacobiCase, notebook: Notebook, context: Context
) -> tuple[Cell, ...]:
    sweep = one.sweep
    traffic = exchanged(sweep.box, sweep.grid, sweep.value_bytes)
    nodes = f" on {sweep.nodes} nodes" if sweep.nodes > 1 else ""
    textbook, detailed = (scaling.predicted(name, one) for name in ("textbook", "detailed"))
    measured = notebook.estimate(one.rate.times(1e-6), one.case)
    off = None if detailed is None else detailed / one.rate.value - 1
    return (
        label(f"{sweep.ranks}{nodes}", sweep.ranks),
        label(" × ".join(map(str, sweep.grid)), "x".join(map(str, sweep.grid))),
        plain(traffic.faces),
        shown(traffic.bytes / 1e6, number),
        _rate(textbook),
        _ratio(scaling, one, textbook),
        _rate(detailed),
        shown(off, error),
        measured,
        _ratio(scaling, one, one.rate.value),
        *_published(published(one, context.library)),
    )


def _rate(value: float | None) -> Cell:
    return shown(value and value / 1e6, number)


def _ratio(scaling: JacobiScaling, one: JacobiCase, value: float | None) -> Cell:
    if scaling.alone is None or value is None:
        return missing()
    return shown(one.sweep.ranks * scaling.alone.rate.value / value, "{:.3f}".format)


def _published(row: Mapping[str, PublishedValue] | None) -> tuple[Cell, ...]:
    names = ("model_mlups", "mlups", "ratio")
    if row is None:
        return tuple(missing() for _ in names)
    return tuple(plain(row[name], f"{row[name]:g}") for name in names)
