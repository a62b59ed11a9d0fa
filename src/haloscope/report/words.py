# SPDX-License-Identifier: BSD-3-Clause
"""Ratios of times in words, as findings say them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import UNTESTABLE, Contrast, launches_needed
from haloscope.analysis.model_steps import step_near
from haloscope.analysis.races import Race
from haloscope.quantities import (
    PLAIN,
    Scale,
    count,
    ends,
    listed,
    number,
    percent,
    probability,
    unit_of,
)
from haloscope.stats.estimates import Estimate
from haloscope.stats.stopping_rule import FEWEST_FOR_INTERVAL

RANGE = "–"
"""RANGE stands between the ends of what published digits leave open."""


def ratio_between(value: float, low: float, high: float, digits: int = 2) -> str:
    """A ratio; "from–to" where the digits of what it is made from leave it open by a tenth."""
    if high - low > 0.1 * value:
        return f"{number(low, 2)}{RANGE}{number(high, 2)}"
    return number(value, digits)


def pace(verb: str, ratio: Estimate) -> str:
    """ "is 2.0 times as fast as", or for a ratio below one "takes 2.0 times as long as"."""
    if ratio.value < 1:
        return f"takes {number(1 / ratio.value)} times as long as"
    return f"{verb} {number(ratio.value)} times as fast as"


ABOVE = 1.005
"""ABOVE is the least efficiency that is more than 100 %, as it is written, without a decimal."""


def above_one(case: MeasuredCase, efficiency: Estimate) -> str:
    """That an efficiency is above 100 % for reasons unknown, or not shown to be; else nothing."""
    if efficiency.value < ABOVE:
        return ""
    if not case.alike and (efficiency.low is None or efficiency.low <= 1):
        why = "so few launches" if efficiency.low is None else "launches that scatter so far"
        return f"by {why}, more than 100 % is not shown"
    return "why it is above 100 % is not known"


def interval(ratio: Estimate, verdict: str = "") -> str:
    """How sure a ratio is, above one as `pace` says it: see `sure`."""
    return sure(ratio if ratio.value >= 1 else ratio.rate(1.0), verdict)


def sure(ratio: Estimate, verdict: str = "") -> str:
    """How sure a ratio is, in words: " (2.1 to 4.4 of 3 launches, too few launches to tell)".

    verdict: of a test, which is said where it shows no difference. Nothing of simulated times.
    """
    known = spread(ratio)
    if verdict not in (UNTESTABLE, "no difference shown"):
        return known
    return f"{known.removesuffix(')')}, {verdict})" if known else f" ({verdict})"


def spread(estimate: Estimate, scale: Scale = PLAIN) -> str:
    """The interval of an estimate in words, or the range of too few launches for one.

    " (95 % interval 1.21 to 1.30 µs)", " (1.2 to 4.0 of 3 launches)", " (one launch)"; nothing
    where times are the same in every launch, as simulated ones are.
    """
    if estimate.low is None or estimate.high is None:
        return " (one launch)" if estimate.method == "none" and estimate.n == 1 else ""
    low, high = ends(estimate.value, estimate.low, estimate.high, scale)
    told = f"{low} to {high} {unit_of(estimate.value, scale)[1]}".rstrip()
    if estimate.method == "repetitions":
        return f" ({told} inside the only launch)"
    if estimate.method == "range":
        return f" ({told} of {count(estimate.n, 'launch', 'launches')})"
    return f" (95 % interval {told})"


def tests_of(contrasts: Sequence[Contrast]) -> str:
    """Which tests were made: of launches, or of the allocations that these are nested in."""
    made = [contrast.comparison for contrast in contrasts if contrast.comparison]
    nested = [one.ratio is not None and one.ratio.allocations is not None for one in made]
    named = [] if nested and all(nested) else ["two-sided Mann-Whitney over launches"]
    return listed([*named, *(["Student's over allocations"] if any(nested) else [])])


SPANS = 3
"""SPANS is the largest number of spans that are told one by one."""


def spans(chosen: Sequence[float], among: Sequence[float], show: Callable[[float], str]) -> str:
    """Some of several ordered values: "8 B to 2 KiB and 16 KiB"; neighbours stand as one span.

    Of more than SPANS: "7 of 18 sizes from 8 B to 1 MiB".
    """
    order = sorted(set(among))
    places = sorted({order.index(value) for value in chosen})
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    if len(runs) > SPANS:
        first, last = show(order[runs[0][0]]), show(order[runs[-1][-1]])
        return f"{len(places)} of {len(order)} sizes from {first} to {last}"
    return listed([
        show(order[run[0]])
        if len(run) == 1
        else f"{show(order[run[0]])} to {show(order[run[-1]])}"
        for run in runs
    ])  # fmt: skip


def between(values: Sequence[float], digits: int = 3) -> str:
    """Numbers as their ends: "1.05 to 1.31"; one where both are written alike."""
    low, high = number(min(values), digits), number(max(values), digits)
    return low if low == high else f"{low} to {high}"


def times(ratios: Sequence[float]) -> str:
    """Ratios as their ends, with so many digits that none which is not 1 is written as 1.00."""
    near = [ratio for ratio in ratios if ratio != 1]
    enough = (
        digits
        for digits in range(3, 8)
        if all(number(ratio, digits) != number(1.0, digits) for ratio in near)
    )
    return between(ratios, next(enough, 8))


def winner(race: Race[str], time: str, what: str = "") -> str:
    """Who is fastest by how much, or that nobody is; `time` is that of the fastest, by `typical`.

    what: a word before the names of those that race.
    """
    number_of = len(race.against) + 1
    if not race.lead and number_of > 2 and race.tied:
        return f"all {number_of} are equally fast ({time})"
    name = f"{what} {race.best}".lstrip()
    known = "fastest with" if race.lead else "none is shown to be fastest, lowest median with"
    return f"{known} {name} ({time}); {others(race)}"


def typical(case: MeasuredCase, time: str) -> str:
    """ "median 47.3 ms" of a case's launches; of launches that are all alike, their time."""
    return time if case.alike else f"median {time}"


def others(race: Race[str]) -> str:
    """Who is behind the fastest by how much, and who is not shown to be."""
    slower = [name for name, contrast in race.against.items() if contrast.verdict == "faster"]
    even = [name for name in race.against if name not in slower]
    told = []
    if slower:
        named = slower[0] if len(slower) == 1 else f"{len(slower)} others"
        verb = "takes" if len(slower) == 1 else "take"
        told.append(f"{named} {verb} {between([race.over(n) for n in slower])} times as long")
    if even:
        told.append(f"{listed(even) if len(even) < 4 else f'{len(even)} others'}: {_even(race)}")
    return "; ".join(told)


def _even(race: Race[str]) -> str:
    if race.too_few:
        return "launches are too few to tell"
    return "as fast" if race.tied else "no difference shown"


def at_most(p: float) -> str:
    """The largest p-value of several: "≤ 0.012", "<0.001"."""
    text = probability(p)
    return text if text.startswith("<") else f"≤ {text}"


def enough_launches(tests: int) -> str:
    """That launches are too few to tell by so many tests, and how many would do."""
    return (
        f"launches are too few to tell: {launches_needed(tests)} of each would do for "
        f"{count(tests, 'comparison')}"
    )


def shares_between(shares: Sequence[float]) -> str:
    """Shares of one as their ends: "3.1 to 22 %", "up to 22 %" from nearly none."""
    low, high = percent(min(shares)), percent(max(shares))
    if low in ("0 %", "0.0 %"):
        return f"up to {high}"
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def on_steps(named: Iterable[tuple[str, MeasuredCase]], machine: Mapping[str, Any] | None) -> str:
    """Which of named cases are near a step: ", but fused (at L2) is near a step of the model"."""
    near = [f"{name} (at {at})" for name, case in named if (at := step_near(case, machine))]
    if not near:
        return ""
    verb = "is" if len(near) == 1 else "are"
    return f", but {listed(near)} {verb} near a step of the model, where measured times may differ"


ONCE = ", measured once"
"""ONCE is what is said of a case of one launch."""


_LYING = {
    "oversubscribed": "on shared processors",
    "same-core": "within a core",
    "same-cache": "within a cache",
    "same-numa": "within a NUMA domain",
    "same-socket": "within a socket",
    "other-socket": "between sockets",
    "same-node": "within a node",
    "other-node": "between nodes",
}


def lying(distance: str) -> str:
    """How two processes lie to each other, behind what a message between them takes.

    distance: as `analysis.distance.widest` names it, ", cores shared" among them.
    """
    where, *shared = distance.split(", ")
    return ", ".join([_LYING[where], *shared])


BECAME = {
    "wrong": "gave a wrong answer",
    "failed": "failed",
    "timeout": "ran out of time",
    "misplaced": "ran on other cores or ranks than asked for",
    "absent": "could not be made here",
}
"""BECAME is what became of launches by their outcomes, where these are not good."""


def few(*cases: MeasuredCase) -> str:
    """ ", medians of 3 launches": where some were launched too seldom for an interval of theirs.

    ", medians of 2 to 7 launches" where they were launched differently often.
    """
    launches = [len(case.launches) for case in cases if not case.alike]
    least = min(launches, default=FEWEST_FOR_INTERVAL)
    if least >= FEWEST_FOR_INTERVAL:
        return ""
    most = max(launches)
    if least < most:
        return f", medians of {least} to {most} launches"
    return f", medians of {least} launches" if least > 1 else ONCE


def on_emulated(*cases: MeasuredCase) -> str:
    """ ", on an emulated device", so that nobody takes their times for those of a GPU."""
    return ", on an emulated device" if any(case.emulated for case in cases) else ""


def place(*cases: MeasuredCase) -> str:
    """ ", simulated on stampede2": where times are from, if not of several places, or measured."""
    clusters = {case.cluster if case.simulated else None for case in cases}
    (cluster,) = clusters if len(clusters) == 1 else (None,)
    return f", simulated on {cluster}" if cluster else ""


def beyond(label: str, *said: str) -> str:
    """What a label says that other words beside it do not say already.

    Of "2 processes, layout = blocked" beside "2 processes": "layout = blocked".
    """
    known = {word for one in said for word in one.split(", ")}
    return ", ".join(word for word in label.split(", ") if word not in known)


def shared_words(labels: Sequence[str]) -> str:
    """What all of several labels say: of "1 node, mpi = a" and "1 node, mpi = b", "1 node"."""
    first, *others = [label.split(", ") for label in labels]
    return ", ".join(word for word in first if all(word in other for other in others))


def clock(cases: Sequence[MeasuredCase]) -> str:
    """What times of these cases are: "simulated", or "measured" where any was."""
    return "simulated" if all(case.simulated for case in cases) else "measured"


def none_suits(cases: Sequence[MeasuredCase]) -> str:
    """That no case suits; cases without a good launch are named, as these might."""
    lacking = sum(not case.launches for case in cases)
    if not lacking:
        return "no case suits it"
    if lacking == len(cases):
        return f"{'the case has' if lacking == 1 else f'all {lacking} cases have'} no good launch"
    rest = f"{lacking} of {len(cases)} cases {'has' if lacking == 1 else 'have'} none"
    return f"no case with a good launch suits it, and {rest}"
