# SPDX-License-Identifier: BSD-3-Clause
"""Findings of records, to assert their fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from recorded import MACHINE, Raw, cases

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.context import Context
from haloscope.findings.finding import Claim, Finding
from haloscope.topics import findings

Find = Callable[[Sequence[MeasuredCase], Context], Iterator[Finding]]
SIMULATED: Raw = {"clock": "simulated", "simulation": {"cluster": "stampede2", "verified": False}}


def found(find: Find, raws: Sequence[Raw], **context: Any) -> list[Finding]:
    """What one topic finds."""
    own = cases(raws)
    return list(find(own, Context(**{"machine": MACHINE, "all_cases": own, **context})))


def every(raws: Sequence[Raw], **context: Any) -> list[Finding]:
    """What all topics find, as a report has it."""
    own = cases(raws)
    return findings(own, Context(**{"machine": MACHINE, "all_cases": own, **context}))


def verdicts(finding: Finding) -> list[tuple[str | None, tuple[Any, ...]]]:
    """Each part's verdict, and where it holds."""
    return [(part.verdict, part.at) for part in finding.parts]


def ratio(part: Claim) -> float:
    """Its most extreme ratio."""
    assert part.ratio is not None
    return part.ratio.estimate.value


def value(part: Claim) -> float:
    """Its estimate."""
    assert part.estimate is not None
    return part.estimate.value
