# SPDX-License-Identifier: BSD-3-Clause
"""Compares candidates by time and node-hours, and chooses the layout to request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from haloscope.advice.candidates import Candidate
from haloscope.analysis.cases import MeasuredCase
from haloscope.analysis.fronts import ALIKE, front
from haloscope.papers.validated import Validated, program_of, validated
from haloscope.stats.estimates import Estimate


class Goal(StrEnum):
    """What a layout is chosen by."""

    TIME = "time"
    NODE_HOURS = "node-hours"


class Sureness(StrEnum):
    """How sure it is that the advised layout is better than the default.

    yes: by more than the largest validated error, or by intervals that do not overlap. likely: by
    more than the median error. possible: by less. no_difference: the default is advised.
    not_validated: no published table of this kernel on this cluster was ever predicted.
    """

    YES = "yes"
    LIKELY = "likely"
    POSSIBLE = "possible"
    NO_DIFFERENCE = "no difference"
    NOT_VALIDATED = "not validated"


@dataclass(frozen=True)
class Band:
    """The error of simulated times: median and largest, over published tables that were predicted.

    own: whether they are of this kernel, variant, and cluster; otherwise the largest errors of any
    table are used, which bound what is known and not this case.
    """

    median: float
    worst: float
    tables: tuple[str, ...]
    own: bool


@dataclass(frozen=True)
class Option:
    """A candidate with its time per step, in seconds, and what it costs."""

    candidate: Candidate
    time: Estimate

    @property
    def seconds(self) -> float:
        """The median time of a step."""
        return self.time.value

    @property
    def node_seconds(self) -> float:
        """Nodes times the time of a step."""
        return self.candidate.nodes * self.time.value


@dataclass(frozen=True)
class Advice:
    """Which layout to request.

    options: all that were compared, fastest first. front: those that no other one beats in both
    time and node-hours. gain: the default's time or node-hours over those of the advised layout.
    band: None for measured times, which have intervals.
    """

    goal: Goal
    options: tuple[Option, ...]
    default: Option
    advised: Option
    front: tuple[Option, ...]
    gain: float
    verdict: Sureness
    band: Band | None


def band_of(cluster: str, case: MeasuredCase) -> Band:
    """The error band of a simulated case."""
    known = program_of(case.settings)
    own = [
        one
        for one in validated()
        if (one.cluster, one.kernel, one.variant) == (cluster, case.kernel, known)
    ]
    return _band(own or list(validated()), own=bool(own))


def _band(tables: Sequence[Validated], *, own: bool) -> Band:
    names = tuple(f"{one.paper}, table {one.table}" for one in tables) if own else ()
    return Band(max(t.median for t in tables), max(t.worst for t in tables), names, own)


def advice(options: Sequence[Option], default: Candidate, goal: Goal, band: Band | None) -> Advice:
    """The advised layout: the best by the goal, unless the default is as good.

    Among layouts that can't be told from the best one, the cheapest by the other measure is taken.
    """
    by_time = sorted(options, key=lambda one: one.seconds)
    usual = next(one for one in options if one.candidate == default)
    best = min(by_time, key=lambda one: _cost(one, goal))
    other = Goal.NODE_HOURS if goal is Goal.TIME else Goal.TIME
    alike = [one for one in by_time if not _better(best, one, goal, band)]
    advised = min(alike, key=lambda one: (_cost(one, other), _cost(one, goal)))
    if not _better(advised, usual, goal, band):
        advised = usual
    gain = _cost(usual, goal) / _cost(advised, goal)
    return Advice(
        goal,
        tuple(by_time),
        usual,
        advised,
        tuple(front(by_time, lambda one: one.seconds, lambda one: one.node_seconds)),
        gain,
        _verdict(advised, usual, gain, band),
        band,
    )


def cheapest(options: Sequence[Option], goal: Goal, number: int) -> list[Option]:
    """Return the best options by a goal, the best first."""
    return sorted(options, key=lambda one: _cost(one, goal))[:number]


def parted(options: Sequence[Option]) -> bool:
    """Whether no two intervals of measured times overlap; not where one has no interval."""
    ends = [(one.time.low, one.time.high) for one in options]
    known = sorted((low, high) for low, high in ends if low is not None and high is not None)
    return len(known) == len(ends) and all(high < low for (_, high), (low, _) in pairwise(known))


def _cost(one: Option, goal: Goal) -> float:
    """Return what a goal minimises: seconds, or node-seconds, of a step."""
    return one.seconds if goal is Goal.TIME else one.node_seconds


def tolerance(band: Band | None) -> float | None:
    """The relative difference up to which simulated layouts count as equal; None of measured."""
    return None if band is None else min(band.median, ALIKE)


def _better(one: Option, other: Option, goal: Goal, band: Band | None) -> bool:
    """Whether one is better than another by more than chance or the model's usual error."""
    if one is other:
        return False
    if (within := tolerance(band)) is not None:
        return _cost(other, goal) > (1 + within) * _cost(one, goal)
    scale = other.candidate.nodes / one.candidate.nodes if goal is Goal.NODE_HOURS else 1.0
    high, low = one.time.high, other.time.low
    return high is not None and low is not None and low * scale > high


def _verdict(advised: Option, usual: Option, gain: float, band: Band | None) -> Sureness:
    if advised is usual:
        return Sureness.NO_DIFFERENCE
    if band is None:
        return Sureness.YES
    if not band.own:
        return Sureness.NOT_VALIDATED
    if gain > 1 + band.worst:
        return Sureness.YES
    return Sureness.LIKELY if gain > 1 + band.median else Sureness.POSSIBLE
