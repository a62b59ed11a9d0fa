"""The slow end of repetitions: percentiles with intervals, of repetitions nested in launches.

Repetitions of one launch are alike in what that launch met with, so that an interval over all of
them as if they were one sample is too narrow. Here launches are drawn with replacement, and then
repetitions within each that was drawn: the bootstrap of nested data (Davison and Hinkley, Bootstrap
Methods and their Application, 1997, section 3.8; Kalibera and Jones, Rigorous benchmarking in
reasonable time, ISMM 2013, for launches and repetitions).

Of log-normal times with a standard deviation of 0.2 within launches of 30 repetitions, 95 %
intervals of P95 held the true one in 95 of 100 tries where launches lay 0.1 apart (10 launches; one
sample of all repetitions: 75), and in 70 (10 launches) and 85 (30) where they lay 0.3 apart: of so
few launches that differ so much, an interval of a tail is still too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from haloscope.stats.estimates import Estimate, finite
from haloscope.stats.stopping_rule import FEWEST_FOR_INTERVAL

BEYOND = 5
"""BEYOND is the least number of repetitions that must lie beyond a percentile, because of fewer the
next one measured can move it anywhere."""


def needed(share: float) -> int:
    """Repetitions, over all launches, without which a percentile is refused: P95 needs 100."""
    return ceil(BEYOND / (1.0 - share) - 1e-9)


def percentile(
    launches: Sequence[Sequence[float]],
    share: float,
    *,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Estimate | None:
    """The value that the given share of all repetitions does not exceed; None where too few.

    launches: repetitions launch by launch, none empty. share: 0.95 for P95. n counts launches.
    Of fewer than 6 launches it has no interval: then nothing is known of how launches differ.

    Raises ValueError for a share outside 0.5 to 1, and for launches without repetitions.
    """
    if not 0.5 <= share < 1.0:
        raise ValueError(f"a tail begins at a share from 0.5 to 1, not {share}")
    samples = [finite(launch) for launch in launches]
    if sum(sample.size for sample in samples) < needed(share):
        return None
    value = float(np.quantile(np.concatenate(samples), share))
    n = len(samples)
    if n < FEWEST_FOR_INTERVAL:
        return Estimate(value, None, None, n, "none")
    generator = np.random.default_rng(seed)
    drawn = []
    for _ in range(resamples):
        chosen = [samples[k] for k in generator.integers(0, n, n)]
        again = [one[generator.integers(0, one.size, one.size)] for one in chosen]
        drawn.append(np.quantile(np.concatenate(again), share))
    tail = (1.0 - confidence) / 2
    low, high = np.quantile(drawn, [tail, 1.0 - tail])
    return Estimate(value, float(low), float(high), n, "nested bootstrap", confidence)
