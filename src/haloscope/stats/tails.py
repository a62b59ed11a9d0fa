# SPDX-License-Identifier: BSD-3-Clause
"""The slow end of repetitions: percentiles with intervals, of repetitions nested in launches.

Repetitions of one launch are alike in what that launch met with, so that an interval over all of
them as if they were one sample is too narrow. The percentile of all repetitions that there could be
is no way out: where launches differ, it is that of the slowest of them, which few launches have not
shown, and neither a bootstrap of launches (Davison and Hinkley 1997, section 3.8) nor Woodruff's
interval with an effective sample size (Korn and Graubard 1998) covers it.

So a percentile is that of a launch's repetitions, and a launch gives one number, as everywhere
here: its own percentile, by the estimate that is as often too small as too large (Hyndman and Fan,
Sample Quantiles in Statistical Packages, 1996, definition 8), because the usual one is too small in
every launch alike. These have a geometric mean, and Student's interval around it rests on as many
numbers as launches (Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013).

What it covers, simulated, beside the others: docs/bench/tails.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from haloscope.stats.estimates import Estimate, finite, geometric_mean
from haloscope.stats.stopping_rule import FEWEST_FOR_INTERVAL

BEYOND = 5
"""With fewer beyond a percentile, the next one measured can move it anywhere."""


def needed(share: float) -> int:
    """Repetitions without which a percentile is refused: P95 needs 100.

    Over all launches for the percentile itself, in each launch for its interval.
    """
    return ceil(BEYOND / (1.0 - share) - 1e-9)


def percentile(
    launches: Sequence[Sequence[float]], share: float, *, confidence: float = 0.95
) -> Estimate | None:
    """The value that the given share of a launch's repetitions does not exceed; None where too few.

    launches: repetitions launch by launch, none empty. share: 0.95 for P95. n counts launches.
    The geometric mean of the launches' own percentiles with Student's interval; below 6 launches
    with their range. Where a launch has too few repetitions for its own, or none that took time,
    it is the percentile of all repetitions together, which has neither ("pooled").

    Raises ValueError for a share outside 0.5 to 1, and for launches without repetitions.
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
