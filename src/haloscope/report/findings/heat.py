# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of a solve of heat conduction goes: its longest phases, operator by operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from haloscope.analysis.cases import MeasuredCase, facets
from haloscope.analysis.phases import shares
from haloscope.quantities import count, listed, percent
from haloscope.report.context import Context
from haloscope.report.findings import Finding
from haloscope.report.words import beyond, few, place

ORDER = 112
ANSWERS = ("heat",)
TOLD = 3
"""TOLD is the largest number of phases that are told of each operator."""
LEAST = 0.03
"""LEAST is the smallest share of a solve that is worth a word."""


def find(cases: Sequence[MeasuredCase], _context: Context) -> Iterator[Finding]:
    """Of the most processes, and the most nodes with so many."""
    own = [case for case in cases if case.kernel == "fe_heat" and case.launches and shares(case)]
    if not own:
        return
    most = max(own, key=lambda case: (case.ranks, case.number("nodes")))
    alike = [case for case in own if (case.ranks, case.cores) == (most.ranks, most.cores)]
    labels: dict[tuple[str, str], list[str]] = {}  # of the parts that have the same to tell
    for part in facets([c for c in alike if c.settings["nodes"] == most.settings["nodes"]], _AXES):
        told = "; ".join(
            f"with operator {case.settings['operator']}, {_longest(case)}" for case in part.cases
        )
        label = beyond(part.label, most.processes)
        labels.setdefault((told, few(*part.cases)), []).append(label)
    for (told, launched), named in labels.items():
        each = f"alike {_with(named)}" if len(named) > 1 else named[0]
        label = f", {each}" if each else ""
        nodes = most.number("nodes")
        on = f" on {count(nodes, 'node')}" if nodes > 1 else ""
        where = f"{most.processes}{on}{label}{place(most)}{launched}"
        yield Finding(f"Of a solve of heat conduction, {where}: {told}.")


_AXES = ("operator",)


def _with(labels: Sequence[str]) -> str:
    """Settings that hold commas, one after the other: "with a, b; with c; and with d"."""
    *others, last = (f"with {label}" for label in labels)
    return f"{'; '.join(others)}{';' if len(others) > 1 else ''} and {last}"


def _longest(case: MeasuredCase) -> str:
    """ "matvec takes 76 %, updates 13 %"."""
    longest = sorted(shares(case), key=lambda phase: -phase.share.value)[:TOLD]
    worth = [phase for phase in longest if phase.share.value >= LEAST] or longest[:1]
    first, *others = [f"{phase.name} takes {percent(phase.share.value)}" for phase in worth]
    return listed([first, *(text.replace(" takes", "") for text in others)])
