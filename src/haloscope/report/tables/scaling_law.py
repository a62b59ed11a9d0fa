# SPDX-License-Identifier: BSD-3-Clause
"""Scaling laws of time by processes or sizes: their terms, and their errors at held-out points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.scaling_laws import Law, laws
from haloscope.models.scaling_law import ScalingLaw
from haloscope.quantities import percent, seconds, signed
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """A table of all meshes over processes, and one of meshes; none where no law could be fitted.

    The notes say why there is none of some.
    """
    found = laws(cases, context.seed)
    every = [[one for one in found if one.over_sizes == sizes] for sizes in (False, True)]
    return [_table(own, context) for own in every if any(one.law is not None for one in own)]


def _table(found: Sequence[Law], context: Context) -> Table:
    notebook = Notebook([case for one in found for case in one.cases], context.all_cases)
    x = "N" if found[0].over_sizes else "p"
    notebook.note(
        f"{ScalingLaw.source}; powers may be negative here, coefficients not. left out: root mean "
        "square of relative errors at each point, predicted from all others; as the law is the one "
        "of many that does so best, other points may lie farther off. Beyond the "
        f"{x} that it rests on, a law is an extrapolation. The points of each row stand beside "
        "this table's CSV file as JSON Lines, as Extra-P reads them."
    )
    for one in found:
        if one.law is None:
            notebook.note(f"{one.label}: no law: {one.reason}.")
    return Table(
        id="scaling_law_sizes" if found[0].over_sizes else "scaling_law",
        kind="scaling_law",
        title=context.title(f"Time by {x}, as a law"),
        columns=(
            Column("mesh", "cases" if found[0].over_sizes else "mesh", align="left"),
            Column("law", f"T({x})", align="left"),
            Column("constant_s", "c"),
            Column("points", x),
            Column("left_out", "left out"),
            Column("residual", "fitted"),
        ),
        rows=tuple(_row(one, one.law) for one in found if one.law is not None),
        notes=notebook.notes(),
        points=tuple(tuple(_points(one)) for one in found if one.law is not None),
    )


def _points(one: Law) -> Iterator[dict[str, Any]]:
    """What a law rests on, a launch each, as a line of Extra-P's JSON Lines format."""
    for x, case in zip(one.x, one.cases, strict=True):
        for time_s in case.times_s:
            params = {"n" if one.over_sizes else "p": x}
            yield {"params": params, "callpath": one.label, "metric": "time", "value": time_s}


def _row(one: Law, law: ScalingLaw) -> tuple[Cell, ...]:
    first, last = (f"{p:.0f}" for p in law.valid)
    counted = "" if one.over_sizes else f" {one.p}"
    return (
        label(one.label, case=" ".join(case.id for case in one.cases)),
        plain(law_text(law, "N" if one.over_sizes else "p")),
        plain(law.constant_s, seconds(law.constant_s)) if law.constant_s else missing("0"),
        Cell(len(one.cases), f"{'N = ' if one.over_sizes else ''}{first} to {last}{counted}"),
        plain(law.cross_validation, percent(law.cross_validation)),
        plain(law.residuals.relative_rms, percent(law.residuals.relative_rms)),
    )


def law_text(law: ScalingLaw, x: str = "p") -> str:
    """ "1.20 ms + 2.31 s p^(-1)": without terms that came out as none."""
    parts = [seconds(law.constant_s)] if law.constant_s else []
    for term, coefficient in zip(law.terms, law.coefficients_s, strict=True):
        if coefficient:
            parts.append(f"{seconds(coefficient)} {signed(term.text(x))}")
    return " + ".join(parts) or "0"
