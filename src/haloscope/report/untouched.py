# SPDX-License-Identifier: BSD-3-Clause
"""Pairs that a change of the MPI library cannot touch."""

from __future__ import annotations

from haloscope.analysis.cases import MeasuredCase
from haloscope.quantities import percent
from haloscope.topics.phases.analysis import REST, shares

LEAST = 0.02
"""Messages that become twice as slow then add more than launches usually scatter."""


def between_nodes(case: MeasuredCase) -> bool:
    """Whether a case was measured on several nodes."""
    return not case.simulated and case.number("nodes") > 1


def untouched(first: MeasuredCase, second: MeasuredCase) -> str:
    """Why a change of the network can't make two measurements of a case differ; "" where it can."""
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
    """The share of a step in phases that compute nothing; None where no phase was recorded.

    A phase that computes declares its bytes or its operations. External programs declare none, so
    that all of their phases are taken for messages.
    """
    found = shares(case)
    if not found or case.settings.get("memory") == "device":  # whose waits lie in any phase
        return None
    computing = {
        phase["name"]
        for record in case.launches
        for phase in record.phases
        if phase.get("bytes") or phase.get("flops")
    }
    return sum(one.share.value for one in found if one.name not in {*computing, REST})
