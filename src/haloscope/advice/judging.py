# SPDX-License-Identifier: BSD-3-Clause
"""Compare candidates by time and node-hours, and choose the layout to request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from haloscope.advice.candidates import Candidate
from haloscope.analysis.comparison import front
from haloscope.analysis.validation.bands import ErrorBand, Subject, known
from haloscope.stats.estimates import Estimate, ratio_by_round

if TYPE_CHECKING:
    from haloscope.advice.counted_bytes import Load

TIE = 0.05
"""TIE is the largest relative difference at which the cheaper of two simulated layouts is chosen.

It does not affect verdicts. With the error of ratios instead, 1.2 to 1.6, a layout would be advised
that takes 53 % longer than the best (fe_heat, 8 tasks on maya-2013).
"""


class Goal(StrEnum):
    """Quantity that the advised layout minimises."""

    TIME = "time"
    NODE_HOURS = "node-hours"


class Sureness(StrEnum):
    """Certainty that the advised layout is better than the default.

    yes: intervals do not overlap, or the ratio exceeds the error of simulated ratios (95 % of
    published ones) of this kernel and cluster. not_validated: the ratio exceeds the error for the
    nearest kernels and clusters, or for other regimes (one node, one thread, fewer cores).
    possible: the ratio is smaller. no_difference: the default is advised.
    """

    YES = "yes"
    POSSIBLE = "possible"
    NO_DIFFERENCE = "no difference"
    NOT_VALIDATED = "not validated"


@dataclass(frozen=True)
class Option:
    """A candidate with its time per step in seconds, and its cost.

    subject: settings that the simulation error depends on; None if measured. load: network load of
    its traffic; None if it was not counted. rounds_s: times of a measured candidate by round.
    """

    candidate: Candidate
    time: Estimate
    subject: Subject | None = field(default=None, hash=False)
    load: Load | None = None
    rounds_s: Mapping[int, float] = field(default_factory=dict, hash=False)

    @property
    def seconds(self) -> float:
        """Median time of a step, in seconds."""
        return self.time.value

    @property
    def node_seconds(self) -> float:
        """Nodes times the time of a step, in node-seconds."""
        return self.candidate.nodes * self.time.value


@dataclass(frozen=True)
class Advice:
    """The layout to request.

    options: all compared layouts, fastest first. front: those that no other layout beats in both
    time and node-hours. gain: time or node-hours of the default relative to the advised layout; if
    measured, with its interval, or its range with fewer than six launches. band: error of the ratio
    between default and advised layout; None if measured. beyond: property of either layout that no
    published cell has, or "".
    """

    goal: Goal
    options: tuple[Option, ...]
    default: Option
    advised: Option
    front: tuple[Option, ...]
    gain: Estimate
    verdict: Sureness
    band: ErrorBand | None
    beyond: str = ""


def band_of(one: Option, other: Option) -> ErrorBand | None:
    """Return the error of the ratio of two simulated times; None if measured."""
    if one.subject is None or other.subject is None:
        return None
    return known().ratio(other.subject, one.subject)


def advice(options: Sequence[Option], default: Candidate, goal: Goal) -> Advice:
    """Choose the layout with the least cost, unless the default is as good."""
    by_time = sorted(options, key=lambda one: one.seconds)
    usual = next(one for one in options if one.candidate == default)
    best = min(by_time, key=lambda one: _cost(one, goal))
    other = Goal.NODE_HOURS if goal is Goal.TIME else Goal.TIME
    alike = [one for one in by_time if not _better(best, one, goal)]
    advised = min(alike, key=lambda one: (_cost(one, other), _cost(one, goal)))
    if not _better(advised, usual, goal):
        advised = usual
    gain = _gain(usual, advised, goal)
    band = band_of(advised, usual)
    subjects = [one.subject for one in (advised, usual) if one.subject is not None]
    beyond = next(filter(None, map(known().beyond, subjects)), "") if band else ""
    return Advice(
        goal,
        tuple(by_time),
        usual,
        advised,
        tuple(front(by_time, lambda one: one.seconds, lambda one: one.node_seconds)),
        gain,
        Sureness.NO_DIFFERENCE if advised is usual else _verdict(gain.value, band, beyond),
        band,
        beyond,
    )


def cheapest(options: Sequence[Option], goal: Goal, number: int) -> list[Option]:
    """Return the best options by a goal, the best first."""
    return sorted(options, key=lambda one: _cost(one, goal))[:number]


def _cost(one: Option, goal: Goal) -> float:
    return one.seconds if goal is Goal.TIME else one.node_seconds


def _gain(usual: Option, advised: Option, goal: Goal) -> Estimate:
    """Return the cost of the default relative to the advised layout."""
    measured = None if advised is usual else _ratio(usual, advised, goal)
    return measured or Estimate.alone(_cost(usual, goal) / _cost(advised, goal))


def _ratio(over: Option, under: Option, goal: Goal) -> Estimate | None:
    """Return the ratio of the costs of two measured layouts, round by round."""
    nodes = 1.0 if goal is Goal.TIME else over.candidate.nodes / under.candidate.nodes
    found = ratio_by_round(over.rounds_s, under.rounds_s)
    return found and found.times(nodes)


def _better(one: Option, other: Option, goal: Goal) -> bool:
    """Return whether one layout is better than another; for measured ones, significantly."""
    if one is other:
        return False
    if one.subject is not None:
        return _cost(other, goal) > (1 + TIE) * _cost(one, goal)
    ratio = _ratio(other, one, goal)
    if ratio is None or ratio.low is None or ratio.confidence is None:
        return False  # with fewer rounds there is only a range, which can lie above 1 by chance
    return ratio.low > 1


def _verdict(gain: float, band: ErrorBand | None, beyond: str) -> Sureness:
    if band is None:
        return Sureness.YES
    if gain <= band.factor:
        return Sureness.POSSIBLE
    return Sureness.YES if band.compared and not beyond else Sureness.NOT_VALIDATED
