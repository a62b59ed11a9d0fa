# SPDX-License-Identifier: BSD-3-Clause
"""Predictions beside what is known: cells of published tables and times measured here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from statistics import median
from typing import Literal

from haloscope.papers.tables import PublishedValue, Scalar
from haloscope.stats.estimates import Estimate
from haloscope.study.settings import Settings

COARSEST = 0.1
"""A figure has an error if half of its last printed digit is at most this share of it."""
WALL_TIME, JACOBI, LATENCY, RELATIVE = "wall time", "jacobi", "latency", "relative time"
"""What can be predicted: times of solves, sweeps' MLUP/s, latencies one way, and relative times."""


METHODS: Mapping[str, str] = {
    WALL_TIME: "published time of one node / number of nodes",
    JACOBI: "published rate of one rank x ranks",
    LATENCY: "the paper's own model: latency of 8 bytes + size / bandwidth",
    RELATIVE: "the same time as on the fastest number of nodes",
}


@dataclass(frozen=True)
class PredictedCell:
    """A cell of a published table and its prediction: seconds; MLUP/s of Jacobi; ratios of times.

    table, kind: the table's number and what it has: WALL_TIME, JACOBI, LATENCY or RELATIVE.
    keys:        the settings that tell the cell from others in its table; of a relative one, over
                 how many nodes it is, too.
    sets:        the numbers of the cluster file that it was used to choose, by their places.
    reading:     how the paper was read, where that can be done in several ways.
    telling:     whether it has digits enough for an error.
    step:        the unit of its last printed digit.
    problem:     why there is no prediction, if there is none.
    whole_nodes: whether it keeps all cores of its nodes busy, so that there is no room for others;
                 None where that tells nothing.
    drawn:       the prediction with its spread over simulated replicates, where there are some.
    iterations:  of a solve; 0 where that is not known.
    row:         the row of the published table that it is from, by column.
    naive, null: what one would guess without a simulation, and a better guess, where there are any.
    kernel, settings: what was simulated for it, and how; over: settings that were otherwise in the
                 case that a relative one is divided by.
    """

    table: str
    kind: str
    keys: Mapping[str, Scalar]
    published: float
    sets: tuple[str, ...] = ()
    reading: str = ""
    telling: bool = True
    step: float = 0.0
    predicted: float | None = None
    problem: str | None = None
    whole_nodes: bool | None = None
    drawn: Estimate | None = None
    iterations: int = 0
    row: Mapping[str, PublishedValue] = field(default_factory=dict)
    naive: float | None = None
    null: float | None = None
    kernel: str = ""
    settings: Settings = field(default_factory=dict)
    over: Settings = field(default_factory=dict)

    @property
    def fitted(self) -> bool:
        """Whether it set a number of the cluster file: then its prediction is none."""
        return bool(self.sets)

    @property
    def unit(self) -> str:
        """The unit of both figures."""
        return {JACOBI: "MLUP/s", RELATIVE: "times"}.get(self.kind, "s")

    @property
    def error(self) -> float | None:
        """Relative to what was published; None without a prediction, or if that says too little."""
        if self.predicted is None or not self.telling:
            return None
        return self.predicted / self.published - 1

    @property
    def as_printed(self) -> bool | None:
        """Whether the prediction could have been printed like this; None without one."""
        if self.predicted is None:
            return None
        return abs(self.predicted - self.published) <= self.step / 2


@dataclass(frozen=True)
class PredictedTime:
    """A time measured here with its spread, and the simulated one, in seconds.

    what: the setting of a solve, or the size of a message. keys: settings that errors may depend
    on. iterations: of what was timed; 0 where it has none.
    """

    kernel: str
    what: str
    measured: Estimate
    predicted_s: float
    keys: Mapping[str, Scalar] = field(default_factory=dict)
    iterations: int = 0

    @property
    def error(self) -> float:
        """Relative to what was measured."""
        return self.predicted_s / self.measured.value - 1


@dataclass(frozen=True)
class Errors:
    """Absolute relative errors of some predictions; of none, None.

    tenth: the error that a tenth of them exceed.
    """

    number: int
    median: float | None
    worst: float | None
    tenth: float | None = None

    @classmethod
    def of(cls, predictions: Iterable[PredictedCell | PredictedTime]) -> Errors:
        """The errors of the predictions that have one."""
        return cls.among([abs(each.error) for each in predictions if each.error is not None])

    @classmethod
    def among(cls, errors: Sequence[float]) -> Errors:
        """Of absolute errors."""
        if not errors:
            return cls(0, None, None)
        tenth = sorted(errors)[ceil(0.9 * len(errors)) - 1]
        return cls(len(errors), median(errors), max(errors), tenth)


@dataclass(frozen=True)
class Skill:
    """Predictions beside guesses of the same cells: those that have both errors.

    at_median, at_tenth: 1 - error / the guess's error, of the medians and of the errors that a
    tenth exceed; 1 is perfect, 0 as good as the guess. None where the guess has no error.
    """

    model: Errors
    guess: Errors
    at_median: float | None
    at_tenth: float | None

    @classmethod
    def of(cls, cells: Iterable[PredictedCell], guess: Literal["naive", "null"]) -> Skill:
        """How much better than a guess the predictions of cells are."""
        pairs = [
            (abs(cell.error), abs(guessed / cell.published - 1))
            for cell in cells
            if cell.error is not None and (guessed := getattr(cell, guess)) is not None
        ]
        model, other = (Errors.among([pair[side] for pair in pairs]) for side in (0, 1))
        shares = [
            1 - own / others if own is not None and others else None
            for own, others in ((model.median, other.median), (model.tenth, other.tenth))
        ]
        return cls(model, other, *shares)
