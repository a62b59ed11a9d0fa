# SPDX-License-Identifier: BSD-3-Clause
"""How many cases share cores, are not verified, simulated or emulated: what marks mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase
from haloscope.quantities import count, listed
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.validity import validity

ORDER = 20


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Warnings of shared cores and emulated devices; what was simulated, and what that is worth."""
    shared = sum(case.oversubscribed for case in cases)
    if shared:
        which = _which(shared, len(cases))
        yield Finding(
            f"{which} {'is' if shared == 1 else 'are'} oversubscribed: processes or threads shared "
            "cores (†), so these times say little about the machine.",
            "warning",
        )
    measured = [case for case in cases if case.launches and not case.simulated]
    if unverified := listed(sorted({one.kernel for one in measured if not one.verified})):
        yield Finding(
            f"Answers of {unverified} are not verified: its program.toml says nothing by which "
            "they could be.",
            "warning",
        )
    emulated = sum(case.emulated for case in cases)
    if emulated:
        yield Finding(
            f"{_which(emulated, len(cases))} worked on an emulated device (‖), which is this "
            "machine's own memory and threads: that answers are right there is shown, and nothing "
            "of a real device's times.",
            "warning",
        )
    simulated = [case for case in cases if case.simulated and case.launches]
    if simulated:
        clusters = listed(sorted({case.cluster for case in simulated if case.cluster}))
        on = f" on {clusters}" if clusters else ""
        whole = len(simulated) == sum(bool(case.launches) for case in cases)
        some = f"Times of {len(simulated)} of {count(len(cases), 'case')} are"
        said = "All times are" if whole else some
        drawn = ""
        if any(case.replicated for case in simulated):
            drawn = " Intervals are of simulated replicates, whose nodes differ by chance."
        told = f"{said} simulated{on} (‡): nothing ran there. {_answers(simulated)}.{drawn}"
        yield Finding(told)
        yield from (Finding(text) for text in validity(simulated))


def _which(some: int, every: int) -> str:
    """How many of all cases: "2 of 9 cases", "All 9 cases", "The only case"."""
    if every == 1:
        return "The only case"
    if some == every == 2:
        return "Both cases"
    return f"All {every:,} cases" if some == every else f"{some:,} of {every:,} cases"


def _answers(simulated: Sequence[MeasuredCase]) -> str:
    """Of how many an answer was computed, and verified."""
    verified = sum(case.verified for case in simulated)
    if not verified:
        return "Time alone was simulated, so that there is no answer to verify"
    rest = len(simulated) - verified
    told = f"{count(verified, 'answer')} computed and verified (§)"
    return f"{told}; of {count(rest, 'case')} time alone was simulated" if rest else told
