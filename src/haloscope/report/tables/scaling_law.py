"""Laws of time over processes: their terms, and how well they predict points left out."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.scaling_laws import Law, laws
from haloscope.models.scaling_law import ScalingLaw
from haloscope.quantities import percent, seconds
from haloscope.report.context import Context
from haloscope.report.tables.model import Cell, Column, Table, label, missing, plain
from haloscope.report.tables.notebook import Notebook


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table of all meshes; none where no law could be fitted, and the notes say why of some."""
    found = laws(cases, context.seed)
    fitted = [one for one in found if one.law is not None]
    if not fitted:
        return []
    notebook = Notebook([case for one in found for case in one.cases], context.all_cases)
    notebook.note(
        f"{ScalingLaw.source}; powers may be negative here, coefficients not. left out: root mean "
        "square of relative errors at each point, predicted from all others. Beyond the p that it "
        "rests on, a law is an extrapolation."
    )
    for one in found:
        if one.law is None:
            notebook.note(f"{one.label}: no law: {one.reason}.")
    return [
        Table(
            id="scaling_law",
            kind="scaling_law",
            title=context.title("Time by p, as a law"),
            columns=(
                Column("mesh", "mesh", align="left"),
                Column("law", "T(p)", align="left"),
                Column("constant_s", "c"),
                Column("points", "p"),
                Column("left_out", "left out"),
                Column("residual", "fitted"),
            ),
            rows=tuple(_row(one, one.law) for one in fitted if one.law is not None),
            notes=notebook.notes(),
        )
    ]


def _row(one: Law, law: ScalingLaw) -> tuple[Cell, ...]:
    first, last = (f"{p:.0f}" for p in law.valid)
    return (
        label(one.label),
        plain(law_text(law)),
        plain(law.constant_s, seconds(law.constant_s)) if law.constant_s else missing("0"),
        Cell(len(one.cases), f"{first} to {last} {one.p}"),
        plain(law.cross_validation, percent(law.cross_validation)),
        plain(law.residuals.relative_rms, percent(law.residuals.relative_rms)),
    )


def law_text(law: ScalingLaw) -> str:
    """ "1.20 ms + 2.31 s p^(-1)": without terms that came out as none."""
    parts = [seconds(law.constant_s)] if law.constant_s else []
    for term, coefficient in zip(law.terms, law.coefficients_s, strict=True):
        if coefficient:
            parts.append(f"{seconds(coefficient)} {term.text}")
    return " + ".join(parts) or "0"
