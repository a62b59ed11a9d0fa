# SPDX-License-Identifier: BSD-3-Clause
"""The variants of the conjugate gradient method against the textbook one, over like settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.exchanges import VARIANTS
from haloscope.analysis.iteration_rates import by_ranks
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.findings.exchange import compared

ORDER = 70


def find(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Over all settings that have several; not of those that are told by their ranks.

    Nothing where launches are too few to tell: a study may have two variants so that one stands
    beside published times, and asks nothing of the other.
    """
    told = {case for found, _ in by_ranks(cases, context.seed) for case in found.part.cases}
    others = [case for case in cases if case not in told]
    yield from compared(VARIANTS, others, context, untold=False)
