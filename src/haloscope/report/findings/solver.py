"""How much of the memory's bandwidth each variant of the Poisson solver reaches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.memory_use import uses
from haloscope.quantities import count, percent, rate
from haloscope.report.context import Context
from haloscope.report.findings import Finding

ORDER = 60


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Each variant at its largest working set, on the most cores that stream ran on too."""
    known = [use for use in uses(cases, cases) if use.share is not None]
    for variant in dict.fromkeys(str(use.case.settings.get("variant")) for use in known):
        own = [use for use in known if str(use.case.settings.get("variant")) == variant]
        best = max(own, key=lambda u: (u.working_set_bytes, u.case.cores, u.achieved.value))
        why = ", as caches serve a part" if best.share and best.share > 1.05 else ""
        yield Finding(
            f"The {variant} solver reaches {percent(best.share)} of what stream's triad allows"
            f"{why}: {rate(best.achieved.value)} (N = {best.case.settings.get('n')}, "
            f"{count(best.case.cores, 'core')})."
        )
