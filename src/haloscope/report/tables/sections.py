# SPDX-License-Identifier: BSD-3-Clause
"""Time by section of LAMMPS, and of the kernel that models it."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.phases import shares
from haloscope.analysis.sections import in_sections
from haloscope.report.tables.model import Table
from haloscope.report.tables.phases import one_table


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """One table of all cases: sections in columns, and what lies outside of them."""
    own = [found for case in cases if (found := in_sections(case)) and shares(found)]
    return [one_table(own, "Time by section of LAMMPS", "sections", context)] if own else []
