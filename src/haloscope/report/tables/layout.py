# SPDX-License-Identifier: BSD-3-Clause
"""Orders of processing the lines of a Fourier transform compared."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.exchanges import LINES
from haloscope.report.tables.exchange import contrasted
from haloscope.report.tables.model import Table


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """The layouts of the Fourier transform, a row a layout."""
    return contrasted(cases, context, LINES)
