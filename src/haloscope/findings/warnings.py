# SPDX-License-Identifier: BSD-3-Clause
"""Sentences of warnings: how many cases or launches, the caveat, its facts, and the remedy."""

from __future__ import annotations

from haloscope.findings.caveats import EXPLAINED
from haloscope.findings.finding import Claim, Finding
from haloscope.findings.words import COUNTED, bracketed, factor, value_of, words
from haloscope.quantities import SCALES, listed, quantity

_TOTALS = {"cases", "simulated cases", "launches", "lines"}
"""_TOTALS are settings of which the first part of a warning counts some."""
_BOUNDS = {"at_most": "expected at most", "at_least": "expected at least"}


def warned(finding: Finding, head: str, *, imported: bool) -> str:
    """Return a warning as sentences. imported: whether all records are from other programs."""
    explanation = EXPLAINED[finding.caveats[0]]
    parts, counted = finding.parts, ""
    if first := counting(finding):
        counted, parts = _counted(finding, first), parts[1:]
    facts = listed([_fact(finding, part) for part in parts])
    subject = f"{head}: " if head else ""
    text = f"{subject}{explanation.text.removesuffix('.')}{bracketed(counted)}"
    more = [EXPLAINED[one].text for one in finding.caveats[1:]]
    remedy = explanation.remedy_for(imported=imported)
    return " ".join(filter(None, [f"{text}{facts and f': {facts}'}.", *more, remedy]))


def counting(finding: Finding) -> Claim | None:
    """Return the part that counts the cases or launches of a warning; None without one."""
    first = next(iter(finding.parts), None)
    return first if first and first.subject and first.subject.keys() <= _TOTALS else None


def _counted(finding: Finding, part: Claim) -> str:
    """Return "3 of 54 launches", or "2 lines" if their total does not matter."""
    ((noun, some),) = part.subject.items()
    if finding.of is None:
        return words(part.subject)
    return f"{some:,} of {finding.of:,} {COUNTED[noun][1]}"


def _fact(finding: Finding, part: Claim) -> str:
    """Return a fact of a warning: "1 failed", "2 x 8 B", "host: a (before) and b (after)",
    "894 ns (expected at most 20 us)".
    """
    if part.also:
        return _values(part)
    own = words(part.subject)
    if part.count is not None:
        own = f"{part.count:,} {'x ' if 'point' in part.subject else ''}{own}"
    value = value_of(part, finding.metric) if part.estimate else ""
    ratio = factor(part.ratio) if part.ratio else ""
    scale = SCALES[finding.metric.unit]
    other = {key: one for key, one in part.reference.items() if key not in _BOUNDS}
    expected = [
        f"{_BOUNDS[key]} {quantity(bound, scale)}"
        for key, bound in part.reference.items()
        if key in _BOUNDS and isinstance(bound, float)
    ]
    detail = bracketed(", ".join(filter(None, (*expected, words(other)))))
    return f"{' '.join(filter(None, (own, value, ratio)))}{detail}"


def _values(part: Claim) -> str:
    """Return the values of a setting: "host: a (before) and b (after)"."""
    name = next(iter(part.subject))
    values = []
    for one in (part.subject, *part.also):
        rest = {key: value for key, value in one.items() if key != name}
        values.append(f"{one[name]}{bracketed(words(rest))}")
    return f"{name}: {listed(values)}"
