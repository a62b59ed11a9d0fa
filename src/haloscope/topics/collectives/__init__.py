# SPDX-License-Identifier: BSD-3-Clause
"""Collective operations: algorithms against each other, and performance guidelines.

A library picks an algorithm by size and by ranks. Where it changes from one to another, the time of
a longer message may leap, or be less than that of a shorter one: no one algorithm does either.

Sources: Träff, Gropp and Thakur, Self-consistent MPI performance guidelines (IEEE TPDS 21, 2010);
Hunold, Carpen-Amarie, Lübbe and Träff, Automatic verification of self-consistent MPI performance
guidelines (PGMPI; Euro-Par 2016). Of their guidelines those whose operations `collectives` has.

A stand-in's time is the sum of its operations' times, each by itself, launch by launch.

As Träff, Gropp and Thakur have it (IEEE TPDS 21, 2010), a call that is made for a task should take
no longer than others that do it: MPI_Neighbor_alltoallw no longer than MPI_Irecv and MPI_Isend for
every neighbour. Of jacobi3d, in which both exchange the same buffers. Not of poisson_cg, which
computes while single messages travel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import log, log2
from typing import Literal

from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.comparison import OPEN, Contrast, Measure, contrasts, point_time
from haloscope.analysis.facets import Facet, facets
from haloscope.analysis.sweeps import Swept, sweep
from haloscope.grouped import grouped
from haloscope.layout import CORES
from haloscope.records.record import Record
from haloscope.stats.estimates import Estimate

AXES = (*CORES, "bind", "sizes")
FLAT = 2.0
"""FLAT is the largest ratio to the shortest message's time that counts as flat."""
LEAP = 1.3
"""LEAP is the smallest factor, by which a longer message is faster, or slower than in proportion,
that counts as a leap.
"""


@dataclass(frozen=True)
class Growth:
    """An operation on the fewest and on the most ranks: the ratio of its times.

    law: the nearest law, see `order_of`; None if the interval, or the range of too few launches for
    one, leaves it open.
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


def parts(cases: Sequence[MeasuredCase]) -> list[Facet]:
    """Return cases of collectives with several ranks that differ only in processes and their
    places.
    """
    own = [case for case in cases if case.kernel == "collectives" and case.launches]
    found = facets([case for case in own if case.ranks > 1], AXES)
    return [part for part in found if not any(case.settings.get("tasks") for case in part.cases)]


def by_operation(case: MeasuredCase) -> dict[str, list[Swept]]:
    """Return the points of each operation by size; a single one for barrier, which
    moves no data.
    """
    return grouped(sweep(case), lambda point: str(point.operation))


def undisturbed(case: MeasuredCase) -> dict[str, list[Swept]]:
    """Return the points of each operation that moves data.

    Without warm-up steps before each repetition the smallest size is omitted: it follows the
    largest messages of another operation, and takes longer than the next sizes.
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
    """Return whether warm-up steps precede every repetition of a case."""
    return all(record.warmup for record in case.launches)


def flat_to(points: Sequence[Swept]) -> int:
    """Return the largest size up to which no message takes FLAT times as long as the shortest."""
    last = points[0]
    for point in points:
        if point.time.value > FLAT * points[0].time.value:
            break
        last = point
    return last.size_bytes


def growth(few: MeasuredCase, many: MeasuredCase, seed: int = 0) -> list[Growth]:
    """Return the growth of every operation at its smallest and largest common size."""
    ends = list(_ends(few, many))
    pairs = [(point_time(few, own), point_time(many, other)) for _, own, other in ends]
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
    least, most = ({**by_operation(case), **undisturbed(case)} for case in (few, many))
    for operation in [name for name in least if name in most]:
        there = {point.size_bytes: point for point in most[operation]}
        both = [point for point in least[operation] if point.size_bytes in there]
        for point in both[:1] + both[1:][-1:]:
            yield operation, point, there[point.size_bytes]


def ladders(part: Facet) -> list[list[MeasuredCase]]:
    """Return cases by ascending ranks: on one node, and on several nodes with equal
    ranks per node.
    """
    within = [case for case in part.cases if case.layout.nodes == 1]
    across = [case for case in part.cases if case.layout.nodes > 1]
    most = max((case.layout.ppn for case in across), default=0)
    full = [case for case in across if case.layout.ppn == most]
    ordered = [sorted(own, key=lambda case: case.ranks) for own in (within, full)]
    return [own for own in ordered if len({case.ranks for case in own}) > 1]


def order_of(times: float, few: int, many: int) -> str:
    """Return the nearest law of a growth: "1", "log2 p", "p", or "beyond p" from half more."""
    laws = {"1": 1.0, "log2 p": log2(many) / log2(few), "p": many / few}
    if laws["p"] < 1.5 * laws["log2 p"] or laws["log2 p"] < 1.5:
        return ""
    if times > 1.5 * laws["p"]:
        return "beyond p"
    return min(laws, key=lambda name: abs(log(times / laws[name])))


def law_named(one: Growth) -> str:
    """Return the nearest law in words; "" with too few processes to distinguish laws."""
    if one.law is None:
        return "no law shown"
    return {
        "1": "nearest to no growth",
        "log2 p": "nearest to log₂ p",
        "p": "nearest to p",
        "beyond p": "more than in proportion to p",
    }.get(one.law, "")


def leaps(case: MeasuredCase, seed: int = 0) -> list[Leap]:
    """Return where a longer message is faster, or slower than in proportion; by a test
    if measured.
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
    for points in undisturbed(case).values():
        yield from pairwise(points)


def _measures(
    case: MeasuredCase, below: Swept, above: Swept
) -> tuple[tuple[Measure, Measure], tuple[Measure, Measure]]:
    """Return the longer against the shorter size, and against the shorter in proportion to the
    size.
    """
    stretch = above.size_bytes / below.size_bytes
    longer, shorter = point_time(case, above), point_time(case, below)
    sample = tuple(stretch * time for time in below.sample)
    stretched = Measure(case, "", sample, below.time.times(stretch))
    return (shorter, longer), (stretched, longer)


WORTH = 1.05
"""A stand-in that saves less is not worth searching for."""

Sized = Literal["alike", "by ranks", "of ranks"]
"""A stand-in's message relative to the operation's: equal, one p-th, or p times as long."""


@dataclass(frozen=True)
class Guideline:
    """An operation, and the operations that can replace it, each with its message's size."""

    operation: str
    stand_in: tuple[tuple[str, Sized], ...]

    @property
    def text(self) -> str:
        """Return for example "bcast no slower than scatter and allgather"."""
        others = " and ".join(name for name, _ in self.stand_in)
        return f"{self.operation} no slower than {others}"


GUIDELINES = (
    Guideline("allreduce", (("reduce", "alike"), ("bcast", "alike"))),
    Guideline("reduce", (("allreduce", "alike"),)),
    Guideline("bcast", (("scatter", "by ranks"), ("allgather", "by ranks"))),
    Guideline("allgather", (("gather", "alike"), ("bcast", "of ranks"))),
    Guideline("allgather", (("alltoall", "alike"),)),
    Guideline("allgather", (("allreduce", "of ranks"),)),
    Guideline("gather", (("allgather", "alike"),)),
    Guideline("gather", (("reduce", "of ranks"),)),
    Guideline("scatter", (("bcast", "of ranks"),)),
)
"""GUIDELINES hold for any MPI library. Sizes are messages of bcast, reduce, and allreduce, and one
rank's block of the others: scatter and allgather of one p-th each replace a bcast.
"""


@dataclass(frozen=True)
class Followed:
    """A guideline for one case, at every size measured for all its operations.

    at: by size, the operation against its stand-in: "slower" if the guideline is violated.
    """

    guideline: Guideline
    case: MeasuredCase
    at: Mapping[int, Contrast]

    @property
    def broken(self) -> dict[int, Contrast]:
        """Return the sizes at which the operation is shown to be slower by a relevant factor."""
        return {size: one for size, one in self.at.items() if is_broken(one)}

    @property
    def too_few(self) -> bool:
        """Whether launches are too few for a verdict at some size."""
        return any(one.verdict in OPEN for one in self.at.values())

    @property
    def worst(self) -> tuple[int, Contrast] | None:
        """The size with the largest ratio of the operation to its stand-in, among violations."""
        broken = self.broken
        at = max(broken, key=lambda size: over(broken[size]), default=None)
        return None if at is None else (at, broken[at])


def over(contrast: Contrast) -> float:
    """Return the time of the operation relative to its stand-in."""
    assert contrast.ratio is not None
    return 1 / contrast.ratio.value


def guideline_followed(cases: Sequence[MeasuredCase], seed: int = 0) -> list[Followed]:
    """Return all guidelines for all cases of collectives, corrected for all tests."""
    own = [case for case in cases if case.kernel == "collectives" and case.launches]
    pairs: dict[tuple[MeasuredCase, Guideline], dict[int, tuple[Measure, Measure]]] = {}
    for case in own:
        if case.ranks > 1:
            points = {(str(one.operation), Fraction(one.size_bytes)): one for one in sweep(case)}
            for guideline in GUIDELINES:
                if found := _pairs(case, guideline, points):
                    pairs[case, guideline] = found
    tests = iter(contrasts([pair for found in pairs.values() for pair in found.values()], seed))
    return [
        Followed(guideline, case, {size: next(tests) for size in found})
        for (case, guideline), found in pairs.items()
    ]


def _pairs(
    case: MeasuredCase, guideline: Guideline, points: Mapping[tuple[str, Fraction], Swept]
) -> dict[int, tuple[Measure, Measure]]:
    """Return by size the stand-in and the operation, without sizes whose measurement
    was disturbed.
    """
    found = {}
    factors = {"alike": Fraction(1), "by ranks": Fraction(1, case.ranks)}
    factors["of ranks"] = Fraction(case.ranks)
    for point in undisturbed(case).get(guideline.operation, ()):
        size = point.size_bytes
        others = [points.get((name, size * factors[how])) for name, how in guideline.stand_in]
        there = [one for one in others if one is not None]
        if len(there) == len(others) and len({len(one.sample) for one in (point, *there)}) == 1:
            sample = tuple(map(sum, zip(*(one.sample for one in there), strict=True)))
            stand_in = Measure(case, "", sample, case.estimate(sample))
            found[size] = (stand_in, point_time(case, point))
    return found


COLLECTIVE, SINGLE = "neighbor", "nonblocking"
"""The values of `exchange` that are compared."""
PHASE = "exchange"
"""PHASE is the compared part of a step, because sweeps take the same time with both."""


def halo_followed(cases: Sequence[MeasuredCase], seed: int = 0) -> list[Contrast]:
    """Compare the collective with single messages, for each setting that was run with both."""
    alike = [
        case
        for case in cases
        if case.kernel == "jacobi3d"
        and case.launches
        and case.ranks > 1
        and case.settings["overlap"] == "no"
    ]
    pairs = []
    for part in facets(alike, ("exchange",)):
        by = {str(case.settings.get("exchange")): case for case in part.cases}
        if {COLLECTIVE, SINGLE} <= by.keys():
            pairs.append((_exchange(by[SINGLE]), _exchange(by[COLLECTIVE])))
    return contrasts(pairs, seed)


def is_broken(one: Contrast) -> bool:
    """Return whether the collective is shown to be slower by a relevant factor."""
    return one.verdict == "slower" and over(one) >= WORTH


def _exchange(case: MeasuredCase) -> Measure:
    sample = case.sample(_exchange_s)
    return Measure(case, PHASE, tuple(sample), case.estimate(sample))


def _exchange_s(record: Record) -> float | None:
    """Return the seconds of the phase per step, median over repetitions; in older
    records the mean.
    """
    own = [phase for phase in record.phases if phase["name"] == PHASE]
    return float(own[0].get("median_s", own[0]["time_s"])["max"]) if own else None
