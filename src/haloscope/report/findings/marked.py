"""How many cases share cores or were simulated: what the marks of all tables mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.quantities import count
from haloscope.report.context import Context
from haloscope.report.findings import Finding

ORDER = 20


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """A warning of shared cores; how many cases were simulated, and of how many the answer."""
    shared = sum(case.oversubscribed for case in cases)
    if shared:
        yield Finding(
            f"{count(shared, 'case')} of {len(cases)} oversubscribed: processes or threads shared "
            "cores (†), so these times say little about the machine.",
            "warning",
        )
    simulated = [case for case in cases if case.simulated and case.launches]
    if simulated:
        said = f"{count(len(simulated), 'case')} of {len(cases)} simulated (‡)"
        yield Finding(f"{said}{_answers(simulated)}.")


def _answers(simulated: Sequence[MeasuredCase]) -> str:
    """Of how many the answer was verified."""
    verified = sum(case.verified for case in simulated)
    unverified = len(simulated) - verified
    told = [f"{count(verified, 'answer')} verified (§)"] if verified else []
    told += [f"{count(unverified, 'answer')} not verified"] if unverified else []
    return "".join(f"; {answers}" for answers in told)
