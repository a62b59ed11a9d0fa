# SPDX-License-Identifier: BSD-3-Clause
"""Whether something else was running: by what ran beforehand, and by launches that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.disturbance import disturbances
from haloscope.report.context import Context
from haloscope.report.findings import Finding

ORDER = 30


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Warnings of something else that was running: beforehand, and as launches that differ."""
    for sentence in disturbances(cases, context.machine):
        yield Finding(sentence, "warning")
