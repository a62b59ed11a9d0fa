# SPDX-License-Identifier: BSD-3-Clause
"""How a case's launches differ, and after how many of them their mean has settled.

Source: the task-mapping paper, section 5.4, figure 2 and table 4: means over 30 runs, and the
largest deviation of a run from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean, stdev

from haloscope.analysis.cases import MeasuredCase

FEWEST_LAUNCHES = 10
"""FEWEST_LAUNCHES is how many launches tell something of how far they scatter: of fewer, the
largest deviation is mostly that of how few they are."""
SETTLED = 0.01
"""SETTLED is how far from the mean of all launches that of the first few may be, as a share."""


@dataclass(frozen=True)
class Variability:
    """The launches of a case in the order in which they ran, relative to their mean.

    running: mean of the first n over the mean of all, for n from 1. settled: the number of launches
    from which on it stays within SETTLED; the last ones always do, so it says little where it is
    not far below their number.
    """

    case: MeasuredCase
    mean_s: float
    fastest: float
    slowest: float
    spread: float
    running: Sequence[float]

    @property
    def settled(self) -> int:
        """From how many launches on the running mean stays within SETTLED of the last."""
        apart = [n for n, ratio in enumerate(self.running, start=1) if abs(ratio - 1) > SETTLED]
        return max(apart, default=0) + 1


def variabilities(cases: Sequence[MeasuredCase]) -> list[Variability]:
    """Of each case with launches enough, which are not all alike by simulation."""
    return [_of(case) for case in cases if not case.alike and len(case.times_s) >= FEWEST_LAUNCHES]


def _of(case: MeasuredCase) -> Variability:
    times = case.times_s
    mean = fmean(times)
    sums = enumerate(accumulate(times), start=1)
    return Variability(
        case,
        mean,
        min(times) / mean,
        max(times) / mean,
        stdev(times) / mean,
        tuple(total / n / mean for n, total in sums),
    )
