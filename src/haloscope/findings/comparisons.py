# SPDX-License-Identifier: BSD-3-Clause
"""Sentences that compare: subject by subject, and which is fastest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from haloscope.findings.finding import Claim, Finding, Verdict
from haloscope.findings.words import (
    COUNTED,
    MANY,
    bracketed,
    error_of,
    factor,
    how_sure,
    interval_of,
    is_plural,
    joined,
    pace,
    place_of,
    spread_of,
    value_of,
    values_of,
    words,
)
from haloscope.quantities import capitalised, count, listed, node_time, within
from haloscope.study.settings import Settings

UNSHOWN = (Verdict.NO_DIFFERENCE, Verdict.UNDECIDED)


def compared(finding: Finding) -> str:
    """State for each subject whether it is faster, slower, equal, or undecided, where, and by how
    much.
    """
    clauses = []
    for (subject, reference), own in groupby(
        finding.parts, lambda part: _sides(part.subject, part.reference)
    ):
        every = list(own)
        if len(every) == 1:
            clauses.append(_one_comparison(finding, every[0], subject, reference))
            continue
        parts = ", ".join(_clause(finding, part) for part in every)
        clauses.append(
            f"{subject or 'this'} vs {reference}: {_no_difference(finding, every) or parts}"
        )
    return joined(clauses, values_of(finding))


def _no_difference(finding: Finding, every: Sequence[Claim]) -> str:
    by_verdict = {part.verdict: part for part in every}
    if by_verdict.keys() != {Verdict.NO_DIFFERENCE, Verdict.EQUAL}:
        return ""
    unsure, same = by_verdict[Verdict.NO_DIFFERENCE], by_verdict[Verdict.EQUAL]
    if None in (unsure.count, same.count) or finding.of != sum(part.count or 0 for part in every):
        return ""
    equal = f"the same time in {same.count}"
    return (
        f"no difference shown in any of {finding.of} settings"
        f"{bracketed(equal, _most(unsure), _error(unsure))}"
    )


def _sides(subject: Settings, reference: Settings) -> tuple[str, str]:
    """Describe both sides, by values alone if they differ in one setting."""
    if len(subject) == 1 and subject.keys() == reference.keys():
        ((one,), (other,)) = subject.values(), reference.values()
        if isinstance(one, str) and isinstance(other, str):
            return one, other
    return words(subject), words(reference)


def _one_comparison(finding: Finding, part: Claim, subject: str, reference: str) -> str:
    at = place_of(finding, part)
    where = f" {at}" if at else ""
    ratio = part.ratio
    if part.verdict is Verdict.FASTER and ratio:
        detail = bracketed(_most(part), how_sure(ratio))
        return f"{subject} is {factor(ratio)} faster than {reference}{where}{detail}"
    if part.verdict is Verdict.SLOWER and ratio:
        detail = bracketed(_most(part), how_sure(ratio, inverse=True))
        times = factor(ratio, inverse=True)
        return f"{subject} takes {times} as long as {reference}{where}{detail}"
    if part.verdict is Verdict.EQUAL:
        smallest = words({finding.axis: part.at[0]}) if finding.axis and part.at else ""
        time = f"{value_of(part, finding.metric)}{error_of(part.estimate)}" if part.estimate else ""
        own = bracketed(f"{smallest and f'{smallest}: '}{time}" if time else "")
        return f"{subject} and {reference} take the same time{where}{own}"
    known = sure = ""
    if ratio:
        known = pace(ratio.least, ratio.most)
        alone = ratio.least == ratio.most
        sure = interval_of(ratio, inverse=ratio.most < 1) if alone else ""
    detail = bracketed(known, sure, _error(part))
    return f"{subject} vs {reference}: {VERDICTS[part.verdict]}{where}{detail}"


VERDICTS: Mapping[Verdict | None, str] = MappingProxyType(
    {
        Verdict.FASTER: "faster",
        Verdict.SLOWER: "slower",
        Verdict.EQUAL: "the same",
        Verdict.NO_DIFFERENCE: "no difference shown",
        Verdict.UNDECIDED: "undecided",
        Verdict.AGREES: "agrees",
        Verdict.DISAGREES: "disagrees",
        Verdict.HOLDS: "not shown to be violated",
        Verdict.VIOLATED: "violated",
        None: "not measured",
    }
)


def _clause(finding: Finding, part: Claim) -> str:
    at, ratio = place_of(finding, part), part.ratio
    verdict = VERDICTS[part.verdict]
    if ratio and part.verdict is Verdict.FASTER:
        verdict = f"{factor(ratio)} faster"
    elif ratio and part.verdict is Verdict.SLOWER:
        verdict = f"takes {factor(ratio, inverse=True)} as long"
    return f"{verdict}{at and f' {at}'}{bracketed(_most(part), _error(part))}"


def _error(part: Claim) -> str:
    band = part.band or (part.ratio.estimate.band if part.ratio else None)
    if band is None or part.verdict is not Verdict.NO_DIFFERENCE:
        return ""
    return f"error of the ratio {within(band)}"


def _most(part: Claim) -> str:
    if part.ratio is None:
        return ""
    one, where = part.ratio, words(part.ratio.where)
    if (part.count or len(part.at)) < 2:
        return where
    if part.verdict is Verdict.EQUAL:
        return ""
    middle = pace(one.median, one.median)
    if part.verdict in (Verdict.FASTER, Verdict.SLOWER):
        middle = middle.rpartition(" as ")[0]
    return f"median {middle}{where and f'; most with {where}'}"


def fastest(finding: Finding) -> str:
    """State which is fastest where and by how much; for many places, only which is fastest."""
    brief = len(finding.parts) > MANY
    if brief:
        clauses = ["; ".join(_first(finding, part) for part in finding.parts)]
    else:
        clauses = [clause for part in finding.parts for clause in _winner(finding, part)]
    if brief and any(part.also and part.verdict is Verdict.NO_DIFFERENCE for part in finding.parts):
        clauses.append("no difference shown between those named together")
    bands = [part.band for part in finding.parts if part.band and _error(part)]
    if bands:
        clauses.append(f"the error of a ratio of simulated times is {within(max(bands))}")
    if brief:
        return ". ".join([clauses[0], *map(capitalised, clauses[1:])])
    return joined(clauses, values_of(finding))


def _first(finding: Finding, part: Claim) -> str:
    """Return for example "32 and 48 processes per node on 2 to 4 nodes"."""
    every = _together(_apart(finding, part))
    at = place_of(finding, part)
    sure = VERDICTS[part.verdict] if part.also and part.verdict in _NEED_VERDICT else ""
    return f"{every}{at and f' {at}'}{bracketed(sure)}"


def _apart(finding: Finding, part: Claim) -> list[Settings]:
    """Return the winners without the settings that all cases of the finding share."""
    every = [part.subject, *part.also]
    own = [_own(finding, one) for one in every]
    return own if all(own) else every


def _own(finding: Finding, settings: Settings) -> Settings:
    """Return settings without those that all cases of the finding share."""
    return {k: v for k, v in settings.items() if finding.common.get(k) != v}


_NEED_VERDICT = (Verdict.EQUAL, Verdict.UNDECIDED)


def _together(several: Sequence[Settings]) -> str:
    """Describe several settings: "8, 16, and 32 processes per node" if they are numbers."""
    keys = {key for one in several for key in one}
    if len(keys) == 1 and (noun := COUNTED.get(*keys)):
        numbers = [n for one in several for n in one.values() if isinstance(n, int)]
        if len(numbers) == len(several) > 1:
            return f"{listed([f'{n:,}' for n in sorted(numbers)])} {noun[1]}"
    texts = [words(one) for one in several]
    if len(texts) > 2 and any(", " in one for one in texts):
        return "; ".join([*texts[:-1], f"and {texts[-1]}"])
    return listed(texts)


def _winner(finding: Finding, part: Claim) -> Iterator[str]:
    at = place_of(finding, part)
    where = f"{at}, " if at else ""
    time = f"{value_of(part, finding.metric)}{error_of(part.estimate)}" if part.estimate else ""
    spread = spread_of(part, finding.metric)
    several = _apart(finding, part)
    names, every = [*map(words, several)], _together(several)
    others = len(several) > 1 and "others" in several[1]
    if not part.also:
        verb = "are" if is_plural(several[0]) else "is"
        yield f"{where}{names[0]} {verb} fastest{bracketed(time, spread)}"
    elif part.verdict is Verdict.EQUAL:
        yield f"{where}{every} are equally fast{bracketed(time, spread)}"
    elif others and time:
        has = "have" if is_plural(several[0]) else "has"
        undecided = part.verdict is Verdict.UNDECIDED
        why = "undecided against" if undecided else "not shown to be faster than"
        yield f"{where}{names[0]} {has} the lowest median, {time}, {why} {names[1]}"
    else:
        why = "undecided" if part.verdict is Verdict.UNDECIDED else "no difference shown"
        yield f"{where}{why} between {every}"
        if time:
            has = "have" if is_plural(several[0]) else "has"
            yield f"{names[0]} {has} the lowest median, {time}"
    if part.ratio and part.reference:
        other = words(_own(finding, part.reference) or part.reference)
        take = "take" if is_plural(part.reference) else "takes"
        off = error_of(part.ratio.estimate)
        yield f"{other} {take} {factor(part.ratio)}{off} as long{_at_cost(part)}"


def _at_cost(part: Claim) -> str:
    """Return the cost of the reference relative to the subject: " and uses 0.7x the node-hours"."""
    uses = "use" if is_plural(part.reference) else "uses"
    return f" and {uses} {factor(part.node_hours)} the node-hours" if part.node_hours else ""


def requested(finding: Finding) -> str:
    """Return "16 nodes (221 ms). It is 4.00x faster than the default (1 node)."."""
    (part,) = finding.parts
    value = f"{value_of(part, finding.metric)}{error_of(part.estimate)}" if part.estimate else ""
    own, (name, *others) = _as_requested(part.subject), [*_as_requested(part.reference), ""]
    if part.ratio is None:
        cost = "" if part.node_s is None else node_time(part.node_s)
        return f"{', '.join(own)}{bracketed(value, cost, spread_of(part, finding.metric))}"
    inverse, open_ = part.ratio.estimate.value < 1, part.verdict in UNSHOWN
    than = "as long as" if inverse else "as fast as" if open_ else "faster than"
    times = f"{factor(part.ratio, inverse=inverse)}{error_of(part.ratio.estimate)} {than} {name}"
    sure = interval_of(part.ratio, inverse=inverse)
    verdict = VERDICTS[part.verdict] if open_ and part.verdict else ""
    times += bracketed(", ".join(filter(None, others)), sure, verdict)
    cost = factor(part.node_hours, inverse=True) if part.node_hours else ""
    uses = cost and f", and uses {cost} the node-hours"
    return f"{', '.join(own)}{bracketed(value)}. It {'takes' if inverse else 'is'} {times}{uses}"


def _as_requested(settings: Settings) -> list[str]:
    """Return settings in the order of a request."""
    texts = (
        count(value, *COUNTED[name])
        if name in COUNTED and isinstance(value, int)
        else words({name: value})
        for name, value in settings.items()
    )
    return [text for text in texts if text]
