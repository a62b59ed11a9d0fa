# SPDX-License-Identifier: BSD-3-Clause
"""Compares candidates by time and node-hours, and chooses the layout to request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from haloscope.advice.candidates import Candidate
from haloscope.analysis.races import front
from haloscope.analysis.validation.bands import ErrorBand, Subject, known
from haloscope.stats.estimates import Estimate, ratio_by_round

if TYPE_CHECKING:
    from haloscope.advice.counted_bytes import Load

TIE = 0.05
"""TIE is the largest relative difference of simulated layouts of which the cheaper one is chosen.

It decides no verdict. With the error of ratios in its place, which is 1.2 to 1.6, a layout would be
advised that takes 53 % longer than the best (fe_heat, 8 tasks on maya-2013).
"""


class Goal(StrEnum):
    """What a layout is chosen by."""

    TIME = "time"
    NODE_HOURS = "node-hours"


class Sureness(StrEnum):
    """How sure it is that the advised layout is better than the default.

    yes: by intervals that do not overlap, or by more than the error of the ratio of simulated times
    (95 % of published ones), of this kernel and cluster. not_validated: by more than that of the
    nearest kernels and clusters, or of cells of other regimes: one node, one thread, fewer cores.
    possible: by less. no_difference: the default is advised.
    """

    YES = "yes"
    POSSIBLE = "possible"
    NO_DIFFERENCE = "no difference"
    NOT_VALIDATED = "not validated"


@dataclass(frozen=True)
class Option:
    """A candidate with its time per step, in seconds, and what it costs.

    subject: what the error of its simulation depends on; None of measured ones. load: what it makes
    of the traffic between its nodes; None where that was not counted. rounds_s: the times of a
    measured one by round.
    """

    candidate: Candidate
    time: Estimate
    subject: Subject | None = field(default=None, hash=False)
    load: Load | None = None
    rounds_s: Mapping[int, float] = field(default_factory=dict, hash=False)

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
    time and node-hours. gain: the default's time or node-hours over those of the advised layout;
    of measured ones with its interval, or its range below six launches. band: the error of the
    ratio of the default and the advised layout; None for measured times. beyond: what one of both
    has that no published cell has; "" for nothing.
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
    """The error of the ratio of two simulated times; None of measured ones."""
    if one.subject is None or other.subject is None:
        return None
    return known().ratio(other.subject, one.subject)


def advice(options: Sequence[Option], default: Candidate, goal: Goal) -> Advice:
    """The advised layout: the best by the goal, unless the default is as good."""
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
    """How many times the advised layout's cost the default has."""
    measured = None if advised is usual else _ratio(usual, advised, goal)
    return measured or Estimate(_cost(usual, goal) / _cost(advised, goal), None, None, 0, "none")


def _ratio(over: Option, under: Option, goal: Goal) -> Estimate | None:
    """The ratio of the costs of two measured layouts, round by round."""
    nodes = 1.0 if goal is Goal.TIME else over.candidate.nodes / under.candidate.nodes
    found = ratio_by_round(over.rounds_s, under.rounds_s)
    return found and found.times(nodes)


def _better(one: Option, other: Option, goal: Goal) -> bool:
    """Whether one is better than another: measured ones by more than chance."""
    if one is other:
        return False
    if one.subject is not None:
        return _cost(other, goal) > (1 + TIE) * _cost(one, goal)
    ratio = _ratio(other, one, goal)
    if ratio is None or ratio.low is None or ratio.confidence is None:
        return False  # of fewer rounds there is a range, which lies above 1 by chance, too
    return ratio.low > 1


def _verdict(gain: float, band: ErrorBand | None, beyond: str) -> Sureness:
    if band is None:
        return Sureness.YES
    if gain <= band.factor:
        return Sureness.POSSIBLE
    return Sureness.YES if band.own and not beyond else Sureness.NOT_VALIDATED
