# SPDX-License-Identifier: BSD-3-Clause
"""Detection of warm-up, and the stopping rule.

Sources: White, An Effective Truncation Heuristic for Bias Reduction in Simulation Output
(Simulation 69, 1997), and White, Cobb and Spratt (WSC 2000) for the marginal standard error rule;
Hoefler and Belli (SC'15), section 4.2, for stopping on the width of an interval; Chow and Robbins,
On the asymptotic theory of fixed-width sequential confidence intervals (1965), for the effect of
repeated checks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, starmap
from typing import Literal

import numpy as np

from haloscope.stats import FEWEST_FOR_INTERVAL, Rule
from haloscope.stats.estimates import Array, Estimate, median_interval, ratio_by_round

LONG = 20
"""LONG is the minimum number of repetitions with which one launch distinguishes warm-up
from noise.
"""
SHORTEST = 3
"""At least half of the repetitions, and at least one, remain as the steady part."""
DRIFT = 0.01
"""DRIFT is the largest relative change between the halves of a steady part."""
SPIKE = 5.0
"""In (normal) deviations from the steady median; values farther away are clipped."""


@dataclass(frozen=True)
class Warmup:
    """The start of a series that differs from the rest.

    repetitions: number of repetitions to exclude. settled: False without a steady part: launches
    agree on a drift of more than 1 % or, with fewer than 6 launches or a short series, the cut is
    the last allowed one. `repetitions` is then not meaningful; lengthen the series, or find the
    cause of the drift.
    """

    repetitions: int
    settled: bool


def warmup(launches: Sequence[Sequence[float]]) -> Warmup:
    """Detect the warm-up in the repetitions of one setting, from one or more launches.

    launches: times of the repetitions in order, the same number in each launch. Launches are scaled
    (by the median of their second halves), and their median is taken for each repetition: warm-up
    is common to launches, a spike of one launch is not. Of that series x the first d are excluded,
    with d at most half, such that the standard error of the mean of the rest is smallest: the
    minimum sum over i >= d of (x_i - mean)^2, over (n - d)^2. Noise alone excludes 5 to 10 %, which
    costs little.

    Series of fewer than 20 are cut where launches stop to agree: repetition d is warm-up as long as
    the interval of its ratio to the median of all later ones, over launches, deviates from 1 by
    more than 1 %.

    Raise ValueError for series of different lengths, or too short ones (20, or 3 with 6 launches),
    and for times that are not positive.
    """
    table = _table(launches)
    n = table.shape[1]
    if n < LONG:
        return _agreed(table)
    scaled = table / np.median(table[:, n // 2 :], axis=1, keepdims=True)
    series = _without_spikes(np.median(scaled, axis=0))
    errors = [float(np.var(series[d:])) / (n - d) for d in range(n // 2 + 1)]
    best = int(np.argmin(errors))
    drift = _drift(table[:, best:])
    if drift.low is None or drift.high is None:
        return Warmup(best, best < n // 2)
    return Warmup(best, drift.low <= 1.0 + DRIFT and drift.high >= 1.0 - DRIFT)


def _agreed(table: Array) -> Warmup:
    last = table.shape[1] // 2
    cut = next((d for d in range(last) if not _differs(table, d)), last)
    return Warmup(cut, cut < last or not _differs(table, last))


def _differs(table: Array, repetition: int) -> bool:
    """Return whether launches agree that a repetition differs from those after it."""
    later = np.median(table[:, repetition + 1 :], axis=1)
    ratio = median_interval(list(table[:, repetition] / later))
    if ratio.low is None or ratio.high is None:
        raise ValueError(f"a ratio needs {FEWEST_FOR_INTERVAL} launches")
    return ratio.low > 1.0 + DRIFT or ratio.high < 1.0 - DRIFT


def steady_medians(launches: Sequence[Sequence[float]]) -> list[float]:
    """Return the median of each launch's repetitions without the detected warm-up."""
    found = warmup_if_any(launches)
    first = found.repetitions if found is not None and found.settled else 0
    if len({len(launch) for launch in launches}) == 1:  # the usual case, handled at once
        medians: list[float] = np.median(np.asarray(launches)[:, first:], axis=1).tolist()
        return medians
    return [float(np.median(launch[first:])) for launch in launches]


def warmup_if_any(launches: Sequence[Sequence[float]]) -> Warmup | None:
    """Return the warm-up; None if launches are too few, too short, or of different lengths."""
    try:
        return warmup(launches)
    except ValueError:
        return None


def _drift(steady: Array) -> Estimate:
    """Return the median of the second half of the repetitions over that of the first."""
    middle = steady.shape[1] // 2
    before = np.median(steady[:, :middle], axis=1)
    after = np.median(steady[:, middle:], axis=1)
    return median_interval(list(after / before))


def _table(launches: Sequence[Sequence[float]]) -> Array:
    lengths = {len(launch) for launch in launches}
    if len(lengths) != 1:
        raise ValueError("warm-up needs launches of equally many repetitions")
    long_enough = SHORTEST if len(launches) >= FEWEST_FOR_INTERVAL else LONG
    if lengths.pop() < long_enough:
        raise ValueError(
            f"warm-up needs {LONG} repetitions or more, "
            f"or {SHORTEST} of {FEWEST_FOR_INTERVAL} launches or more"
        )
    table = np.asarray(launches, dtype=np.float64)
    if not np.all(np.isfinite(table)) or np.any(table <= 0):
        raise ValueError("times must be finite and positive")
    return table


def _without_spikes(series: Array) -> Array:
    """Clip values of the series that are more than SPIKE deviations from its steady (second) half.

    The limit is at least DRIFT: with a coarse clock most times are equal and the deviation is 0.
    """
    steady = series[series.size // 2 :]
    middle = np.median(steady)
    reach = max(SPIKE * 1.4826 * np.median(np.abs(steady - middle)), DRIFT * middle)
    return np.asarray(np.clip(series, middle - reach, middle + reach), dtype=np.float64)


Why = Literal["narrow", "count", "time", "parted", "go on"]
"""Why a setting needs no more launches, or "go on".

"narrow": the intervals are narrow enough, with all launches and with one fewer. "count": the
maximum number of launches is reached. "time": another launch of average duration would exceed the
maximum time. "parted": the intervals of settings that are compared do not overlap.
"""


def decide(samples: Sequence[Sequence[float]], spent_s: float, rule: Rule) -> Why:
    """Return whether to stop launching a setting, and why.

    samples: measurements of its launches so far, one number per launch: one sample for a kernel
    with one time, one per point for a sweep. All must be narrow. spent_s: seconds that its launches
    have taken.

    A check after every launch that stops at the first narrow interval stops too often by chance: 95
    % intervals then contain the median in 92 to 96 % of cases. Therefore intervals must be narrow
    twice, with all launches and without the last, which gives 94 to 97 %.

    Raise ValueError without samples, and if they are empty, of different lengths, or not positive.
    """
    lengths = {len(sample) for sample in samples}
    if len(lengths) != 1 or 0 in lengths:
        raise ValueError("a decision needs samples of equally many launches, one at least")
    if any(value <= 0 for sample in samples for value in sample):
        raise ValueError("times must be positive")
    launches = len(samples[0])
    both = (samples, [sample[:-1] for sample in samples])
    if launches >= rule.fewest and all(_widest(some) <= rule.half_width for some in both):
        return "narrow"
    return rule.cap(launches, spent_s) or "go on"


def _widest(samples: Sequence[Sequence[float]]) -> float:
    return max(median_interval(sample).relative_half_width for sample in samples)


def parted(samples: Sequence[Mapping[int, float]]) -> bool:
    """Return whether the interval of the ratio of every two samples excludes 1.

    samples: times by round. Call it occasionally, not after every launch: repeated checks separate
    intervals too often by chance.
    """
    found = starmap(ratio_by_round, combinations(samples, 2))
    return all(
        one is not None and one.confidence is not None and one.excludes(1.0) for one in found
    )
