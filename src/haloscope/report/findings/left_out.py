"""How many launches are in no table, and what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.quantities import count, listed
from haloscope.report.context import Context
from haloscope.report.findings import Finding

ORDER = 10


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """A warning where launches that were planned are in no table."""
    bad = Counter(record.outcome for case in cases for record in case.excluded)
    absent = bad.pop("absent", 0)  # expected of a study that asks for all there may be
    good = sum(len(case.launches) for case in cases)
    planned = sum(max(case.planned or 0, len(case.launches) + len(case.excluded)) for case in cases)
    planned -= absent
    if planned > good:
        reasons = [f"{number_of} {outcome}" for outcome, number_of in bad.items()]
        if rest := planned - good - bad.total():
            reasons.append(f"{rest} not run")
        counted = f"{planned - good} of {count(planned, 'launch', 'launches')}"
        yield Finding(
            f"{counted if planned > 1 else 'The only launch'} "
            f"{'is' if planned - good == 1 else 'are'} in no table: "
            f"{listed(reasons)}. The notes name them.",
            "warning",
        )
