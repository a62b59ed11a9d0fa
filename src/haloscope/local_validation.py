"""This machine's real runs set against their simulation on its calibration."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from haloscope.evidence import MeasuredCase, label_of
from haloscope.points import sweep
from haloscope.quantities import size
from haloscope.stats import Estimate

STUDY = "validate-local"


@dataclass(frozen=True)
class Prediction:
    """A measured time with its spread, and the simulated one, in seconds."""

    kernel: str
    what: str
    measured: Estimate
    predicted_s: float

    @property
    def error(self) -> float:
        """Relative to what was measured."""
        return self.predicted_s / self.measured.value - 1


def predictions(
    real: Sequence[MeasuredCase], simulated: Sequence[MeasuredCase]
) -> Iterator[Prediction]:
    """Every case that both have: the time of a step, or of each size of a sweep."""
    found = {_setting(case): case for case in simulated}
    for case in real:
        twin = found.get(_setting(case))
        if twin is None or case.time is None or twin.time is None:
            continue
        points = {point.size_bytes: point for point in sweep(twin)}
        for point in sweep(case):
            predicted = points[point.size_bytes].time.value
            yield Prediction(case.kernel, size(point.size_bytes), point.time, predicted)
        if not points:
            yield Prediction(case.kernel, label_of(case, real), case.time, twin.time.value)


def errors(found: Sequence[Prediction]) -> tuple[float, float]:
    """Median and worst absolute relative error."""
    absolute = [abs(one.error) for one in found]
    return median(absolute), max(absolute)


def _setting(case: MeasuredCase) -> str:
    """What is the same for a case and its simulation."""
    apart = ("toolchain", "transport", "runner", "clock")
    return json.dumps({k: v for k, v in case.settings.items() if k not in apart}, sort_keys=True)
