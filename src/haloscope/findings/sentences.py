# SPDX-License-Identifier: BSD-3-Clause
"""The one place that writes sentences: a finding in plain English, one form for each shape.

sentence(finding)        with the marks of its caveats
key_figure(finding)      its number, for the top of a report
legend(findings)         what the marks mean, each once
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from haloscope.analysis.validation.published import without_brackets as flat
from haloscope.findings.caveats import EXPLAINED, RERUN, Caveat, Explanation
from haloscope.findings.comparisons import UNSHOWN, VERDICTS, compared, fastest, requested
from haloscope.findings.finding import Claim, Finding, FindingShape, Verdict
from haloscope.findings.warnings import warned
from haloscope.findings.words import (
    COUNTED,
    MANY,
    apart,
    bracketed,
    error_of,
    factor,
    interval,
    interval_of,
    joined,
    place_of,
    point_of,
    spread_of,
    value_of,
    words,
)
from haloscope.findings.words import pace as words_of_pace
from haloscope.quantities import (
    PLAIN,
    SCALES,
    Scale,
    count,
    listed,
    node_time,
    number,
    percent,
    probability,
    within,
)
from haloscope.stats import FEWEST_FOR_INTERVAL
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Settings


@dataclass(frozen=True)
class Legend:
    """Marks of caveats, and their explanations; caveats of every finding have no mark.

    imported: whether all records are from other programs.
    """

    marks: Mapping[Caveat, str]
    explained: Mapping[Caveat, Explanation]
    imported: bool = False

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each caveat, those without a mark first."""
        return tuple(self.listed(self.explained))

    def listed(self, caveats: Iterable[Caveat], *, briefly: bool = False) -> Iterator[str]:
        """Yield a line for each caveat, then once how to get more launches, if any of them asks it.

        briefly: other remedies are left out.
        """
        rerun = ""
        for one in caveats:
            explanation = self.explained[one]
            again = EXPLAINED[one].remedy == RERUN
            rerun = explanation.remedy if again else rerun
            text = explanation.text if again or briefly else explanation.line
            yield f"{self.marks.get(one, '')} {text}".lstrip()
        if rerun:
            yield rerun

    def of(self, finding: Finding) -> str:
        """Return the marks of a finding: "[1][3]"."""
        return "".join(mark for one, mark in self.marks.items() if one in finding.caveats)


def legend(findings: Sequence[Finding], *, imported: bool = False) -> Legend:
    """Return the caveats of findings with their numbers, in the order of the findings."""
    marked = [one for one in findings if one.shape is not FindingShape.WARNING]
    of_topics = [one for one in marked if one.topic]
    measured = [one for one in of_topics if one.cases] or of_topics
    used = [*dict.fromkeys(caveat for one in marked for caveat in one.caveats)]
    apart = [caveat for caveat in used if not all(caveat in one.caveats for one in measured)]
    marks = {caveat: f"[{number_of}]" for number_of, caveat in enumerate(apart, start=1)}
    parts = [part for one in marked for part in one.parts]
    again = "" if imported else _rerun(used, [part.needed for part in parts if part.needed])
    explained = {}
    stated = {one.caveats[0] for one in findings if one.shape is FindingShape.WARNING}
    stated.discard(Caveat.NEAR_CACHE_SIZE)  # the warning lists cases, not findings
    unmarked = [one for one in Caveat if one in used and one not in {*marks, *stated}]
    for one in (*unmarked, *marks):
        remedy = EXPLAINED[one].remedy_for(imported=imported)
        explained[one] = replace(EXPLAINED[one], remedy=again if remedy == RERUN else remedy)
    return Legend(MappingProxyType(marks), MappingProxyType(explained), imported)


def _rerun(used: Sequence[Caveat], needed: Sequence[int]) -> str:
    """Return the remedy of caveats about launches, with the number that mends all if known."""
    if Caveat.TOO_FEW in used and not needed:
        return RERUN
    ranges = {Caveat.ONE_LAUNCH, Caveat.FEW_LAUNCHES} & {*used}
    most = max([*needed, *([FEWEST_FOR_INTERVAL] if ranges else [])], default=FEWEST_FOR_INTERVAL)
    return f"Rerun with {most} launches of each case (--launches {most})."


def _head(finding: Finding) -> str:
    if not finding.question:
        return words(finding.common)
    common = words({key: value for key, value in finding.common.items() if key != "kernel"})
    if not common:
        return finding.question
    if finding.question.endswith(")"):  # "Message time between GPUs (pingpong, 2 nodes)"
        return f"{finding.question[:-1]}, {common})"
    return f"{finding.question} ({common})"


NO_MARKS = Legend(MappingProxyType({}), MappingProxyType({}))


def sentence(finding: Finding, known: Legend = NO_MARKS) -> str:
    """Return a finding as one sentence, with its marks at the end."""
    head = _head(finding)
    if finding.shape is FindingShape.WARNING:
        return warned(finding, head, imported=known.imported)
    marks = known.of(finding)
    return f"{head}: {_BODIES[finding.shape](finding)}.{marks and f' {marks}'}"


@dataclass(frozen=True)
class KeyFigure:
    """A number for the top of a report: value, name, and uncertainty."""

    value: str
    label: str
    spread: str = ""
    marks: str = ""

    @property
    def text(self) -> str:
        """Return all of it as one line."""
        return f"{self.value}  {self.label}{bracketed(self.spread)} {self.marks}".rstrip()


def key_figure(finding: Finding, known: Legend = NO_MARKS) -> KeyFigure | None:
    """Return the first number of a finding; None if it has none."""
    marks = known.of(finding)
    for part in finding.parts:
        what = words({**part.subject, **point_of(finding, part)})
        label = ", ".join(text for text in (_head(finding), what) if text)
        if finding.shape is FindingShape.TREND and part.ratio and part.reference:
            inverse, pace = _pace(finding, part)
            ratio = part.ratio.estimate.rate(1.0) if inverse else part.ratio.estimate
            verdict = bracketed(VERDICTS[part.verdict] if part.verdict in UNSHOWN else "")
            label = f"{label} vs {words(part.reference)}{verdict}"
            return KeyFigure(f"{number(ratio.value)}x {pace}", label, _sure(ratio), marks)
        if part.share is not None and finding.shape is FindingShape.BOUND:
            return KeyFigure(
                percent(part.share), f"of {finding.bound}{bracketed(label)}", "", marks
            )
        if part.estimate:
            scale = SCALES[finding.metric.unit]
            return KeyFigure(
                value_of(part, finding.metric), label, _sure(part.estimate, scale), marks
            )
    return None


def _sure(estimate: Estimate, scale: Scale = PLAIN) -> str:
    text = interval(estimate, scale)
    return text or (f"simulation error {within(estimate.band)}" if estimate.band else "")


def _values(finding: Finding) -> str:
    """Return "26.4 GB/s (2 cores; 95 % CI 25 to 27 GB/s, 7 launches); 18.4 GB/s (1 core)"."""
    groups: list[tuple[str, str, str, list[Settings]]] = []
    places = len({part.subject.get("nodes") for part in finding.parts}) > 1
    for part in finding.parts:
        subject = {**part.subject, **point_of(finding, part)}
        spread = spread_of(part, finding.metric)
        if len(part.at) > 1:
            subject["point"] = place_of(finding, part)
        cost = "" if part.node_s is None else node_time(part.node_s)
        error = error_of(part.estimate) if part.estimate else ""
        alike = (f"{value_of(part, finding.metric)}{error}", cost, spread)
        if groups and groups[-1][:3] == alike and _one_apart([*groups[-1][3], subject]):
            groups[-1][3].append(subject)
        else:
            groups.append((*alike, [subject]))
    own = [(_merged(subjects, places or bool(cost)), cost) for _, cost, _, subjects in groups]
    spreads = [spread if len(groups) <= MANY else "" for _, _, spread, _ in groups]
    return "; ".join(
        f"{value}{bracketed(*words_of, spread)}"
        for (value, *_), words_of, spread in zip(groups, own, spreads, strict=True)
    )


def _one_apart(subjects: Sequence[Settings]) -> str:
    """Return the only setting that differs; "" if several do, or if it has a noun or unit."""
    names = [name for name in subjects[0] if len({str(one.get(name)) for one in subjects}) > 1]
    same = all(one.keys() == subjects[0].keys() for one in subjects)
    alone = same and len(names) == 1 and names[0] not in COUNTED and names[0] != "size"
    return names[0] if alone else ""


def _merged(subjects: Sequence[Settings], with_nodes: bool) -> str:
    name = _one_apart(subjects)
    every = listed([str(one[name]) for one in subjects]) if name else ""
    own = {**subjects[0], name: every} if name else dict(subjects[0])
    nodes = own.get("nodes")
    if not isinstance(nodes, int):
        return words(own)
    del own["nodes"]
    counted = count(nodes, *COUNTED["nodes"]) if nodes > 1 or with_nodes else ""
    return ", ".join(filter(None, (counted, words(own))))


def _trends(finding: Finding) -> str:
    """Describe each part; ratios to one reference name it, and what they share, only once."""
    first, *others = finding.parts
    clauses = [_trend(finding, first)]
    for part in others:
        again = first.ratio and part.ratio and not (first.estimate or part.estimate)
        if again and (part.reference, part.verdict) == (first.reference, None):
            shared = part.subject.items() & first.subject.items()
            own = {key: value for key, value in part.subject.items() if (key, value) not in shared}
            part = replace(part, subject=own or part.subject, reference={})
        clauses.append(_trend(finding, part))
    return joined(clauses)


def _trend(finding: Finding, part: Claim) -> str:
    own = words({**part.subject, **point_of(finding, part)})
    value = f"{value_of(part, finding.metric)}{error_of(part.estimate)}" if part.estimate else ""
    if part.ratio is None:
        cost = "" if part.node_s is None else node_time(part.node_s)
        return f"{value}{bracketed(own, cost, spread_of(part, finding.metric))}"
    inverse, pace = _pace(finding, part)
    sure = interval_of(part.ratio, inverse=inverse)
    efficiency = f"efficiency {percent(part.share)}" if part.share is not None else ""
    cost = f"{factor(part.node_hours, inverse=True)} the node-hours" if part.node_hours else ""
    times = f"{factor(part.ratio, inverse=inverse)}{error_of(part.ratio.estimate)}"
    if part.verdict is Verdict.NO_DIFFERENCE:
        between = f"between {own} and" if own else "relative to"
        by = f"{VERDICTS[part.verdict]} {between} {words(part.reference)}"
        detail = bracketed(sure, efficiency, cost)
        return f"{by}: {value and f'{value}, '}{times} {pace}{detail}"
    with_own = f" with {own}" if own and not value else ""
    than = "than with" if pace == _FASTER else "as with"
    if pace == _MORE and not with_own:
        pace, than = "that", "with"
    undecided = VERDICTS[part.verdict] if part.verdict is Verdict.UNDECIDED else ""
    to = f" {than} {words(part.reference)}" if part.reference else ""
    by = f"{times} {pace}{with_own}{to}{bracketed(sure, undecided, efficiency, cost)}"
    return f"{value}{bracketed(own)}, {by}" if value else by


_FASTER, _MORE = "faster", "as much"


def _pace(finding: Finding, part: Claim) -> tuple[bool, str]:
    """Return whether a ratio is printed as its inverse, and the words after it."""
    if finding.metric.better == "higher":
        return False, _MORE
    if part.ratio and part.ratio.estimate.value < 1:
        return True, "as long"
    return False, "as fast" if part.verdict in UNSHOWN else _FASTER


def _breakdown(finding: Finding) -> str:
    """Return "221 ms: Pair 68 % and Neigh 14 %"; the part without a subject is the whole."""
    whole = "".join(
        f"{value_of(part, finding.metric)}{bracketed(spread_of(part, finding.metric))}: "
        for part in finding.parts
        if not part.subject
    )
    parts = []
    for part in (one for one in finding.parts if one.subject):
        value = value_of(part, finding.metric) if part.estimate else ""
        share = percent(part.share) if part.share is not None else ""
        if statistic := part.subject.get("statistic"):  # "median 9.1 % (12 predictions)"
            rest = {name: one for name, one in part.subject.items() if name != "statistic"}
            parts.append(f"{statistic} {share}{bracketed(words(rest))}")
            continue
        rest = dict(part.subject)
        peak = words({"most_at": rest.pop("most_at")}) if "most_at" in rest else ""
        own = f"{words(rest)}{bracketed(value, peak)}"
        parts.append(" ".join(filter(None, (own, share, place_of(finding, part).strip()))))
    apart = "; ".join if any(", " in one for one in parts) else listed
    return f"{whole}{apart(parts)}"


def _bound(finding: Finding, part: Claim) -> str:
    """Return "23.3 GB/s, 46 % of STREAM triad (n = 1024)"; or the verdict of a rule."""
    own = words(part.subject)
    if part.verdict is not None:
        by = f"{own} {VERDICTS[part.verdict]}"
        if part.ratio and part.reference:
            shown = part.verdict is Verdict.HOLDS
            slower = f" ({VERDICTS[part.verdict]})" if shown else ""
            times = factor(part.ratio, inverse=True)
            by = f"{own} takes {times} as long as {words(part.reference)}{slower}"
        p = f"p = {probability(part.p_value)}" if part.p_value is not None else ""
        at, where = place_of(finding, part), words(part.ratio.where) if part.ratio else ""
        most = where and f"most with {where}"
        return f"{by}{at and f' {at}'}{bracketed(most, p)}"
    value = f"{value_of(part, finding.metric)}, " if part.estimate else ""
    detail = bracketed(own, spread_of(part, finding.metric))
    return f"{value}{percent(part.share)} of {finding.bound}{detail}"


def _published(finding: Finding) -> str:
    clauses = [_beside(finding, part) for part in finding.parts]
    if finding.of and finding.parts[0].share is not None:
        clauses.append(
            f"{count(finding.of, 'case')} {'was' if finding.of == 1 else 'were'} compared"
        )
    return joined(clauses)


def _beside(finding: Finding, part: Claim) -> str:
    own = words({**part.subject, **point_of(finding, part)})
    if part.ratio and not part.published:
        at = place_of(finding, part)
        return f"{words_of_pace(part.ratio.least, part.ratio.most)} as published{at and f' {at}'}"
    theirs = listed(
        [
            one.text + bracketed(", ".join(filter(None, (flat(one.source), one.variant))))
            for one in part.published
        ]
    )
    if part.count is not None and part.share is not None:
        place = " in the worst table" if "tables" in part.subject else ""
        shown = f"median {percent(part.share)}{place}, maximum {part.published[0].text}"
        values = count(part.count, "published value")
        return f"{shown} for {own}{bracketed(values, flat(part.published[0].source))}"
    if part.estimate is None and part.share is not None:
        return " ".join(filter(None, (_deviation(part.share), "in", own, theirs.strip())))
    verdict = f", {VERDICTS[part.verdict]}" if part.verdict else ""
    if part.ratio:
        verdict += bracketed(apart(part.ratio))
    here = own
    if part.estimate:
        spread = spread_of(part, finding.metric)
        value = f"{value_of(part, finding.metric)}{error_of(part.estimate)}"
        here = f"{value} here{bracketed(own, spread)}"
    return f"{here}{theirs and f', published {theirs}'}{verdict}"


def _deviation(share: float) -> str:
    if share == 0:
        return "none"
    if share < _LEAST_SHARE:
        return f"less than {100 * _LEAST_SHARE} %"
    return percent(share) if share > 10 * _LEAST_SHARE else f"{100 * share:.2f} %"


_LEAST_SHARE = 1e-4


def _each(clause: Callable[[Finding, Claim], str], finding: Finding) -> str:
    return joined([clause(finding, part) for part in finding.parts])


_BODIES: Mapping[FindingShape, Callable[[Finding], str]] = MappingProxyType(
    {
        FindingShape.VALUE: _values,
        FindingShape.COMPARISON: compared,
        FindingShape.BEST: fastest,
        FindingShape.TREND: _trends,
        FindingShape.REQUEST: requested,
        FindingShape.BREAKDOWN: _breakdown,
        FindingShape.BOUND: partial(_each, _bound),
        FindingShape.PUBLISHED: _published,
    }
)
