# SPDX-License-Identifier: BSD-3-Clause
"""How many launches are in no table, and what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.quantities import count, listed
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import BECAME

ORDER = 10


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """A warning where launches that were planned are in no table."""
    bad = Counter(record.outcome for case in cases for record in case.excluded)
    absent = bad.pop("absent", 0)  # expected of a study that asks for all there may be
    good = sum(len(case.launches) for case in cases)
    planned = sum(max(case.planned or 0, len(case.launches) + len(case.excluded)) for case in cases)
    planned -= absent
    if planned > good:
        reasons = [(number_of, BECAME[outcome]) for outcome, number_of in bad.items()]
        if rest := planned - good - bad.total():
            reasons.append((rest, "was not run" if rest == 1 else "were not run"))
        lost = planned - good
        told = listed([f"{number_of:,} {became}" for number_of, became in reasons])
        counted = f"{lost:,} of {count(planned, 'launch', 'launches')}"
        if planned == 1:
            counted, told = "The only launch", f"it {reasons[0][1]}"
        yield Finding(
            f"{counted} {'is' if lost == 1 else 'are'} in no table: {told}. The notes name "
            f"{'it' if lost == 1 else 'them'}.",
            "warning",
        )
