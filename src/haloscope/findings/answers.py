# SPDX-License-Identifier: BSD-3-Clause
"""The part of a finding that answers a study's question, for the top of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from haloscope.findings.caveats import Caveat
from haloscope.findings.finding import Claim, Finding, FindingShape, Ratio, Verdict
from haloscope.findings.words import COUNTED, MANY
from haloscope.quantities import listed
from haloscope.study.settings import Settings

_APART = {Verdict.FASTER, Verdict.SLOWER}
_NONE_SHOWN = {Verdict.NO_DIFFERENCE, Verdict.EQUAL}


def answering(finding: Finding, among: Sequence[Finding] = ()) -> Finding:
    """Return a finding with what answers a question; no verdict of its subject is hidden.

    among: all findings. Comparisons: every subject that they compare with the reference in the same
    settings, the most common verdict first, with the extent of differences only.
    Fastest: the winner at the most points, then the others without their ratios; many that are not
    shown to be slower are counted, unless they are numbers, such as of processes.
    Trends: all parts if they are few, or if some ratios are above 1 and others below; of one trend
    in several settings, the largest and the smallest ratio. Settings that
    were not measured answer only if none was. Of parts along an axis, those at the most points are
    kept, and the others are counted. Other shapes without verdicts are kept.
    """
    if not finding.parts:
        return finding
    match finding.shape:
        case FindingShape.COMPARISON:
            alike = [finding, *(one for one in among if _same(one, finding))]
            parts = _merged([_compared(one.parts) for one in alike])
            return replace(finding, parts=parts, caveats=_caveats(alike))
        case FindingShape.BEST:
            return replace(finding, parts=_fastest(finding))
        case FindingShape.TREND if len(finding.parts) == 1:
            return _extremes(finding, among)
        case FindingShape.TREND if len(finding.parts) > MANY and not _opposite(finding.parts):
            return replace(finding, parts=(_leading(finding.parts),))
        case FindingShape.BREAKDOWN if finding.axis:
            placed = [part for part in finding.parts if part.at] or [*finding.parts]
            most = sorted(placed, key=_extent, reverse=True)[:MANY]
            kept = [part for part in placed if part in most]
            rest = tuple(at for part in placed if part not in most for at in part.at)
            if rest:
                kept.append(Claim({"part": "others"}, at=rest))
            return replace(finding, parts=tuple(kept))
        case _:
            return finding


def _same(one: Finding, other: Finding) -> bool:
    """Return whether a further finding compares with the same reference in the same settings."""
    asked = (other.question, other.shape, other.common, other.of, other.points)
    return (
        one.id != other.id
        and (one.question, one.shape, one.common, one.of, one.points) == asked
        and one.parts[0].reference == other.parts[0].reference
    )


def _compared(parts: Sequence[Claim]) -> tuple[Claim, ...]:
    lead = _leading(parts)
    own = [
        part for part in parts if (part.subject, part.reference) == (lead.subject, lead.reference)
    ]
    measured = [part for part in own if part.verdict is not None]
    if not measured:
        return (lead,)
    if len(measured) == 1 or {part.verdict for part in measured} == _NONE_SHOWN:
        return tuple(measured)
    apart = [part for part in measured if part.verdict in _APART]
    none = [part for part in measured if part.verdict in _NONE_SHOWN]
    rest = [_counted(part) for part in measured if part not in (*apart, *none)]
    every = [*apart, *([_together(none)] if none else []), *rest]
    return tuple(sorted(every, key=_extent, reverse=True))


def _merged(several: Sequence[tuple[Claim, ...]]) -> tuple[Claim, ...]:
    """Return the parts of several subjects, those with one and the same open verdict as one."""
    every = tuple(part for parts in several for part in parts)
    first, names = every[0], [name for part in every for name in part.subject]
    ratios = [part.ratio for part in every if part.ratio]
    alike = {(part.verdict, part.count, part.at, len(part.subject)) for part in every}
    if len({*names}) > 1 or len(alike) > 1 or first.verdict in _APART or len(every) < 2:
        return every
    ratio = None
    if ratios:
        widest = max(ratios, key=lambda one: one.estimate.band or 1.0)
        ratio = Ratio(
            replace(widest.estimate, low=None, high=None),
            min(one.least for one in ratios),
            max(one.most for one in ratios),
            median(one.median for one in ratios),
        )
    subject = {names[0]: listed([str(part.subject[names[0]]) for part in every])}
    return (replace(first, subject=subject, ratio=ratio),)


def _together(parts: Sequence[Claim]) -> Claim:
    """Return the settings without a shown difference as one part; equal ones are among them."""
    first = next((part for part in parts if part.verdict is Verdict.NO_DIFFERENCE), parts[0])
    return replace(
        _counted(first),
        count=sum(part.count for part in parts if part.count) or None,
        at=tuple(at for part in parts for at in part.at),
    )


def _counted(part: Claim) -> Claim:
    """Return a part without its ratio, whose error is kept."""
    return replace(part, ratio=None, band=part.ratio.estimate.band if part.ratio else part.band)


def _fastest(finding: Finding) -> tuple[Claim, ...]:
    lead = _leading(finding.parts)
    others = [
        replace(part, ratio=None, estimate=None) for part in finding.parts if part is not lead
    ]
    return tuple(_few(part, finding.common) for part in (lead, *others))


def _few(part: Claim, common: Settings) -> Claim:
    keys = {key for one in (part.subject, *part.also) for key in dict(one.items() - common.items())}
    counted = len(part.also) > MANY and not keys <= COUNTED.keys()
    return replace(part, also=({"others": len(part.also)},)) if counted else part


def _extremes(finding: Finding, among: Sequence[Finding]) -> Finding:
    """Return the largest and the smallest ratio of a trend over all settings that have it."""
    asked = (finding.question, finding.shape, finding.topic, finding.common.get("kernel"))
    alike = [
        one
        for one in among
        if (one.question, one.shape, one.topic, one.common.get("kernel")) == asked
        and len(one.parts) == 1
    ]
    rated = [(part.ratio.estimate.value, one) for one in alike if (part := one.parts[0]).ratio]
    if len(rated) < 2 or len(rated) < len(alike):
        return finding
    most, least = (choose(rated, key=lambda pair: pair[0])[1] for choose in (max, min))
    if most is least:  # every ratio is the same
        return finding
    ends = (most, least)
    shared = dict(ends[0].common.items() & ends[1].common.items())
    parts = [
        replace(part, subject={**_without(one.common, shared), **part.subject})
        for one in ends
        for part in one.parts
    ]
    return replace(finding, common=shared, parts=tuple(parts), caveats=_caveats(ends))


def _caveats(findings: Sequence[Finding]) -> tuple[Caveat, ...]:
    return tuple(one for one in Caveat if any(one in each.caveats for each in findings))


def _without(settings: Settings, shared: Settings) -> Settings:
    return {name: value for name, value in settings.items() if name not in shared}


def _opposite(parts: Sequence[Claim]) -> bool:
    values = [part.ratio.estimate.value for part in parts if part.ratio]
    return bool(values) and min(values) < 1 < max(values)


def _leading(parts: Sequence[Claim]) -> Claim:
    return max(parts, key=lambda part: (_weight(part.verdict), _extent(part)))


def _extent(part: Claim) -> int:
    return part.count or len(part.at)


def _weight(verdict: Verdict | None) -> int:
    if verdict is None:
        return 0
    return 2 if verdict in _APART else 1
