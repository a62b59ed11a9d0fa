# SPDX-License-Identifier: BSD-3-Clause
"""The one place that writes sentences: a finding in plain English, one form for each shape.

sentence(finding)        with the marks of its caveats
key_figure(finding)      its number, for the top of a report
legend(findings)         what the marks mean, each once
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType

from haloscope.analysis.bands import Basis
from haloscope.analysis.trust import Grade, Trust
from haloscope.findings.caveats import EXPLAINED, Caveat
from haloscope.findings.finding import Claim, Finding, FindingShape, Metric, Ratio, Verdict
from haloscope.quantities import (
    PLAIN,
    SCALES,
    Scale,
    count,
    ends,
    listed,
    node_time,
    number,
    percent,
    probability,
    quantity,
    size,
    unit_of,
)
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Settings, describe

_COUNTED = MappingProxyType(
    {
        "cores": ("core", "cores"),
        "hardware threads": ("hardware thread", "hardware threads"),
        "ranks": ("process", "processes"),
        "threads": ("thread", "threads"),
        "tasks": ("task", "tasks"),
        "nodes": ("node", "nodes"),
        "others": ("other", "others"),
        "per node": ("process per node", "processes per node"),
        "settings": ("setting", "settings"),
    }
)
"""Settings that are numbers of something, and what that is called."""
_BARE = ("operation", "phase", "pattern", "program", "case", "name", "level", "grid", "pace")
"""Settings of findings, not of cases, whose values say what they are."""
_AT = MappingProxyType({"size": "at ", "nodes": "on ", "cores": "on ", "n": "with N = "})
_SPANS = 3
"""_SPANS is the largest number of spans that are listed one by one."""


@dataclass(frozen=True)
class Legend:
    """The marks of caveats, and a line for each; those of every finding have no mark."""

    marks: Mapping[Caveat, str]
    lines: tuple[str, ...]

    def of(self, finding: Finding) -> str:
        """The marks of a finding: "[1][3]"."""
        return "".join(self.marks[one] for one in finding.caveats if one in self.marks)


def legend(findings: Sequence[Finding]) -> Legend:
    """Numbers for the caveats of some findings, in the order of the closed list.

    Findings of no topic are of the report itself, and have none of its measurements' caveats.
    """
    marked = [one for one in findings if one.shape is not FindingShape.WARNING]
    measured = [one for one in marked if one.topic]
    used = [caveat for caveat in Caveat if any(caveat in one.caveats for one in marked)]
    apart = [caveat for caveat in used if not all(caveat in one.caveats for one in measured)]
    marks = {caveat: f"[{number_of}]" for number_of, caveat in enumerate(apart, start=1)}
    lines = (
        " ".join(filter(None, (marks.get(one), EXPLAINED[one].text, EXPLAINED[one].remedy)))
        for one in sorted(used, key=lambda one: (one in marks, used.index(one)))
    )
    return Legend(MappingProxyType(marks), tuple(lines))


def _head(finding: Finding) -> str:
    """What was asked, with the settings that all cases share."""
    common = words({key: value for key, value in finding.common.items() if key != "kernel"})
    return f"{finding.question} ({common})" if common else finding.question


NO_MARKS = Legend(MappingProxyType({}), ())


def sentence(finding: Finding, known: Legend = NO_MARKS) -> str:
    """A finding as one sentence, with its marks at the end."""
    head = _head(finding)
    if finding.shape is FindingShape.WARNING:
        return _warning(finding, head)
    marks = known.of(finding)
    return f"{head}: {_BODIES[finding.shape](finding)}.{marks and f' {marks}'}"


@dataclass(frozen=True)
class KeyFigure:
    """A number for the top of a report: its value, what it is, and how sure it is."""

    value: str
    label: str
    spread: str = ""
    marks: str = ""


def within(factor: float) -> str:
    """An error as a factor up and down: "± 17 %", "a factor of 2.4"."""
    if factor >= _DOUBLE:
        return f"a factor of {number(factor, 2)}"
    return f"± {percent(factor - 1)}"


_DOUBLE = 2.0
_GRADES = 2
"""_GRADES is how many kernels a badge names of those that are validated, and how many errors of the
others, with as many kernels each."""


def badge(trust: Trust) -> str:
    """That times were simulated, whether published ones validate them, and how far they are off."""
    told = [f"Simulated on {listed(trust.clusters)}"]
    if trust.copied:
        told.append(
            f"The cluster file is a copy of {trust.copied} whose sources were not changed. "
            f"Unless its numbers were, these are times of {trust.copied}"
        )
    if trust.own:
        each = [
            f"times of {one.name} {within(one.band.factor)} "
            f"(95 % of {one.band.cells} published values{_elsewhere(one)})"
            for one in trust.own[:_GRADES]
        ]
        told.append(f"Validated there: {listed([*each, *_more(trust.own)])}")
    if trust.others:
        alike: dict[str, list[Grade]] = {}
        for one in trust.others:
            error = f"likely {within(one.band.factor)}{'' if trust.own else _from(one)}"
            alike.setdefault(error, []).append(one)
        each = [f"times of {_names(these)} {error}" for error, these in [*alike.items()][:_GRADES]]
        rest = [one for these in [*alike.values()][_GRADES:] for one in these]
        told.append(f"Not validated there: {listed([*each, *_more(rest, 0)])}")
    return ". ".join(told) + "."


def _names(grades: Sequence[Grade]) -> str:
    """ "pingpong, ring and 3 more"."""
    return listed([*(one.name for one in grades[:_GRADES]), *_more(grades)])


def _more(grades: Sequence[Grade], shown: int = _GRADES) -> list[str]:
    rest = len(grades) - shown
    return [f"{rest} more"] if rest > 0 else []


def _elsewhere(one: Grade) -> str:
    """The layout of the published values, if a case has more or fewer nodes or processes."""
    nouns = {
        "nodes": (one.band.nodes, ("node", "nodes")),
        "ppn": (one.band.ppn, ("process per node", "processes per node")),
    }
    told = []
    for name, (span, noun) in nouns.items():
        if name in one.beyond and span:
            least, most = span
            told.append(f"{least:,} to " * (least < most) + count(most, *noun))
    return (
        f", on {' with '.join(told)}"
        if "nodes" in one.beyond
        else "".join(f", with {each}" for each in told)
    )


def _from(one: Grade) -> str:
    """What the band of a case without published values is from."""
    known = "widest error known: " if one.band.basis is Basis.WIDEST else "the error of "
    return f" ({known}{one.band.of})"


_RATIOS = (FindingShape.TREND, FindingShape.COMPARISON)
"""_RATIOS are the shapes whose first number is a ratio."""


def key_figure(finding: Finding, known: Legend = NO_MARKS) -> KeyFigure | None:
    """The first number of a finding; None where it has none."""
    marks = known.of(finding)
    for part in finding.parts:
        what = words({**part.subject, **_at_settings(finding, part)})
        label = ", ".join(text for text in (_head(finding), what) if text)
        if (
            finding.shape in (FindingShape.TREND, FindingShape.COMPARISON)
            and part.ratio
            and part.reference
        ):
            better, rate = part.ratio.estimate, finding.metric.better == "higher"
            slower = better.value < 1 and not rate
            if slower and finding.shape is FindingShape.COMPARISON:
                longer = better.rate(1.0)
                label = f"{label}, compared with {words(part.reference)}"
                return KeyFigure(f"{number(longer.value)}x as long", label, _sure(longer), marks)
            pace = "compared with" if slower else "as much as" if rate else "faster than"
            label = f"{label}, {pace} {words(part.reference)}"
            return KeyFigure(f"{number(better.value)}x", label, _sure(better), marks)
        if part.share is not None and finding.shape is FindingShape.BOUND:
            return KeyFigure(percent(part.share), f"{label}, of {finding.bound}", "", marks)
        if part.estimate:
            scale = SCALES[finding.metric.unit]
            return KeyFigure(
                _value(part, finding.metric), label, _sure(part.estimate, scale), marks
            )
    return None


def _sure(estimate: Estimate, scale: Scale = PLAIN) -> str:
    """The interval of a number at the top of a report; of a simulated one its error."""
    told = interval(estimate, scale)
    return told or (f"error of the simulation {within(estimate.band)}" if estimate.band else "")


def words(settings: Settings) -> str:
    """Settings in words: "N = 1024, nonblocking, 2 processes"."""
    own = [name for name in settings if name in _COUNTED or name in _BARE or name == "size"]
    known = [name for name in settings if name not in own]
    if "nodes" in settings and "ppn" in settings:
        known.append("nodes")
        own.remove("nodes")
        if settings["nodes"] == 1:
            known.remove("nodes")
    elif (
        settings.get("nodes") == 1
        and not {"tasks", "ranks", "cores", "processes"} & settings.keys()
    ):
        own.remove("nodes")
    if settings.get("threads") == 1 and len(settings) > 1 and "ppn" in settings:
        own.remove("threads")
    told = [describe(settings, known)]
    for name in own:
        value = settings[name]
        if name in _COUNTED and isinstance(value, int):
            told.append(count(value, *_COUNTED[name]))
        elif name == "size" and isinstance(value, int):
            told.append(size(value))
        elif value not in (None, ""):
            told.append(str(value))
    return ", ".join(text for text in told if text)


def interval(estimate: Estimate, scale: Scale = PLAIN) -> str:
    """ "95 % CI 1.21 to 1.33 s, 7 launches"; "range 1.2 to 4.0 s, 3 launches"; "" without any."""
    if estimate.low is None or estimate.high is None or estimate.method == "repetitions":
        return ""
    low, high = ends(estimate.value, estimate.low, estimate.high, scale)
    span = f"{low} to {high} {unit_of(estimate.value, scale)[1]}".rstrip()
    kind = "range" if estimate.method == "range" else "95 % CI"
    return f"{kind} {span}, {count(estimate.n, 'launch', 'launches')}"


def spans(
    chosen: Sequence[float], among: Sequence[float], show: Callable[[float], str], what: str = ""
) -> str:
    """Some of several ordered values: "8 B to 2 KiB and 16 KiB"; neighbours are one span.

    Of more than three: "7 of 18 sizes from 8 B to 1 MiB". what: the word for these points.
    """
    order = sorted({*among, *chosen})
    places = sorted({order.index(value) for value in chosen})
    runs = [
        [place for _, place in run]
        for _, run in groupby(enumerate(places), lambda pair: pair[1] - pair[0])
    ]
    if len(runs) > _SPANS:
        first, last = show(order[runs[0][0]]), show(order[runs[-1][-1]])
        counted = f"{len(places)} of {len(order)} {what}".rstrip()
        return f"{counted} from {first} to {last}"
    return listed([
        show(order[run[0]])
        if len(run) == 1
        else f"{show(order[run[0]])} to {show(order[run[-1]])}"
        for run in runs
    ])  # fmt: skip


def _at(finding: Finding, part: Claim) -> str:
    """Where a part holds: "at 8 B to 64 B", "with 16 to 512 tasks", "in 6 of 9 settings"."""
    if part.count is not None and finding.of is not None and finding.of > 1:
        return f"in {part.count} of {finding.of} settings"
    numbers = [at for at in part.at if isinstance(at, int | float)]
    among = [at for at in finding.points if isinstance(at, int | float)]
    if not numbers:
        return ""
    if len({*numbers}) == len({*among}) > 1 and finding.axis == "size":
        return "at every size"
    if finding.axis == "size":
        return f"at {spans(numbers, among, size, 'sizes')}"
    told = spans(numbers, among, lambda value: f"{value:,.0f}")
    noun = _COUNTED.get(finding.axis)
    if noun is None:
        return f"{_AT.get(finding.axis, f'with {finding.axis} = ')}{told}"
    return f"{_AT.get(finding.axis, 'with ')}{told} {noun[0] if told == '1' else noun[1]}"


def _at_settings(finding: Finding, part: Claim) -> Settings:
    """The one point at which a part holds, as settings; {} of several, or none."""
    return {finding.axis: part.at[0]} if finding.axis and len(part.at) == 1 else {}


def _bracketed(*texts: str) -> str:
    told = "; ".join(text for text in texts if text)
    return f" ({told})" if told else ""


def _value(part: Claim, metric: Metric) -> str:
    value = part.estimate.value if part.estimate else None
    return size(value) if metric.unit == "B" else quantity(value, SCALES[metric.unit])


def _spread(part: Claim, metric: Metric) -> str:
    return interval(part.estimate, SCALES[metric.unit]) if part.estimate else ""


def _values(finding: Finding) -> str:
    """ "26.4 GB/s (2 cores; 95 % CI 25 to 27 GB/s, 7 launches), 18.4 GB/s (1 core)"."""
    told: list[tuple[str, str, str, list[Settings]]] = []
    places = len({part.subject.get("nodes") for part in finding.parts}) > 1
    for part in finding.parts:
        subject = {**part.subject, **_at_settings(finding, part)}
        spread = _spread(part, finding.metric)
        cost = "" if part.node_s is None else node_time(part.node_s)
        alike = (_value(part, finding.metric), cost, spread)
        if told and told[-1][:3] == alike and _one_apart([*told[-1][3], subject]):
            told[-1][3].append(subject)
        else:
            told.append((*alike, [subject]))
    return ", ".join(
        f"{value}{_bracketed(_one_value(subjects, places or bool(cost)), cost, spread)}"
        for value, cost, spread, subjects in told
    )


def _one_apart(subjects: Sequence[Settings]) -> str:
    """The only setting that differs; "" if another one does, too, or if it has a noun or unit."""
    names = [name for name in subjects[0] if len({str(one.get(name)) for one in subjects}) > 1]
    same = all(one.keys() == subjects[0].keys() for one in subjects)
    alone = same and len(names) == 1 and names[0] not in _COUNTED and names[0] != "size"
    return names[0] if alone else ""


def _one_value(subjects: Sequence[Settings], with_nodes: bool) -> str:
    """Settings in words, with all values of the one that differs."""
    name = _one_apart(subjects)
    every = listed([str(one[name]) for one in subjects]) if name else ""
    own = words({**subjects[0], name: every} if name else subjects[0])
    if with_nodes and subjects[0].get("nodes") == 1:  # else left out, as of most settings
        own = ", ".join(filter(None, ("1 node", own)))
    return own


def _times(ratio: Ratio, *, inverse: bool = False) -> str:
    """Ratios as their ends, with digits enough that none that is not 1 reads 1.00."""
    near = [1 / one if inverse else one for one in (ratio.least, ratio.most)]
    digits = next(
        (
            digits
            for digits in range(3, 8)
            if all(number(one, digits) != number(1.0, digits) for one in near if one != 1)
        ),
        8,
    )
    return _ends(min(near), max(near), digits)


def _ends(least: float, most: float, digits: int) -> str:
    low, high = number(least, digits), number(most, digits)
    return f"{low}x" if low == high else f"{low}x to {high}x"


def _how_sure(ratio: Ratio, *, inverse: bool = False) -> str:
    """Its interval; of a simulated one its error."""
    band = ratio.estimate.band
    return _interval_of(ratio, inverse=inverse) or (within(band) if band else "")


def _interval_of(ratio: Ratio, *, inverse: bool = False) -> str:
    return interval(ratio.estimate.rate(1.0) if inverse else ratio.estimate)


def _off(estimate: Estimate) -> str:
    """The error of a simulated number, behind it: " ± 18 %", " (within a factor of 2.4)"."""
    if not estimate.band:
        return ""
    error = within(estimate.band)
    return f" {error}" if estimate.band < _DOUBLE else f" (within {error})"


def _compared(finding: Finding) -> str:
    """Subject by subject: faster, slower, equal or undecided, where, and by how much."""
    told = []
    for (subject, reference), own in groupby(
        finding.parts, lambda part: _sides(part.subject, part.reference)
    ):
        every = list(own)
        if len(every) == 1:
            told.append(_one_comparison(finding, every[0], subject, reference))
            continue
        parts = ", ".join(_clause(finding, part) for part in every)
        told.append(
            f"{subject or 'this'} vs {reference}: {_no_difference(finding, every) or parts}"
        )
    return "; ".join(told)


def _no_difference(finding: Finding, every: Sequence[Claim]) -> str:
    """Of settings that show no difference, and others with the same time: that none differs."""
    by_verdict = {part.verdict: part for part in every}
    if by_verdict.keys() != {Verdict.NO_DIFFERENCE, Verdict.EQUAL}:
        return ""
    unsure, same = by_verdict[Verdict.NO_DIFFERENCE], by_verdict[Verdict.EQUAL]
    if None in (unsure.count, same.count) or finding.of != sum(part.count or 0 for part in every):
        return ""
    equal = f"the same time in {same.count}"
    return (
        f"no difference shown in any of {finding.of} settings"
        f"{_bracketed(equal, _most(unsure), _error(unsure))}"
    )


def _sides(subject: Settings, reference: Settings) -> tuple[str, str]:
    """Both in words: by their values alone where they differ in one setting."""
    if len(subject) == 1 and subject.keys() == reference.keys():
        ((one,), (other,)) = subject.values(), reference.values()
        if isinstance(one, str) and isinstance(other, str):
            return one, other
    return words(subject), words(reference)


def _one_comparison(finding: Finding, part: Claim, subject: str, reference: str) -> str:
    at = _at(finding, part)
    where = f" {at}" if at else ""
    ratio = part.ratio
    if part.verdict is Verdict.FASTER and ratio:
        detail = _bracketed(_most(part), _how_sure(ratio))
        return f"{subject} is {_times(ratio)} faster than {reference}{where}{detail}"
    if part.verdict is Verdict.SLOWER and ratio:
        detail = _bracketed(_most(part), _how_sure(ratio, inverse=True))
        times = _times(ratio, inverse=True)
        return f"{subject} takes {times} as long as {reference}{where}{detail}"
    if part.verdict is Verdict.EQUAL:
        return f"{subject} and {reference} take the same time{where}"
    known = ""
    if ratio and part.verdict is Verdict.NO_DIFFERENCE:
        known = f"{_ends(ratio.least, ratio.most, 3)} as fast"
    sure = interval(ratio.estimate) if known and ratio else ""
    detail = _bracketed(known, sure, _needed(part), _error(part))
    return f"{subject} vs {reference}: {_VERDICTS[part.verdict]}{where}{detail}"


_VERDICTS: Mapping[Verdict | None, str] = MappingProxyType(
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
    """One verdict of several, with where it holds."""
    at, ratio = _at(finding, part), part.ratio
    told = _VERDICTS[part.verdict]
    if ratio and part.verdict is Verdict.FASTER:
        told = f"{_times(ratio)} faster"
    elif ratio and part.verdict is Verdict.SLOWER:
        told = f"takes {_times(ratio, inverse=True)} as long"
    return f"{told}{at and f' {at}'}{_bracketed(_most(part), _needed(part), _error(part))}"


def _error(part: Claim) -> str:
    """Of simulated times that show no difference: the error that it does not exceed."""
    band = part.band or (part.ratio.estimate.band if part.ratio else None)
    if band is None or part.verdict is not Verdict.NO_DIFFERENCE:
        return ""
    return f"error of the simulation {within(band)}"


def _needed(part: Claim) -> str:
    """How many launches would decide what is undecided."""
    return f"needs {part.needed} launches each" if part.needed else ""


def _most(part: Claim) -> str:
    """Where a ratio of several is greatest, and the median."""
    if part.ratio is None:
        return ""
    one, inverse = part.ratio, part.verdict is Verdict.SLOWER
    if (part.count or len(part.at)) > 1:
        middle = number(1 / one.median if inverse else one.median)
        where = words(one.where)
        return f"median {middle}x{where and f'; most with {where}'}"
    return words(one.where)


def _best(finding: Finding) -> str:
    """Who is fastest where, by how much; who can't be told apart. Of many places, who alone."""
    brief = len(finding.parts) > _MANY
    told = [(_first if brief else _winner)(finding, part) for part in finding.parts]
    if brief and any(part.also and part.verdict is Verdict.NO_DIFFERENCE for part in finding.parts):
        told.append("no difference shown between those named together")
    bands = [part.band for part in finding.parts if part.band and _error(part)]
    if bands:
        told.append(f"error of the simulation {within(max(bands))}")
    return "; ".join(told)


_MANY = 3
"""Of more races than these a sentence has the winners alone; a table has the others' times."""


def _first(finding: Finding, part: Claim) -> str:
    """ "32 and 48 processes per node on 2 to 4 nodes"."""
    every = _together([part.subject, *part.also])
    at = _at(finding, part)
    sure = _VERDICTS[part.verdict] if part.also and part.verdict in _TOLD_APART else ""
    return f"{every}{at and f' {at}'}{_bracketed(sure, _needed(part))}"


_TOLD_APART = (Verdict.EQUAL, Verdict.UNDECIDED)


def _together(several: Sequence[Settings]) -> str:
    """Several settings in words: "8, 16, and 32 processes per node" where they are numbers."""
    keys = {key for one in several for key in one}
    if len(keys) == 1 and (noun := _COUNTED.get(*keys)):
        numbers = [n for one in several for n in one.values() if isinstance(n, int)]
        if len(numbers) == len(several) > 1:
            return f"{listed([f'{n:,}' for n in sorted(numbers)])} {noun[1]}"
    return listed([words(one) for one in several])


def _winner(finding: Finding, part: Claim) -> str:
    at = _at(finding, part)
    where = f"{at}, " if at else ""
    time = _value(part, finding.metric) if part.estimate else ""
    spread = _spread(part, finding.metric)
    names = [words(part.subject), *map(words, part.also)]
    every = _together([part.subject, *part.also])
    if not part.also:
        told = f"{where}{names[0]} is fastest{_bracketed(time, spread)}"
    elif part.verdict is Verdict.EQUAL:
        told = f"{where}{every} are equally fast{_bracketed(time, spread)}"
    else:
        why = "undecided" if part.verdict is Verdict.UNDECIDED else "no difference shown"
        lowest = f"; {names[0]} has the lowest median, {time}" if time else ""
        told = f"{where}{why} between {every}{_bracketed(_needed(part))}{lowest}"
    if part.ratio and part.reference:
        other = words(part.reference)
        take = "take" if "others" in part.reference else "takes"
        told += f"; {other} {take} {_times(part.ratio)} as long{_at_cost(part)}"
    return told


def _at_cost(part: Claim) -> str:
    """What the reference costs beside the subject: ", with 0.69x the node-hours"."""
    return f", with {_times(part.node_hours)} the node-hours" if part.node_hours else ""


def _trend(finding: Finding) -> str:
    """How a metric changes from a reference on."""
    return ", ".join(_step(finding, part) for part in finding.parts)


def _step(finding: Finding, part: Claim) -> str:
    own = words({**part.subject, **_at_settings(finding, part)})
    told = f"{_value(part, finding.metric)}{_off(part.estimate)}" if part.estimate else ""
    if part.ratio is None:
        return f"{told}{_bracketed(own, _spread(part, finding.metric))}"
    reference = words(part.reference)
    inverse = part.ratio.estimate.value < 1
    with_own = f" with {own}" if own and not told else ""
    off = _off(part.ratio.estimate)
    if finding.metric.better == "higher":
        by = f"{_times(part.ratio)}{off} as much{with_own} as with {reference}"
    elif inverse:
        by = f"takes {_times(part.ratio, inverse=True)}{off} as long{with_own} as with {reference}"
    else:
        by = f"{_times(part.ratio)}{off} faster{with_own} than with {reference}"
    inverse = inverse and finding.metric.better != "higher"
    shown = "" if part.verdict not in _UNSHOWN else _VERDICTS[part.verdict]
    sure = _interval_of(part.ratio, inverse=inverse)
    efficiency = f"efficiency {percent(part.share)}" if part.share is not None else ""
    cost = f"{_times(part.node_hours, inverse=True)} the node-hours" if part.node_hours else ""
    if told:
        return f"{told}{_bracketed(own, by, sure, shown, efficiency, cost)}"
    return f"{by}{_bracketed(sure, shown, efficiency, cost)}"


_UNSHOWN = (Verdict.NO_DIFFERENCE, Verdict.UNDECIDED)


def _breakdown(finding: Finding) -> str:
    """ "221 ms: Pair 68 %, Neigh 14 % and Kspace 11 %"; the whole is the part without a subject."""
    whole = "".join(
        f"{_value(part, finding.metric)}{_bracketed(_spread(part, finding.metric))}: "
        for part in finding.parts
        if not part.subject
    )
    told = []
    for part in (one for one in finding.parts if one.subject):
        at = _at(finding, part)
        value = _value(part, finding.metric) if part.estimate else ""
        share = percent(part.share) if part.share is not None else ""
        own = f"{words(part.subject)}{_bracketed(value)}"
        told.append(" ".join(text for text in (own, share, at.strip()) if text))
    return f"{whole}{listed(told)}"


def _bound(finding: Finding) -> str:
    """ "23.3 GB/s, 46 % of the triad's (N = 1024)"; verdicts of rules."""
    return "; ".join(_against_bound(finding, part) for part in finding.parts)


def _against_bound(finding: Finding, part: Claim) -> str:
    own = words(part.subject)
    if part.verdict is not None:
        by = f"{own} {_VERDICTS[part.verdict]}"
        if part.ratio and part.reference:
            shown = part.verdict is Verdict.HOLDS
            slower = f" ({_VERDICTS[part.verdict]})" if shown else ""
            times = _times(part.ratio, inverse=True)
            by = f"{own} takes {times} as long as {words(part.reference)}{slower}"
        p = f"p = {probability(part.p_value)}" if part.p_value is not None else ""
        at, where = _at(finding, part), words(part.ratio.where) if part.ratio else ""
        most = where and f"most with {where}"
        return f"{by}{at and f' {at}'}{_bracketed(most, p, _needed(part))}"
    value = f"{_value(part, finding.metric)}, " if part.estimate else ""
    spread = _spread(part, finding.metric)
    return f"{value}{percent(part.share)} of {finding.bound}{_bracketed(own, spread)}"


def _published(finding: Finding) -> str:
    """Ours beside what papers have."""
    return "; ".join(_beside(finding, part) for part in finding.parts)


def _beside(finding: Finding, part: Claim) -> str:
    own = words({**part.subject, **_at_settings(finding, part)})
    theirs = "; ".join(
        f"{one.text}{_bracketed(', '.join(filter(None, (_source(one.source), one.variant))))}"
        for one in part.published
    )
    if part.estimate is None and part.share is not None:
        return " ".join(filter(None, (own, _tiny(part.share), theirs.strip())))
    verdict = f", {_VERDICTS[part.verdict]}" if part.verdict else ""
    here = own
    if part.estimate:
        spread = _spread(part, finding.metric)
        here = f"{_value(part, finding.metric)} here{_bracketed(own, spread)}"
    return f"{here}{theirs and f', published {theirs}'}{verdict}"


def _source(text: str) -> str:
    """ "tara, hpcf-2010-6, table 3.1", of what may be inside brackets."""
    return text.replace(" (", ", ").removesuffix(")")


def _tiny(share: float) -> str:
    return "0.01 %" if share <= 1e-4 else percent(share) if share > 1e-3 else f"{100 * share:.2f} %"


def _warning(finding: Finding, head: str) -> str:
    """How many are concerned, what of that, the facts, and what to do."""
    told = EXPLAINED[finding.caveats[0]]
    facts = [_fact(finding, part) for part in finding.parts]
    counted = f"{head}: " if head else ""
    text = f"{told.text.removesuffix('.')}: {listed(facts)}." if facts else told.text
    more = [EXPLAINED[one].text for one in finding.caveats[1:]]
    return " ".join([f"{counted}{text}", *more, *([told.remedy] if told.remedy else [])])


def _fact(finding: Finding, part: Claim) -> str:
    """A fact of a warning: "1 failed", "hosts = a and b", "894 ns, expected at most 20 us"."""
    own = words(part.subject)
    counted = f"{part.count:,} {own}".strip() if part.count is not None else own
    value = _value(part, finding.metric) if part.estimate else ""
    ratio = f"{_times(part.ratio)}" if part.ratio else ""
    theirs = "; ".join(f"{one.text} ({one.source})" for one in part.published)
    facts = (counted, value, ratio, theirs and f"published {theirs}")
    return " ".join(text for text in facts if text)


_BODIES: Mapping[FindingShape, Callable[[Finding], str]] = MappingProxyType(
    {
        FindingShape.VALUE: _values,
        FindingShape.COMPARISON: _compared,
        FindingShape.BEST: _best,
        FindingShape.TREND: _trend,
        FindingShape.BREAKDOWN: _breakdown,
        FindingShape.BOUND: _bound,
        FindingShape.PUBLISHED: _published,
    }
)
