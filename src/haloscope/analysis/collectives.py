# SPDX-License-Identifier: BSD-3-Clause
"""How collective operations grow: with the message, with processes, and where times leap.

A library picks an algorithm by size and by ranks. Where it changes from one to another, the time of
a longer message may leap, or be less than that of a shorter one: no one algorithm does either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, log2

from haloscope.analysis.cases import Facet, MeasuredCase, facets
from haloscope.analysis.comparison import Measure, contrasts
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.stats.estimates import Estimate

AXES = ("nodes", "ppn", "threads", "bind", "sizes")
FLAT = 2.0
"""FLAT is the largest time over the shortest message's that is called flat."""
LEAP = 1.3
"""LEAP is the smallest factor worth a word: by which a longer message is faster, or slower than in
proportion to its size."""


@dataclass(frozen=True)
class Growth:
    """An operation on the fewest ranks and on the most: how many times as long it takes there.

    law: what that is nearest to, see `order_of`; None where its interval, or the range of too few
         launches for one, leaves that open.
    """

    operation: str
    size_bytes: int
    few: Swept
    many: Swept
    times: Estimate
    law: str | None


@dataclass(frozen=True)
class Leap:
    """Two neighbouring sizes of an operation. times: time of the larger over the smaller one's."""

    operation: str
    below_bytes: int
    above_bytes: int
    times: Estimate

    @property
    def factor(self) -> float:
        """The estimate's value."""
        return self.times.value


def parts(cases: Sequence[MeasuredCase]) -> list[Facet]:
    """Cases of collectives of several ranks that differ in processes and their places alone."""
    own = [case for case in cases if case.kernel == "collectives" and case.launches]
    found = facets([case for case in own if case.ranks > 1], AXES)
    return [part for part in found if not any(case.settings.get("tasks") for case in part.cases)]


def by_operation(case: MeasuredCase) -> dict[str, list[Swept]]:
    """The points of each operation by size; of one that moves nothing (barrier) a single one."""
    found: dict[str, list[Swept]] = {}
    for point in sweep(case):
        found.setdefault(str(point.operation), []).append(point)
    return found


def undisturbed(case: MeasuredCase) -> dict[str, list[Swept]]:
    """The points of each operation that moves something.

    Without the smallest where nothing was run before each repetition: that one comes after the
    largest messages of another operation, and takes longer than the next ones do.
    """
    sized = {
        operation: points
        for operation, every in by_operation(case).items()
        if (points := [point for point in every if point.size_bytes])
    }
    if case.simulated or warmed_up(case):
        return sized
    return {name: points[1:] for name, points in sized.items()}


def warmed_up(case: MeasuredCase) -> bool:
    """Whether every repetition of a case came after steps of its own that do not count."""
    return all(record.raw.get("warmup") for record in case.launches)


def flat_to(points: Sequence[Swept]) -> int:
    """The largest size up to which no message takes FLAT times as long as the shortest."""
    last = points[0]
    for point in points:
        if point.time.value > FLAT * points[0].time.value:
            break
        last = point
    return last.size_bytes


def growth(few: MeasuredCase, many: MeasuredCase, seed: int = 0) -> list[Growth]:
    """Every operation at its smallest and largest size that both have."""
    ends = list(_ends(few, many))
    pairs = [
        (Measure(few, "", o.sample, o.time), Measure(many, "", m.sample, m.time))
        for _, o, m in ends
    ]
    found = []
    for (name, own, other), contrast in zip(ends, contrasts(pairs, seed), strict=True):
        assert contrast.ratio is not None
        times = contrast.ratio.rate(1.0)
        reach = [times.value, *(end for end in (times.low, times.high) if end is not None)]
        laws = {order_of(end, few.ranks, many.ranks) for end in reach}
        law = laws.pop() if len(laws) == 1 else None
        found.append(Growth(name, own.size_bytes, own, other, times, law))
    return found


def _ends(few: MeasuredCase, many: MeasuredCase) -> Iterator[tuple[str, Swept, Swept]]:
    """The smallest and the largest size of each operation that two cases have, in both."""
    least, most = ({**by_operation(case), **undisturbed(case)} for case in (few, many))
    for operation in [name for name in least if name in most]:
        there = {point.size_bytes: point for point in most[operation]}
        both = [point for point in least[operation] if point.size_bytes in there]
        for point in both[:1] + both[1:][-1:]:
            yield operation, point, there[point.size_bytes]


def ladders(part: Facet) -> list[list[MeasuredCase]]:
    """Cases by rising ranks: those of one node, and those of several with as many on each.

    Of several nodes those with the most ranks a node: what leaves a node is no growth with ranks.
    """
    within = [case for case in part.cases if case.number("nodes") == 1]
    across = [case for case in part.cases if case.number("nodes") > 1]
    most = max((case.number("ppn") for case in across), default=0)
    full = [case for case in across if case.number("ppn") == most]
    ordered = [sorted(own, key=lambda case: case.ranks) for own in (within, full)]
    return [own for own in ordered if len({case.ranks for case in own}) > 1]


def order_of(times: float, few: int, many: int) -> str:
    """What a growth is nearest to: "1", "log2 p", "p", or "beyond p" by half and more.

    "" where these can't be told apart.
    """
    laws = {"1": 1.0, "log2 p": log2(many) / log2(few), "p": many / few}
    if laws["p"] < 1.5 * laws["log2 p"] or laws["log2 p"] < 1.5:
        return ""
    if times > 1.5 * laws["p"]:
        return "beyond p"
    return min(laws, key=lambda name: abs(log(times / laws[name])))


def law_named(one: Growth) -> str:
    """What a growth is nearest to, in words; "" where processes are too few to tell laws apart."""
    if one.law is None:
        return "no law shown"
    return {
        "1": "nearest to no growth",
        "log2 p": "nearest to log₂ p",
        "p": "nearest to p",
        "beyond p": "more than in proportion to p",
    }.get(one.law, "")


def leaps(case: MeasuredCase, seed: int = 0) -> list[Leap]:
    """Where a longer message is faster, or slower than in proportion, by a test where measured.

    Those that differ by less than LEAP are passed over; the others stand in the order of sizes.
    """
    pairs = [(*pair, *_measures(case, *pair)) for pair in _neighbours(case)]
    tests = contrasts([pair for *_, down, up in pairs for pair in (down, up)], seed)
    found = []
    for (below, above, _, _), falls, jumps in zip(pairs, tests[::2], tests[1::2], strict=True):
        factor = above.time.value / below.time.value
        stretch = above.size_bytes / below.size_bytes
        fell = falls.verdict == "faster" and factor <= 1 / LEAP
        jumped = jumps.verdict == "slower" and factor >= LEAP * stretch
        if fell or jumped:
            assert falls.ratio is not None
            times = falls.ratio.rate(1.0)
            found.append(Leap(str(below.operation), below.size_bytes, above.size_bytes, times))
    return found


def _neighbours(case: MeasuredCase) -> Iterator[tuple[Swept, Swept]]:
    """Neighbouring sizes of each operation."""
    for points in undisturbed(case).values():
        yield from pairwise(points)


def _measures(
    case: MeasuredCase, below: Swept, above: Swept
) -> tuple[tuple[Measure, Measure], tuple[Measure, Measure]]:
    """The longer against the shorter, and against the shorter in proportion to the size."""
    stretch = above.size_bytes / below.size_bytes
    longer = Measure(case, "", above.sample, above.time)
    shorter = Measure(case, "", below.sample, below.time)
    sample = tuple(stretch * time for time in below.sample)
    stretched = Measure(case, "", sample, below.time.times(stretch))
    return (shorter, longer), (stretched, longer)
