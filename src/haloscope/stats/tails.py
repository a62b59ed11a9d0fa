# SPDX-License-Identifier: BSD-3-Clause
"""Percentiles of repetitions, nested in launches, with intervals.

Repetitions of one launch share its conditions, so an interval over all of them as one sample is too
narrow. The percentile over all possible repetitions is not useful: if launches differ, it is
determined by the slowest, which few launches have not shown, and neither a bootstrap of launches
(Davison and Hinkley 1997, section 3.8) nor Woodruff's interval with an effective sample size (Korn
and Graubard 1998) covers it.

Therefore a percentile is one of a launch's repetitions, and each launch gives one number: its own
percentile, by the estimate that is as often too small as too large (Hyndman and Fan, Sample
Quantiles in Statistical Packages, 1996, definition 8), because the usual one is too small in every
launch. These have a geometric mean with Student's interval over launches (Kalibera and Jones,
Rigorous benchmarking in reasonable time, ISMM 2013).

Simulated coverage compared with the alternatives: docs/bench/tails.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from haloscope.stats import FEWEST_FOR_INTERVAL
from haloscope.stats.estimates import Estimate, finite, geometric_mean

BEYOND = 5
"""With fewer values beyond a percentile, the next measurement can move it arbitrarily."""


def needed(share: float) -> int:
    """Return the minimum number of repetitions for a percentile: P95 needs 100.

    Over all launches for the percentile itself, in each launch for its interval.
    """
    return ceil(BEYOND / (1.0 - share) - 1e-9)


def percentile(
    launches: Sequence[Sequence[float]], share: float, *, confidence: float = 0.95
) -> Estimate | None:
    """Return the value that a share of a launch's repetitions does not exceed; None with too few.

    launches: repetitions by launch, none empty. share: 0.95 for P95. n counts launches. The result
    is the geometric mean of the launches' own percentiles with Student's interval, or with their
    range below 6 launches. If a launch has too few repetitions, or none with a time above 0, it is
    the percentile of all repetitions together, without an interval ("pooled"). Raise ValueError for
    a share outside 0.5 to 1, and for launches without repetitions.
    """
    if not 0.5 <= share < 1.0:
        raise ValueError(f"a tail begins at a share from 0.5 to 1, not {share}")
    samples = [finite(launch) for launch in launches]
    if sum(sample.size for sample in samples) < needed(share):
        return None
    n = len(samples)
    own = [float(np.quantile(one, share, method="median_unbiased")) for one in samples]
    if min(sample.size for sample in samples) < needed(share) or min(own) <= 0:
        value = float(np.quantile(np.concatenate(samples), share, method="median_unbiased"))
        return Estimate(value, None, None, n, "pooled")
    if n == 1:
        return Estimate(own[0], None, None, n, "none")
    value, low, high = geometric_mean(own, confidence)
    if n < FEWEST_FOR_INTERVAL:
        return Estimate(value, min(own), max(own), n, "range")
    return Estimate(value, low, high, n, "interval over launches", confidence)
