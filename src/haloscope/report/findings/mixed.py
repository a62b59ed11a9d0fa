# SPDX-License-Identifier: BSD-3-Clause
"""Whether launches that stand under one name were measured with different libraries or machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.conditions import mixed
from haloscope.report.context import Context
from haloscope.report.findings import Finding

ORDER = 15


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """A warning that names what differs."""
    if differences := mixed(cases):
        yield Finding(differences, "warning")
