# SPDX-License-Identifier: BSD-3-Clause
"""Predictions and known values: cells of published tables, and times measured on this machine."""

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
"""A value has an error if half of its last printed digit is at most this share of it."""
WALL_TIME, JACOBI, LATENCY, RELATIVE = "wall time", "jacobi", "latency", "relative time"
STEP = "step time"
"""What can be predicted: times of solves, MLUP/s of sweeps, one-way latencies, relative times, and
times of steps that have no guess.
"""


METHODS: Mapping[str, str] = {
    WALL_TIME: "published time of one node / number of nodes",
    JACOBI: "published rate of one rank x ranks",
    LATENCY: "the paper's own model: latency of 8 bytes + size / bandwidth",
    RELATIVE: "the same time as on the fastest number of nodes",
}


@dataclass(frozen=True)
class PredictedCell:
    """A cell of a published table and its prediction, in seconds, MLUP/s (Jacobi), or as a ratio.

    table, kind: number and kind of the table: WALL_TIME, JACOBI, LATENCY, RELATIVE, or STEP.
    keys: settings that identify the cell in its table; for a relative one also the number of nodes
    that it is relative to. sets: numbers of the cluster file that the cell determined. reading:
    interpretation of the paper, if there are several. telling: whether its digits suffice for an
    error. step: unit of its last printed digit. problem: why there is no prediction, or "".
    whole_nodes: whether it uses all cores of its nodes, so that no other job fits; None if unknown.
    drawn: prediction with its spread over simulated replicates, if any. iterations: of a solve; 0
    if unknown. row: row of the published table, by column. naive, null: guess without a simulation,
    and a better one, if any. kernel, settings: the simulated case. over: settings that differ in
    the case by which a relative cell is divided.
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
        """Whether the cell set a number of the cluster file, so that its prediction is not
        independent.
        """
        return bool(self.sets)

    @property
    def unit(self) -> str:
        """Unit of both values."""
        return {JACOBI: "MLUP/s", RELATIVE: "times"}.get(self.kind, "s")

    @property
    def error(self) -> float | None:
        """Error relative to the published value; None without a prediction, or with too
        few digits.
        """
        if self.predicted is None or not self.telling:
            return None
        return self.predicted / self.published - 1

    @property
    def as_printed(self) -> bool | None:
        """Whether the prediction would have been printed like this; None without one."""
        if self.predicted is None:
            return None
        return abs(self.predicted - self.published) <= self.step / 2


@dataclass(frozen=True)
class PredictedTime:
    """A time measured on this machine with its spread, and the simulated one, in seconds.

    what: the setting of a solve, or the size of a message. keys: settings that errors may depend
    on. iterations: of the timed part; 0 if it has none.
    """

    kernel: str
    what: str
    measured: Estimate
    predicted_s: float
    keys: Mapping[str, Scalar] = field(default_factory=dict)
    iterations: int = 0

    @property
    def error(self) -> float:
        """Error relative to the measured time."""
        return self.predicted_s / self.measured.value - 1


@dataclass(frozen=True)
class KeptError:
    """Error of a predicted time relative to the known one. what: as in a predicted time."""

    kernel: str
    what: str
    error: float


@dataclass(frozen=True)
class KeptPredictions:
    """What a result folder keeps of its validation.

    records: digest of the records that were predicted. failures: cases that could not be simulated,
    with the reasons. disturbed: what disturbed the calibration.
    """

    records: str
    errors: tuple[KeptError, ...]
    failures: tuple[str, ...]
    disturbed: tuple[str, ...]


@dataclass(frozen=True)
class Errors:
    """Absolute relative errors of some predictions; None without any.

    tenth: the error that a tenth of them exceed.
    """

    number: int
    median: float | None
    worst: float | None
    tenth: float | None = None

    @classmethod
    def of(cls, predictions: Iterable[PredictedCell | PredictedTime]) -> Errors:
        """Return the errors of the predictions that have one."""
        return cls.among([abs(each.error) for each in predictions if each.error is not None])

    @classmethod
    def among(cls, errors: Sequence[float]) -> Errors:
        """Return the summary of absolute errors."""
        if not errors:
            return cls(0, None, None)
        tenth = sorted(errors)[ceil(0.9 * len(errors)) - 1]
        return cls(len(errors), median(errors), max(errors), tenth)


@dataclass(frozen=True)
class Skill:
    """Skill of predictions relative to guesses of the same cells, for cells with both errors.

    at_median, at_tenth: 1 - error / error of the guess, for the median and for the error that a
    tenth exceed. 1 is perfect, 0 as good as the guess. None if the guess has no error.
    """

    model: Errors
    guess: Errors
    at_median: float | None
    at_tenth: float | None

    @classmethod
    def of(cls, cells: Iterable[PredictedCell], guess: Literal["naive", "null"]) -> Skill:
        """Return the skill of the predictions of cells relative to a guess."""
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
