"""The headline: what was found, in plain words, each sentence from the cases it names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

from haloscope.analysis.cases import MeasuredCase, facets, name_of
from haloscope.analysis.comparison import Contrast, contrasts, step
from haloscope.analysis.exchanges import EXCHANGES, OVERLAPS, Ways, groups
from haloscope.analysis.fits import exchanges
from haloscope.analysis.memory_use import uses
from haloscope.analysis.published import Library
from haloscope.analysis.scaling import scalings, times_as_fast
from haloscope.analysis.split_phase import split_phase_model, switch_text
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.quantities import count, listed, number, percent, rate, seconds, size
from haloscope.report.context import Context
from haloscope.report.findings.mappings import headlines
from haloscope.report.findings.plausible import implausible
from haloscope.report.tables.model import Tone
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import LAYOUT, describe, varying

BUSY = 0.5
"""Load beforehand, in processors, above which it is worth a word."""
UNEVEN = 1.3
"""Slowest over fastest launch of one case, above which it is worth a word."""


@dataclass(frozen=True)
class Finding:
    """One sentence. tone: "warning" where it says what spoils the others."""

    text: str
    tone: Tone = ""


def findings(cases: Sequence[MeasuredCase], context: Context) -> list[Finding]:
    """All there is to say at the top of a report, warnings first."""
    parts = (
        _left_out(cases),
        _marked(cases),
        _disturbed(cases, context),
        _implausible(cases, context),
        _memory(cases),
        _solver(cases),
        _variants(cases, context),
        _scaling(cases, context),
        _published(cases, context),
        _convergence(cases, context),
        _exchange(cases, context),
        _layouts(cases, context),
        _mappings(cases, context),
        _pingpong(cases),
        _split_phase(cases),
    )
    return [finding for part in parts for finding in part]


def _left_out(cases: Sequence[MeasuredCase]) -> Iterator[Finding]:
    bad = Counter(record.outcome for case in cases for record in case.excluded)
    absent = bad.pop("absent", 0)  # expected of a study that asks for all there may be
    good = sum(len(case.launches) for case in cases)
    planned = sum(max(case.planned or 0, len(case.launches) + len(case.excluded)) for case in cases)
    planned -= absent
    if planned > good:
        reasons = [f"{number_of} {outcome}" for outcome, number_of in bad.items()]
        if rest := planned - good - bad.total():
            reasons.append(f"{rest} not run")
        yield Finding(
            f"{planned - good} of {count(planned, 'launch', 'launches')} are in no table: "
            f"{listed(reasons)}. The notes name them.",
            "warning",
        )


def _marked(cases: Sequence[MeasuredCase]) -> Iterator[Finding]:
    shared = sum(case.oversubscribed for case in cases)
    if shared:
        yield Finding(
            f"{count(shared, 'case')} of {len(cases)} oversubscribed: processes or threads shared "
            "cores (†), so these times say little about the machine.",
            "warning",
        )
    simulated = [case for case in cases if case.simulated and case.launches]
    if simulated:
        said = f"{count(len(simulated), 'case')} of {len(cases)} simulated (‡)"
        yield Finding(f"{said}{_answers(simulated)}.")


def _answers(simulated: Sequence[MeasuredCase]) -> str:
    """Of how many the answer was verified."""
    verified = sum(case.verified for case in simulated)
    unverified = len(simulated) - verified
    told = [f"{count(verified, 'answer')} verified (§)"] if verified else []
    told += [f"{count(unverified, 'answer')} not verified"] if unverified else []
    return "".join(f"; {one}" for one in told)


def _disturbed(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Was something else running? By what ran beforehand, and by launches that differ a lot."""
    busy = (context.machine or {}).get("busy_processors") or 0.0
    if busy > BUSY:
        yield Finding(
            f"Other programs kept {number(busy, 2)} processors busy when the run began: times may "
            "be too long.",
            "warning",
        )
    several = [case for case in cases if len(case.times_s) > 1]
    uneven = [case for case in several if max(case.times_s) > UNEVEN * min(case.times_s)]
    if uneven:
        yield Finding(
            f"In {len(uneven)} of {count(len(several), 'case')} the slowest launch took more than "
            f"{UNEVEN} times as long as the fastest: something disturbed this machine.",
            "warning",
        )


def _implausible(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Messages as no machine has them."""
    yield from (Finding(text, "warning") for text in implausible(cases, context.machine))


def _memory(cases: Sequence[MeasuredCase]) -> Iterator[Finding]:
    """Bandwidth of the largest working set on the most cores against the fewest."""
    by_cores: dict[int, Swept] = {}
    for case in cases:
        triads = [p for p in sweep(case) if p.operation == "triad"] if _is(case, "stream") else []
        if triads:
            known = by_cores.get(case.cores)
            if known is None or known.rate.value < triads[-1].rate.value:
                by_cores[case.cores] = triads[-1]
    if not by_cores:
        return
    few, many = min(by_cores), max(by_cores)
    one, all_ = by_cores[few].rate.value, by_cores[many].rate.value
    if few == many:
        yield Finding(f"Memory bandwidth (triad) on {count(few, 'core')}: {rate(one)}.")
    else:
        yield Finding(
            f"{many} cores give {number(all_ / one, 2)} times the memory bandwidth of "
            f"{few if few > 1 else 'one'}: {rate(all_)} against {rate(one)} (triad)."
        )


def _solver(cases: Sequence[MeasuredCase]) -> Iterator[Finding]:
    """Each variant at its largest working set, on the most cores that stream ran on too."""
    known = [use for use in uses(cases, cases) if use.share is not None]
    for variant in dict.fromkeys(str(use.case.settings.get("variant")) for use in known):
        own = [use for use in known if str(use.case.settings.get("variant")) == variant]
        best = max(own, key=lambda u: (u.working_set_bytes, u.case.cores, u.achieved.value))
        why = ", as caches serve a part" if best.share and best.share > 1.05 else ""
        yield Finding(
            f"The {variant} solver reaches {percent(best.share)} of what stream's triad allows"
            f"{why}: {rate(best.achieved.value)} (N = {best.case.settings.get('n')}, "
            f"{count(best.case.cores, 'core')})."
        )


def _variants(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Fused against textbook on the largest mesh that both solved on the same few cores."""
    own = [case for case in cases if _is(case, "poisson_cg") and case.time]
    both = []
    for part in facets(own, ("variant",)):
        by_variant = {case.settings.get("variant"): case for case in part.cases}
        if {"fused", "textbook"} <= by_variant.keys():
            both.append((by_variant["textbook"], by_variant["fused"]))
    if not both:
        return
    textbook, fused = max(both, key=lambda pair: (pair[0].number("n"), -pair[0].cores))
    ratio = times_as_fast(textbook, fused, context.seed)
    if ratio:
        where = f"N = {fused.number('n')}, {count(fused.cores, 'core')}"
        pace = f"{_pace('is', ratio)} the textbook one{_interval(ratio)}"
        yield Finding(f"The fused solver {pace}: {where}.")


def _scaling(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """The largest mesh on the most cores; of several settings, the fastest."""
    own = [case for case in cases if _is(case, "poisson_cg")]
    ladders = [(one.p, ladder) for one in scalings(own) for ladder in one.ladders]
    tops = [
        (p, ladder, good[-1])
        for p, ladder in ladders
        if len(good := [case for case in ladder.steps.values() if case.launches]) > 1
    ]
    if not tops:
        return
    p, ladder, top = max(tops, key=lambda t: (t[1].n, t[2].cores, -_seconds(t[2])))
    ratio, share = ladder.speedup(top, context.seed), ladder.efficiency(top, context.seed)
    if ratio and share and ladder.base:
        fewer = "one" if ladder.base.cores == 1 else str(ladder.base.cores)
        yield Finding(
            f"With {top.cores} {p}, N = {ladder.n} {_pace('is solved', ratio)} with {fewer}"
            f"{_interval(ratio)}: an efficiency of {percent(share.value)}."
        )


def _published(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """The largest mesh that was solved by one process both in these cases and in some paper.

    Not of simulations: numbers of cluster files are from such published times.
    """
    own = [
        case
        for case in cases
        if _is(case, "poisson_cg") and case.cores == 1 and case.time and not _fixed(case)
        if not case.simulated
    ]
    for case in sorted(own, key=lambda case: (-case.number("n"), _seconds(case))):
        known = [
            found
            for paper in context.shelf
            if (found := Library([paper]).find(case, "time_s", ("convergence",)))
        ]
        if known:
            theirs = listed([f"{seconds(one.value)} on {one.source}" for one in known])
            own_time = f"N = {case.number('n')} on one core takes {seconds(_seconds(case))} here"
            yield Finding(f"{own_time}; published: {theirs}.")
            return


def _convergence(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """Do errors and iteration counts agree with what was published?"""
    own = [case for case in cases if _is(case, "poisson_cg") and case.launches and not _fixed(case)]
    library = Library(context.shelf)
    errors: list[float] = []
    iterations: list[float] = []
    for case in own:
        error = library.find(case, "error_max", ("convergence",), ("n",))
        steps = library.find(case, "iterations", ("convergence",), ("n",))
        if error and steps and case.result("error_max") and case.result("iterations"):
            errors.append(abs(case.result("error_max") / error.value - 1))
            iterations.append(abs(case.result("iterations") / steps.value - 1))
    if errors:
        yield Finding(
            f"Errors agree with the published ones within {_tiny(max(errors))}, iteration counts "
            f"within {_tiny(max(iterations))} ({count(len(errors), 'case')})."
        )


def _exchange(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    for ways in (EXCHANGES, OVERLAPS):
        yield from _compared(ways, cases, context)


def _compared(ways: Ways, cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    by_pair: dict[tuple[str, str], list[Contrast]] = {}
    for _, compared in groups(cases, context.seed, ways):
        for one in compared:
            key = (
                str(one.second.case.settings[ways.setting]),
                str(one.first.case.settings[ways.setting]),
            )
            by_pair.setdefault(key, []).append(one)
    for (other, reference), found in by_pair.items():
        verdicts = Counter(one.verdict for one in found)
        words = [f"{verdict} in {number_of}" for verdict, number_of in verdicts.most_common()]
        yield Finding(
            f"{ways.setting.capitalize()} {other} against {reference}, "
            f"{count(len(found), 'setting')}: {listed(words)}{_most(found, ways)}."
        )


def _most(found: Sequence[Contrast], ways: Ways) -> str:
    """Where the greatest of several differences is, and how great."""
    differ = [
        (one.ratio.value, one.second.case.settings)
        for one in found
        if one.verdict in ("faster", "slower") and one.ratio
    ]
    if len(differ) < 2:
        return ""
    ratio, settings = max(differ, key=lambda each: abs(log(each[0])))
    names = varying([one.second.case.settings for one in found])
    where = describe(settings, [name for name in names if name != ways.setting])
    return f"; most, {number(ratio)} times as fast, with {where}"


def _layouts(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """The largest mesh on the most cores that several layouts share: which of them to use."""
    own = [case for case in cases if _is(case, "poisson_cg") and case.time and not _mapped(case)]
    layouts: dict[tuple[int, ...], list[MeasuredCase]] = {}
    for index, part in enumerate(facets(own, LAYOUT)):
        for case in part.cases:
            key = (case.number("n"), case.cores, -case.number("nodes"), -index)
            layouts.setdefault(key, []).append(case)
    several = {key: group for key, group in layouts.items() if len(group) > 1}
    if not several:
        return
    (n, cores, nodes, _), group = max(several.items())
    best, *others = (step(case) for case in sorted(group, key=_seconds))
    apart = varying([case.settings for case in group])
    verdicts: dict[str, list[str]] = {}
    for one in contrasts([(best, other) for other in others], context.seed):
        name = describe(one.second.case.settings, apart)
        verdicts.setdefault(one.verdict, []).append(name)
    told = "; ".join(
        f"{verdict}: {names[0] if len(names) == 1 else f'{len(names)} others'}"
        for verdict, names in verdicts.items()
    )
    where = f" of {-nodes} nodes" if nodes < -1 else ""
    yield Finding(
        f"N = {n} on {count(cores, 'core')}{where} is fastest with "
        f"{describe(best.case.settings, apart)} "
        f"({seconds(_seconds(best.case))}). Against it, {told}."
    )


def _mappings(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Finding]:
    """On how many nodes tasks are fastest, and which of them on each."""
    yield from (Finding(text) for text in headlines(cases, context.seed))


def _pingpong(cases: Sequence[MeasuredCase]) -> Iterator[Finding]:
    """The smallest messages' time and the best bandwidth; of several settings, the best of each."""
    own = [case for case in cases if exchanges(case) and case.launches]
    parts = {
        part.label: [p for p in sweep(part.cases[0]) if p.size_bytes] for part in facets(own, ())
    }
    ends = {
        label: (points[0], max(points, key=lambda point: point.rate.value))
        for label, points in parts.items()
        if points
    }
    if not ends:
        return
    quick = min(ends, key=lambda label: ends[label][0].one_way.value)
    broad = max(ends, key=lambda label: ends[label][1].rate.value)
    least, most = ends[quick][0], ends[broad][1]
    yield Finding(
        f"Ping-pong: {size(least.size_bytes)} take {seconds(least.one_way.value)} one way"
        f"{f' ({quick})' if quick else ''}; the highest bandwidth is "
        f"{rate(most.rate.value)}, at {size(most.size_bytes)}"
        f"{f' ({broad})' if broad else ''}"
        f"{f', of {len(ends)} settings' if len(ends) > 1 else ''}."
    )


def _is(case: MeasuredCase, kernel: str) -> bool:
    return case.kernel == kernel


def _mapped(case: MeasuredCase) -> bool:
    """Is it one of the same tasks on several numbers of nodes?"""
    return bool(case.settings.get("pattern"))


def _fixed(case: MeasuredCase) -> bool:
    """Was the number of iterations fixed, so that nothing converged?"""
    return bool(case.settings.get("iterations"))


def _seconds(case: MeasuredCase) -> float:
    return case.time.value if case.time else float("inf")


def _pace(verb: str, ratio: Estimate) -> str:
    """ "is 2.0 times as fast as", or for a ratio below one "takes 2.0 times as long as"."""
    if ratio.value < 1:
        return f"takes {number(1 / ratio.value)} times as long as"
    return f"{verb} {number(ratio.value)} times as fast as"


def _interval(ratio: Estimate) -> str:
    """A ratio's interval in words, above one as the ratio is said; nothing where it has none."""
    if ratio.value < 1:
        ratio = ratio.rate(1.0)
    if ratio.low is None or ratio.high is None:
        return ""
    return f" (95 % interval {number(ratio.low)} to {number(ratio.high)})"


def _tiny(share: float) -> str:
    return "0.01 %" if share <= 1e-4 else percent(share) if share > 1e-3 else f"{100 * share:.2f} %"


def _split_phase(cases: Sequence[MeasuredCase]) -> Iterator[Finding]:
    """What dominates a star forest's operation, from small to large."""
    for case in cases:
        model = split_phase_model(case)
        if model is None or not model.data.local_bytes.any():
            continue
        least, most = (size(model.data.remote_bytes[point]) for point in (0, -1))
        longest = [model.longest(point) for point in range(len(model.whole_s))]
        where = (
            f"{longest[0]} at every size from {least} to {most} sent"
            if len(set(longest)) == 1
            else f"{longest[0]} at {least} sent, {longest[-1]} at {most}. {switch_text(model)}"
        )
        yield Finding(
            f"{name_of(case, cases)}: longest of an operation's parts: {where.rstrip('.')}."
        )
