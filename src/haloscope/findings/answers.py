# SPDX-License-Identifier: BSD-3-Clause
"""The part of a finding that answers a study's question, for the top of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from haloscope.findings.finding import Claim, Finding, FindingShape, Verdict
from haloscope.findings.words import MANY

_OPPOSITE: Mapping[Verdict | None, Verdict] = {
    Verdict.FASTER: Verdict.SLOWER,
    Verdict.SLOWER: Verdict.FASTER,
}
_NONE_SHOWN = {Verdict.NO_DIFFERENCE, Verdict.EQUAL}


def answering(finding: Finding) -> Finding:
    """Return a finding with one verdict: the one shown in the most settings, or at the most points.

    A difference takes precedence over none. Settings with the opposite difference are counted.
    Settings that were not measured answer only if none was. Many equal ones are counted. Shapes
    without verdicts are kept.
    """
    if not finding.parts:
        return finding
    match finding.shape:
        case FindingShape.COMPARISON:
            return replace(finding, parts=_compared(finding.parts))
        case FindingShape.BEST | FindingShape.TREND:
            lead = _leading(finding.parts)
            if len(lead.also) > MANY:
                lead = replace(lead, also=({"others": len(lead.also)},))
            return replace(finding, parts=(lead,))
        case _:
            return finding


def _compared(parts: Sequence[Claim]) -> tuple[Claim, ...]:
    lead = _leading(parts)
    own = [
        part for part in parts if (part.subject, part.reference) == (lead.subject, lead.reference)
    ]
    measured = [part for part in own if part.verdict is not None]
    if {part.verdict for part in measured} == _NONE_SHOWN:
        return tuple(measured)
    opposite = [part for part in measured if part.verdict is _OPPOSITE.get(lead.verdict)]
    return (lead, *(replace(part, ratio=None) for part in opposite))


def _leading(parts: Sequence[Claim]) -> Claim:
    return max(parts, key=lambda part: (_weight(part.verdict), part.count or len(part.at)))


def _weight(verdict: Verdict | None) -> int:
    if verdict is None:
        return 0
    return 2 if verdict in _OPPOSITE else 1
