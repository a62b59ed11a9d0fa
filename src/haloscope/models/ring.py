# SPDX-License-Identifier: BSD-3-Clause
"""Messages around a ring: time is a straight line in the number of ranks, of another slope a level.

Source: Celoria's ORFEO report, section 1.A and equation (1). Each rank passes a message to either
side until its own come back: with N ranks 2 N messages follow one another, so every rank more adds
two latencies, T(N + 1) = T(N) + 2 T_l, and T_l is half the slope b of T = a + b N. Ranks fill one
socket, then the node, then further nodes: each level has a line of its own, fitted by least
squares with boundaries that are given, not found. The lines need not meet (the report's don't).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from haloscope.models.intervals import Intervals, bootstrapped
from haloscope.models.model import FittedParameter, Residuals
from haloscope.models.sweep import Array, Sweep, fit_lines
from haloscope.quantities import seconds
from haloscope.stats.estimates import Estimate


@dataclass(frozen=True)
class RingLevel:
    """A level of the machine, such as "same-socket", and the numbers of ranks in it."""

    name: str
    first_ranks: int
    last_ranks: int


@dataclass(frozen=True)
class RingPiece:
    """The line of one level, T = intercept + 2 latency N.

    latency_s: per message, half the slope: the report's T_l.
    """

    level: RingLevel
    intercept_s: Estimate
    latency_s: Estimate

    def predict(self, ranks: Array) -> Array:
        """Return seconds per cycle."""
        return self.intercept_s.value + 2 * self.latency_s.value * ranks


@dataclass(frozen=True, eq=False)
class Ring:
    """A fitted ring: a piece for each level measured with at least two numbers of ranks.

    levels: all given levels, including those without a piece.
    """

    levels: tuple[RingLevel, ...]
    pieces: tuple[RingPiece, ...]
    valid: tuple[float, float]
    residuals: Residuals
    warnings: tuple[str, ...]

    name = "ring"
    source = "ORFEO report, section 1.A, equation (1)"

    @property
    def doubts(self) -> tuple[str, ...]:
        """Warnings about properties of a fitted line that no ring can have."""
        return tuple(_doubts(self.pieces))

    @property
    def parameters(self) -> tuple[FittedParameter, ...]:
        """latency_s and intercept_s of every level."""
        return tuple(
            FittedParameter(name, estimate, piece.level.name)
            for piece in self.pieces
            for name, estimate in (
                ("latency_s", piece.latency_s),
                ("intercept_s", piece.intercept_s),
            )
        )

    def predict(self, x: npt.ArrayLike) -> Array:
        """Return seconds per cycle of x ranks, in the shape of x; the last level's line is
        extended.

        nan before the first level, and in levels without a piece.
        """
        return _predict(self.levels, self.pieces, np.asarray(x, dtype=np.float64))


def fit(data: Sweep, levels: Sequence[RingLevel], intervals: Intervals | None = None) -> Ring:
    """Fit a line to each level's times per cycle by number of ranks.

    data: a sweep over ranks; every number of ranks has its own launches (joint=False). levels: in
    order, not overlapping. Points outside all of them are not fitted. intervals: bootstrap over
    launches by default.

    Raise ValueError for overlapping levels, or if none has two points.
    """
    how = intervals or Intervals()
    if any(below.last_ranks >= above.first_ranks for below, above in pairwise(levels)):
        raise ValueError("the levels of a ring must follow one another without overlapping")
    held = {level: _held(data, level) for level in levels}
    lines = {level: own for level, own in held.items() if len(own) > 1}
    if not lines:
        raise ValueError("no level was measured with two or more numbers of ranks")
    pieces = tuple(_piece(data.only(own), level, how) for level, own in lines.items())
    fitted = data.only([i for own in lines.values() for i in own])
    predicted = _predict(levels, pieces, fitted.x)
    lacking = [level.name for level, own in held.items() if len(own) == 1]
    return Ring(
        tuple(levels),
        pieces,
        (float(fitted.x[0]), float(fitted.x[-1])),
        Residuals(fitted.x, fitted.centres_s, predicted),
        (*_doubts(pieces), *(_LACKING.format(name) for name in lacking)),
    )


_LACKING = "{}: measured with one number of ranks, which determines no line."


def _held(data: Sweep, level: RingLevel) -> list[int]:
    return [i for i, x in enumerate(data.x) if level.first_ranks <= x <= level.last_ranks]


def _predict(levels: Sequence[RingLevel], pieces: Sequence[RingPiece], ranks: Array) -> Array:
    found = np.full(ranks.shape, np.nan)
    for level in levels:
        piece = next((piece for piece in pieces if piece.level == level), None)
        within = ranks >= level.first_ranks
        found[within] = np.nan if piece is None else piece.predict(ranks[within])
    return found


def _piece(data: Sweep, level: RingLevel, how: Intervals) -> RingPiece:
    line, drawn = (
        fit_lines(data.x, times_s) for times_s in (data.centres_s[None], how.resampled(data))
    )
    intercept = round(float(line.intercept[0]), 12) + 0.0  # simulated times differ by rounding
    intercept_s = bootstrapped(intercept, drawn.intercept, data.launches)
    slope_s = bootstrapped(float(line.slope[0]), drawn.slope, data.launches)
    return RingPiece(level, intercept_s, slope_s.times(0.5))


def _doubts(pieces: Sequence[RingPiece]) -> Iterator[str]:
    for index, piece in enumerate(pieces):
        latency_s, name = piece.latency_s.value, piece.level.name
        if latency_s < 0:
            yield (
                f"{name}: the latency is negative ({seconds(latency_s)}), which is "
                "impossible: the scatter of the times exceeds the cost of additional ranks."
            )
        ranks = piece.level.first_ranks if index else 0
        time_s = float(piece.predict(np.array([float(ranks)]))[0])
        if time_s < 0:  # more than rounding: see _piece
            yield f"{name}: the line gives {seconds(time_s)} for {ranks} ranks, {_why(index)}."


def _why(index: int) -> str:
    """Return why a line cannot be below 0 there."""
    if index:
        return "which is impossible: the times of this level are not on a straight line"
    return (
        "less than the time of its messages: messages take longer with more ranks, or "
        "launches were disturbed"
    )
