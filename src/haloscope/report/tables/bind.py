# SPDX-License-Identifier: BSD-3-Clause
"""Bindings of processes and threads compared: close, spread, or none."""

from __future__ import annotations

from collections.abc import Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.analysis.exchanges import BINDINGS
from haloscope.report.tables.exchange import contrasted
from haloscope.report.tables.model import Table


def build(cases: Sequence[MeasuredCase], context: Context) -> list[Table]:
    """The bindings of the Poisson solver, a row a binding, where a node has several cores busy."""
    return contrasted(cases, context, BINDINGS)
