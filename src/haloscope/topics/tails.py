# SPDX-License-Identifier: BSD-3-Clause
"""Slow repetitions: percentiles of cases with many repetitions, and their table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from haloscope.analysis.cases import MeasuredCase, row_name
from haloscope.analysis.context import Context
from haloscope.analysis.sweeps import sweep
from haloscope.quantities import SECONDS, count, listed, seconds
from haloscope.records.points import point_name
from haloscope.records.record import Record
from haloscope.stats.estimates import Estimate, median_range
from haloscope.stats.sequential import warmup_if_any
from haloscope.stats.tails import needed, percentile
from haloscope.topics.common.notebook import Notebook
from haloscope.topics.common.table import Cell, Column, Table, label, missing, shown, times

SHARES = (0.95, 0.99)
"""SHARES are the displayed percentiles: P95 and P99."""


@dataclass(frozen=True)
class Tail:
    """The repetitions of a case's step, or of a point of its sweep, all launches together.

    what: the point; "" for the step. repetitions: without the detected warm-up. median: of all of
    them. at: by share; None if more repetitions are needed.
    """

    case: MeasuredCase
    what: str
    repetitions: int
    median: Estimate
    at: dict[float, Estimate | None]


def most_repetitions(case: MeasuredCase) -> int:
    """Return the repetitions of all launches of a case's step, or of the point with the most."""
    return max((sum(map(len, own)) for _, own in _steady(case)), default=0)


def tails(case: MeasuredCase) -> list[Tail]:
    """Return the percentiles of a measured case; none with too few repetitions, or if simulated."""
    if case.simulated:
        return []
    least = needed(min(SHARES))
    enough = [(what, own) for what, own in _steady(case) if sum(map(len, own)) >= least]
    return [_tail(case, what, own) for what, own in enough]


def _repetitions(case: MeasuredCase) -> Iterator[tuple[str, list[list[float]]]]:
    points = sweep(case)
    if not points:
        yield "", [list(record.times_s) for record in case.launches if record.times_s]
    for point in points:
        own = [
            list(one["times_s"])
            for record in case.launches
            for one in record.points
            if (one.get("operation"), one["size_bytes"]) == (point.operation, point.size_bytes)
            and one["times_s"]
        ]
        yield point_name((point.operation, point.size_bytes), case.size_unit), own


def _steady(case: MeasuredCase) -> Iterator[tuple[str, list[list[float]]]]:
    """Yield every point with its repetitions, by launch, without the detected warm-up."""
    for what, launches in _repetitions(case):
        found = warmup_if_any(launches)
        first = found.repetitions if found is not None and found.settled else 0
        yield what, [launch[first:] for launch in launches]


def _tail(case: MeasuredCase, what: str, steady: Sequence[Sequence[float]]) -> Tail:
    every = [time for launch in steady for time in launch]
    median = median_range(every)
    at = {share: percentile(steady, share) for share in SHARES}
    return Tail(case, what, len(every), median, at)


@dataclass(frozen=True)
class RankTime:
    """The computation time of one rank per step, in seconds, over launches.

    host: its node, as reported. beyond: relative to the mean of all ranks of a launch. slowest:
    number of launches in which it took longest.
    """

    rank: int
    host: str
    seconds: Estimate
    beyond: Estimate
    slowest: int


@dataclass(frozen=True)
class Waiting:
    """The wait of ranks for the slowest in a step, from differences in computation.

    share: of a step, over launches: difference between the longest computation and the mean. ranks:
    the slowest first.
    """

    case: MeasuredCase
    share: Estimate
    ranks: tuple[RankTime, ...]


def waiting(case: MeasuredCase) -> Waiting | None:
    """Return the waits in a measured case's launches with computation times per rank, or None."""
    computed = [(record, own) for record in case.launches if (own := _computed(record))]
    computed = [(record, own) for record, own in computed if len(own) == len(computed[0][1])]
    if not computed or case.simulated or len(computed[0][1]) < 2:
        return None
    share = case.estimate([
        (max(own) - fmean(own)) / fmean(record.times_s) for record, own in computed
    ])  # fmt: skip
    assert share is not None
    slowest = Counter(max(range(len(own)), key=own.__getitem__) for _, own in computed)
    hosts = {one["rank"]: str(one["host"]) for one in computed[0][0].layout.get("seen") or ()}
    ranks = []
    for rank in range(len(computed[0][1])):
        seconds = case.estimate([own[rank] for _, own in computed])
        beyond = case.estimate([own[rank] / fmean(own) for _, own in computed])
        assert seconds is not None and beyond is not None
        ranks.append(RankTime(rank, hosts.get(rank, ""), seconds, beyond, slowest[rank]))
    ranks.sort(key=lambda one: -one.seconds.value)
    return Waiting(case, share, tuple(ranks))


def _computed(record: Record) -> list[float]:
    """Return the seconds of each rank in computing phases; [] if unknown."""
    if not record.times_s or record.points:
        return []
    phases = [phase["by_rank_s"] for phase in record.phases if phase.get("by_rank_s")]
    return [sum(times) for times in zip(*phases, strict=True)]


def tails_tables(cases: Sequence[MeasuredCase], context: Context) -> Iterator[Table]:
    """Distribution of repetition times: median, P95, and P99, each with a confidence interval."""
    found = [tail for case in cases for tail in tails(case)]
    if not found:
        return
    notebook = Notebook(list(dict.fromkeys(tail.case for tail in found)), context.all_cases)
    rows = tuple(_row(tail, cases, notebook) for tail in found)
    least = listed([f"{_name(share)} {needed(share)}" for share in SHARES])
    notebook.note(
        "Percentiles over repetitions, without warm-up. Other tables contain medians of launches.",
        "last / median: highest percentile in the row / median.",
        f"Required repetitions: {least}, over all launches for the value, and per launch for the "
        "interval.",
    )
    yield notebook.table(
        "tails",
        context.title("Slow repetitions"),
        (
            Column("case", "case", align="left"),
            Column("what", "of", align="left"),
            Column("repetitions", "repetitions"),
            Column("median_s", "median"),
            *(Column(f"p{100 * share:.0f}_s", _name(share)) for share in SHARES),
            Column("tail_over_median", "last / median"),
        ),
        rows,
        stub=2,
    )


def why_no_tails_table(cases: Sequence[MeasuredCase], _: Context) -> str | None:
    """Return how many repetitions would be needed."""
    real = [case for case in cases if case.launches and not case.simulated]
    if not real:
        return None
    least = min(SHARES)
    return (
        f"{_name(least)} requires {needed(least)} repetitions over all launches; no case "
        f"has more than {max(map(most_repetitions, real))} without warm-up"
    )


def _name(share: float) -> str:
    return f"P{100 * share:.0f}"


def _row(tail: Tail, cases: Sequence[MeasuredCase], notebook: Notebook) -> tuple[Cell, ...]:
    known = [estimate for estimate in tail.at.values() if estimate is not None]
    ratio = known[-1].value / tail.median.value if tail.median.value > 0 else None
    launches = count(len(tail.case.launches), "launch", "launches")
    return (
        label(row_name(tail.case, cases), case=tail.case.id),
        label(tail.what or "step"),
        Cell(tail.repetitions, f"{tail.repetitions:,} in {launches}"),
        shown(tail.median.value, seconds),
        *(
            missing("too few repetitions")
            if estimate is None
            else notebook.estimate(estimate, tail.case, SECONDS)
            for estimate in tail.at.values()
        ),
        times(ratio),
    )
