# SPDX-License-Identifier: BSD-3-Clause
"""When to start counting and when to stop: warm-up found in the data, and a stopping rule.

Pure functions of the numbers measured so far. Sources: White, An Effective Truncation Heuristic for
Bias Reduction in Simulation Output (Simulation 69, 1997), and White, Cobb and Spratt (WSC 2000) for
the marginal standard error rule; Hoefler and Belli (SC'15), section 4.2, for stopping on the width
of an interval; Chow and Robbins, On the asymptotic theory of fixed-width sequential confidence
intervals (1965), for what looking again and again does to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, starmap
from math import inf
from typing import Literal

import numpy as np
import numpy.typing as npt

from haloscope.stats.estimates import Estimate, median_interval, ratio_by_round
from haloscope.stats.stopping_rule import FEWEST_FOR_INTERVAL, Rule

Array = npt.NDArray[np.float64]

LONG = 20
"""LONG is the least number of repetitions of which one launch alone tells warm-up from noise."""
SHORTEST = 3
"""Half of them, one at least, are always left as the steady part."""
DRIFT = 0.01
"""DRIFT is the largest share by which a steady part may change between its halves."""
SPIKE = 5.0
"""In (normal) deviations from the steady median; values farther away are drawn in to it."""


@dataclass(frozen=True)
class Warmup:
    """The start of a series that is not yet like the rest.

    repetitions: how many to leave out.
    drift: what the rest still changes by: the median of its second half over that of its first,
        over launches. 1 is none.
    settled: False when there is no steady part: the launches agree on a drift of more than 1 %,
        or, where they are fewer than 6 or the series is short, the cut is the last one allowed.
        `repetitions` is then no answer; lengthen the series, or find what drifts.
    """

    repetitions: int
    drift: Estimate
    settled: bool


def warmup(launches: Sequence[Sequence[float]]) -> Warmup:
    """Find the warm-up in the repetitions of one setting, from one launch or several.

    launches: times of the repetitions in the order they ran, equally many in each launch.
    Launches are put on one scale (each over the median of its second half) and their median taken
    repetition by repetition: warm-up is what they have in common, a spike of one launch is not. Of
    that series x the first d are left out, with d at most half, so that the standard error of the
    mean of the rest is smallest: the least sum over i >= d of (x_i - mean)^2, over (n - d)^2.
    Noise alone makes it leave out some 5 to 10 %, which costs little.

    Series of fewer than 20 are cut where launches stop to agree: repetition d is warm-up as long
    as the interval of its ratio to the median of all later ones, over launches, lies more than 1 %
    from 1.

    Raises ValueError for series of different or too small lengths (20, or 3 with 6 launches), or
    times that are not positive.
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
        return Warmup(best, drift, best < n // 2)
    return Warmup(best, drift, drift.low <= 1.0 + DRIFT and drift.high >= 1.0 - DRIFT)


def _agreed(table: Array) -> Warmup:
    last = table.shape[1] // 2
    cut = next((d for d in range(last) if not _differs(table, d)), last)
    return Warmup(cut, _drift(table[:, cut:]), cut < last or not _differs(table, last))


def _differs(table: Array, repetition: int) -> bool:
    """Whether launches agree that a repetition is not like those after it."""
    later = np.median(table[:, repetition + 1 :], axis=1)
    ratio = median_interval(list(table[:, repetition] / later))
    if ratio.low is None or ratio.high is None:
        raise ValueError(f"a ratio needs {FEWEST_FOR_INTERVAL} launches")
    return ratio.low > 1.0 + DRIFT or ratio.high < 1.0 - DRIFT


def steady_medians(launches: Sequence[Sequence[float]]) -> list[float]:
    """The median of each launch's repetitions, without the warm-up that is found in them."""
    found = warmup_if_any(launches)
    first = found.repetitions if found is not None and found.settled else 0
    if len({len(launch) for launch in launches}) == 1:  # most often, and then at once
        medians: list[float] = np.median(np.asarray(launches)[:, first:], axis=1).tolist()
        return medians
    return [float(np.median(launch[first:])) for launch in launches]


def warmup_if_any(launches: Sequence[Sequence[float]]) -> Warmup | None:
    """The warm-up; None where launches are too few or too short to find one, or unlike."""
    try:
        return warmup(launches)
    except ValueError:
        return None


def _drift(steady: Array) -> Estimate:
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
    """The series with values far from its steady (second) half drawn in to SPIKE deviations.

    Never nearer than DRIFT: where a coarse clock makes most times equal, the deviation is 0.
    """
    steady = series[series.size // 2 :]
    middle = np.median(steady)
    reach = max(SPIKE * 1.4826 * np.median(np.abs(steady - middle)), DRIFT * middle)
    return np.asarray(np.clip(series, middle - reach, middle + reach), dtype=np.float64)


Why = Literal["narrow", "count", "time", "parted", "go on"]


@dataclass(frozen=True)
class Decision:
    """Whether to stop, why, and what has been reached.

    why: "narrow": the intervals are narrow enough, at this number of launches and at one fewer.
        "count": the cap on launches was hit. "time": another launch, as long as those before on
        average, would break the cap on time. "go on": none of these. "parted" is of `parted` alone.
    widest: which of the samples has the widest interval; all others are narrower.
    estimate: its median with the interval (none below 6 launches).
    half_width: the interval's half width as a share of the median; None where there is none.
    """

    stop: bool
    why: Why
    widest: int
    estimate: Estimate
    half_width: float | None


def decide(samples: Sequence[Sequence[float]], spent_s: float, rule: Rule) -> Decision:
    """Stop launching a setting, or go on?

    samples: what its launches have measured so far, one number a launch: one sample for a kernel
        with one time, one a point for one that sweeps. All of them must be narrow.
    spent_s: seconds that its launches took so far.

    Looking after every launch and stopping at the first narrow interval stops too often by luck:
    95 % intervals then hold the median in 92 to 96 % of cases. So they must be narrow twice, with
    all launches and without the last; that gives 94 to 97 %.

    Raises ValueError without samples, and when they are empty, unlike in length or not positive.
    """
    lengths = {len(sample) for sample in samples}
    if len(lengths) != 1 or 0 in lengths:
        raise ValueError("a decision needs samples of equally many launches, one at least")
    if any(value <= 0 for sample in samples for value in sample):
        raise ValueError("times must be positive")
    widths = [_half_width(sample) for sample in samples]
    widest = int(np.argmax(widths))
    width = widths[widest]
    why = _why(samples, width, spent_s, rule)
    estimate = median_interval(samples[widest])
    return Decision(why != "go on", why, widest, estimate, width if width < inf else None)


def _why(samples: Sequence[Sequence[float]], width: float, spent_s: float, rule: Rule) -> Why:
    launches = len(samples[0])
    if launches >= rule.fewest and width <= rule.half_width:
        before = max(_half_width(sample[:-1]) for sample in samples)
        if before <= rule.half_width:
            return "narrow"
    return rule.cap(launches, spent_s) or "go on"


def _half_width(sample: Sequence[float]) -> float:
    return median_interval(sample).relative_half_width


def parted(samples: Sequence[Mapping[int, float]]) -> bool:
    """Whether the interval of the ratio of every two samples lies above 1 or below it.

    samples: times by round. To be asked now and then, not after every launch: intervals that are
    looked at again and again part too often by luck.
    """
    found = starmap(ratio_by_round, combinations(samples, 2))
    return all(
        one is not None and one.confidence is not None and one.excludes(1.0) for one in found
    )
