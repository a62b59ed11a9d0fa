# SPDX-License-Identifier: BSD-3-Clause
"""How often intervals hold the truth, of launches nested in allocations of a batch system.

usage: .venv/bin/python bench/allocations.py [--tries 4000]

Nothing is launched: simulated_allocations.py of tests/support draws launches whose typical value is
known, haloscope.stats makes the intervals. The seeds are fixed: the same version writes the same.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import fmean

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support" / "simulated"))

from simulated_allocations import covers, drawn, pooled
from turns import write_lines

from haloscope.stats.allocations import typical_over
from haloscope.stats.estimates import typical

ALLOCATIONS = (2, 3, 5, 10, 20)
WITHIN = 0.02
USUAL = [
    (between, launches, skewed)
    for between in (0.02, 0.05, 0.2)
    for launches in (3, 6, 12)
    for skewed in (False, True)
]
"""USUAL are the usual settings: spread of allocations, launches per allocation, their distribution.
A study with a precision has 3 to 6 launches of a case in each of 5 or more allocations."""
BEYOND = [
    (between, launches, True) for between in (0.0, 0.01, 0.05) for launches in (1, 2, 3, 4, 8)
]
"""BEYOND are settings in which the median of few skewed launches limits the interval."""
LEAST, MOST = 0.93, 0.97


def covered(
    allocations: int, between: float, launches: int, skewed: bool, tries: int
) -> tuple[float, float]:
    """How often the interval over allocations holds the truth, and how often that of all launches
    as one sample.
    """
    generator = np.random.default_rng(1)
    over, together = [], []
    for _ in range(tries):
        one = drawn(
            generator,
            allocations=allocations,
            launches=launches,
            between=between,
            within=WITHIN,
            skewed=skewed,
        )
        over.append(covers(typical_over(one)))
        together.append(covers(typical(pooled(one))))
    return fmean(over), fmean(together)


def table(settings: list[tuple[float, int, bool]], tries: int) -> tuple[list[str], list[float]]:
    """The lines of a table, and what its intervals over allocations cover."""
    lines = [
        "| spread of allocations | launches per allocation | "
        f"{' | '.join(map(str, ALLOCATIONS))} |",
        "|---|---|" + "---|" * len(ALLOCATIONS),
    ]
    every = []
    for between, launches, skewed in settings:
        found = [covered(number, between, launches, skewed, tries) for number in ALLOCATIONS]
        every += [over for over, _ in found]
        cells = " | ".join(f"{100 * over:.1f} ({100 * one:.0f})" for over, one in found)
        shape = "skewed" if skewed else "normal"
        lines.append(f"| {100 * between:.0f} % | {launches}, {shape} | {cells} |")
        print(lines[-1], flush=True)
    return lines, every


def main() -> None:
    """Draw everything, write docs/bench/allocations.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tries", type=int, default=4000)
    tries = parser.parse_args().tries
    usual, shares = table(USUAL, tries)
    beyond, _ = table(BEYOND, tries)
    inside = sum(LEAST <= share <= MOST for share in shares)
    body = [
        "# Intervals over allocations",
        "",
        f"This page was written by `python bench/allocations.py --tries {tries}`. The studies "
        "are simulated with fixed seeds.",
        "",
        "The tables list the coverage of the 95 % interval of `stats/allocations.py` in per "
        "cent, for",
        "2 to 20 allocations. The figures in brackets are the coverage when all launches are "
        "treated as one",
        "sample.",
        "",
        "The times of allocations are log-normally distributed. Launches within",
        "an allocation vary by 2 %, with a normal or a skewed distribution. The skewed "
        "distribution",
        "is exponential: most launches take similar times, and some take much longer.",
        f"Each figure is from {tries:,} studies; its standard error is "
        f"{100 * (0.95 * 0.05 / tries) ** 0.5:.1f} percentage points.",
        "",
        "## Usual settings",
        "",
        *usual,
        "",
        f"If allocations differ, the target coverage is {100 * LEAST:.0f} to {100 * MOST:.0f} %. "
        f"Of the {len(shares)} settings, {inside} meet it; coverage ranges from "
        f"{100 * min(shares):.1f} to {100 * max(shares):.1f} %.",
        "",
        "## Few and skewed launches per allocation",
        "",
        *beyond,
        "",
        "The median of a few skewed launches has the same bias in each allocation.",
        "With many similar allocations, the interval is then so narrow that it misses the typical",
        "value. One or two launches do not show the skew, so no estimate from them can correct",
        "it.",
        "",
        "A jackknife over three or four launches could correct this bias, but its estimate is "
        "below all measured values if one launch takes ten times as long as the others. A study "
        "with a `precision` therefore",
        "runs at least three launches of a case per allocation. With many jobs of one launch",
        "each, the interval applies to the time of a one-launch job.",
    ]
    print(write_lines("allocations", body))


if __name__ == "__main__":
    main()
