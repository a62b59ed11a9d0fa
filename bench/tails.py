# SPDX-License-Identifier: BSD-3-Clause
"""How often intervals of P95 and P99 hold the truth, of repetitions nested in launches.

usage: .venv/bin/python bench/tails.py [--tries 1000]

Nothing is launched: simulated_tails.py of tests/support draws repetitions whose percentiles are
known, haloscope.stats makes the intervals. The other ways that docs/bench/tails.md tells of are
made here. The seeds are fixed: the same version writes the same.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
from scipy.stats import beta
from scipy.stats import t as student

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support" / "simulated"))

from simulated_allocations import covers
from simulated_tails import SHAPES, nested, of_a_launch, of_all
from turns import write_lines

from haloscope.stats.tails import needed, percentile

LAUNCHES = (6, 10, 30)
SCATTER = (0.0, 0.1, 0.3, 0.6)
TIMES = (1, 2, 10)
"""TIMES are the repetitions of a launch, as multiples of what an interval needs."""
LEAST, MOST = 0.93, 0.97
RESAMPLES = 300


def bootstrap(launches: list[list[float]], share: float) -> tuple[float, float]:
    """Percentiles of percentiles of launches drawn with replacement, and repetitions in each."""
    generator = np.random.default_rng(0)
    n, times = len(launches), np.array(launches)
    drawn = []
    for _ in range(RESAMPLES):
        chosen = generator.integers(0, n, n)[:, None]
        drawn.append(np.quantile(times[chosen, generator.integers(0, times.shape[1], times.shape)],
                                 share))  # fmt: skip
    return float(np.quantile(drawn, 0.025)), float(np.quantile(drawn, 0.975))


def woodruff(launches: list[list[float]], share: float) -> tuple[float, float]:
    """The quantiles at the ends of Korn and Graubard's interval of the share; no upper end beyond
    the longest.
    """
    times = np.array(launches)
    n, every = len(launches), times.size
    below = np.mean(times <= np.quantile(times, share), axis=1)
    effect = max(1.0, every * float(np.var(below, ddof=1)) / n / (share * (1 - share)))
    freedom = student.ppf(0.975, every - 1) / student.ppf(0.975, n - 1)
    size = every / effect * freedom**2
    low = beta.ppf(0.025, share * size, size - share * size + 1)
    high = beta.ppf(0.975, share * size + 1, size - share * size)
    top = float(np.quantile(times, high)) if high <= 1 - 1 / every else float(times.max())
    return float(np.quantile(times, low)), top


Interval = Callable[[list[list[float]], float], tuple[float, float]]


def of_every_repetition(
    ways: dict[str, Interval], launches: int, scatter: float, tries: int
) -> dict[str, float]:
    """How often other ways hold the P95 of all possible repetitions, 200 a launch."""
    generator = np.random.default_rng(1)
    truth = of_all(0.95, scatter)
    held: dict[str, list[bool]] = {name: [] for name in ways}
    for _ in range(tries):
        one = nested(generator, launches, 200, scatter)
        for name, way in ways.items():
            low, high = way(one, 0.95)
            held[name].append(low <= truth <= high)
    return {name: fmean(those) for name, those in held.items()}


def of_one_launch(
    share: float, repetitions: int, launches: int, scatter: float, shape: str, tries: int
) -> float:
    """How often haloscope's interval holds the percentile of a typical launch."""
    generator = np.random.default_rng(1)
    truth = of_a_launch(share, shape)
    found = (
        percentile(nested(generator, launches, repetitions, scatter, shape), share)
        for _ in range(tries)
    )
    return fmean(one is not None and covers(one, truth) for one in found)


def _table(head: str, rows: Iterator[tuple[str, list[str]]]) -> Iterator[str]:
    columns = [f"{n} launches, {scatter:g}" for n in LAUNCHES for scatter in SCATTER]
    yield f"| {head} | {' | '.join(columns)} |"
    yield "|---|" + "---|" * len(columns)
    for name, cells in rows:
        line = f"| {name} | {' | '.join(cells)} |"
        print(line, flush=True)
        yield line


def _page(
    tries: int, shares: Sequence[float], ours: Sequence[str], beside: Sequence[str]
) -> list[str]:
    """What the tables are of. shares: how often each of our intervals held the truth."""
    inside = sum(LEAST <= share <= MOST for share in shares)
    return [
        "# Intervals of P95 and P99",
        "",
        f"This page was written by `python bench/tails.py --tries {tries}`. The studies "
        "are simulated with fixed seeds.",
        "",
        "The tables list the coverage of 95 % intervals of percentiles, in per cent. Launches "
        "differ",
        "by a log-normal factor with a standard deviation of 0 to 0.6. Within a launch, "
        "repetitions have one of three distributions:",
        "",
        "- Logarithms of times are normally distributed, with a standard deviation of 0.2.",
        "- Times are exponentially distributed.",
        "- Times are of two kinds: one repetition in twelve takes 1.5 to 3 times as long as the "
        "others.",
        "",
        f"Each figure is from {tries:,} studies; its standard error is "
        f"{100 * (0.95 * 0.05 / tries) ** 0.5:.1f} percentage points.",
        "",
        "## Percentile of a typical launch (`stats/tails.py`)",
        "",
        "This table covers Student's interval around the geometric mean of the percentiles of "
        "launches.",
        "",
        *ours,
        "",
        f"In {inside} of {len(shares)} settings, the coverage is {100 * LEAST:.0f} to "
        f"{100 * MOST:.0f} %. "
        f"It ranges from {100 * min(shares):.1f} to {100 * max(shares):.1f} %.",
        "",
        "With two kinds of repetitions, and with the smallest number of repetitions that "
        "permits an",
        "interval, the percentile of a launch is too often in the gap between the two kinds. The "
        "same happens in each launch. With many similar launches, the interval is "
        "then so",
        "narrow that it misses the true value.",
        "",
        "## Percentile of all possible repetitions",
        "",
        f"The figures are from {max(200, tries // 4):,} studies with 200 normally distributed "
        "repetitions per launch.",
        "",
        *beside,
        "",
        "The bootstrap draws launches, and repetitions within them (Davison and Hinkley 1997,",
        "section 3.8); haloscope used this method before. Woodruff's interval is derived from the",
        "share of repetitions below the percentile, with an effective sample size (Korn and "
        "Graubard",
        "1998). If launches differ, the percentile of all possible repetitions depends on the "
        "slowest launches, which a small",
        "sample of launches rarely contains. haloscope therefore reports the percentile of a "
        "typical",
        "launch.",
    ]


def main() -> None:
    """Draw everything, write docs/bench/tails.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tries", type=int, default=1000)
    tries = parser.parse_args().tries
    shares: list[float] = []

    def rows() -> Iterator[tuple[str, list[str]]]:
        for share in (0.95, 0.99):
            for shape in SHAPES:
                for times in TIMES:
                    repetitions = times * needed(share)
                    own = [
                        of_one_launch(share, repetitions, launches, scatter, shape, tries)
                        for launches in LAUNCHES
                        for scatter in SCATTER
                    ]
                    shares.extend(own)
                    name = f"P{100 * share:.0f}, {shape}, {repetitions:,}"
                    yield name, [f"{100 * one:.0f}" for one in own]

    def others() -> Iterator[tuple[str, list[str]]]:
        ways: dict[str, Interval] = {"bootstrap": bootstrap, "Woodruff": woodruff}
        found = [
            of_every_repetition(ways, launches, scatter, max(200, tries // 4))
            for launches in LAUNCHES
            for scatter in SCATTER
        ]
        for name in ways:
            yield name, [f"{100 * one[name]:.0f}" for one in found]

    ours = list(_table("percentile, distribution, repetitions per launch", rows()))
    beside = list(_table("P95 of all possible repetitions", others()))
    print(write_lines("tails", _page(tries, shares, ours, beside)))


if __name__ == "__main__":
    main()
