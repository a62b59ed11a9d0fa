# SPDX-License-Identifier: BSD-3-Clause
"""Assembled and matrix-free finite elements compared."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.exchanges import OPERATORS
from haloscope.report.tables.exchange import contrasted
from haloscope.report.tables.model import Table


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """The operators of heat conduction, a row a way."""
    return contrasted(cases, context, OPERATORS)
