# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of cases that a change of the MPI library cannot affect."""

from __future__ import annotations

from haloscope.analysis.cases import MeasuredCase
from haloscope.quantities import percent
from haloscope.topics.phases.analysis import REST, shares

LEAST = 0.02
"""Messages that become twice as slow then add more than the usual scatter of launches."""


def between_nodes(case: MeasuredCase) -> bool:
    """Return whether a case was measured on several nodes."""
    return not case.simulated and case.layout.nodes > 1


def untouched(first: MeasuredCase, second: MeasuredCase) -> str:
    """Return why a change of the network cannot affect two measurements of a case, or ""."""
    if first.simulated or second.simulated or not (first.launches and second.launches):
        return ""
    if not between_nodes(first) and not between_nodes(second):
        return "on one node"
    spent = [_in_messages(side) for side in (first, second)]
    known = [one for one in spent if one is not None]
    if len(known) < len(spent) or max(known) >= LEAST:
        return ""
    return f"messages take {percent(max(known))} of its time"


def _in_messages(case: MeasuredCase) -> float | None:
    """Return the share of a step in phases without computation; None without phases.

    A phase that computes declares its bytes or its operations. External programs declare none, so
    all of their phases count as messages.
    """
    found = shares(case)
    if not found or case.settings.get("memory") == "device":  # waits may be in any phase
        return None
    computing = {
        phase["name"]
        for record in case.launches
        for phase in record.phases
        if phase.get("bytes") or phase.get("flops")
    }
    return sum(one.share.value for one in found if one.name not in {*computing, REST})
