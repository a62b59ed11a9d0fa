# SPDX-License-Identifier: BSD-3-Clause
"""Predictions beside what is known: cells of published tables and times measured here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from haloscope.papers.tables import Scalar
from haloscope.stats.estimates import Estimate

SHORTEST_S = 5.0
"""SHORTEST_S is the shortest published wall time that has an error, because times are printed in
whole seconds: half a second is more than 10 % of anything shorter."""
WALL_TIME, JACOBI, LATENCY, RELATIVE = "wall time", "jacobi", "latency", "relative time"
"""The kinds of published tables that can be predicted: a solve's time, sweeps' MLUP/s, messages'
latency, one way, and a job's time over that on other nodes."""


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

    what: the setting of a solve, or the size of a message.
    """

    kernel: str
    what: str
    measured: Estimate
    predicted_s: float

    @property
    def error(self) -> float:
        """Relative to what was measured."""
        return self.predicted_s / self.measured.value - 1


@dataclass(frozen=True)
class Errors:
    """Absolute relative errors of some predictions; of none, None."""

    number: int
    median: float | None
    worst: float | None

    @classmethod
    def of(cls, predictions: Iterable[PredictedCell | PredictedTime]) -> Errors:
        """The errors of the predictions that have one."""
        errors = [abs(each.error) for each in predictions if each.error is not None]
        return cls(len(errors), median(errors) if errors else None, max(errors, default=None))
