# SPDX-License-Identifier: BSD-3-Clause
"""Time by section of LAMMPS, as stacked bars."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.phases import shares
from haloscope.analysis.sections import in_sections
from haloscope.report.figures.model import Figure
from haloscope.report.figures.phases import bars_of


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Figure]:
    """One figure: a bar a case, with the shares of its sections."""
    own = [found for case in cases if (found := in_sections(case)) and shares(found)]
    return [bars_of(own, "Time by section of LAMMPS", "sections", context)] if own else []
