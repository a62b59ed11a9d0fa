# SPDX-License-Identifier: BSD-3-Clause
"""How often intervals hold the truth, of launches nested in allocations of a batch system.

usage: .venv/bin/python bench/allocations.py [--tries 4000]

Nothing is launched: tests/support/simulated_allocations.py draws launches whose typical value is
known, haloscope.stats makes the intervals. The seeds are fixed: the same version writes the same.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import fmean

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

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
"""USUAL are settings that one takes: how far allocations differ, launches in each, their shape.
A study that asks for a precision has 3 to 6 launches of a case in each of 5 allocations or more."""
BEYOND = [
    (between, launches, True) for between in (0.0, 0.01, 0.05) for launches in (1, 2, 3, 4, 8)
]
"""BEYOND are those where the median of few skewed launches is what limits the interval."""
LEAST, MOST = 0.93, 0.97


def covered(
    allocations: int, between: float, launches: int, skewed: bool, tries: int
) -> tuple[float, float]:
    """How often the interval over allocations holds the truth, and how often that of all launches
    as one sample."""
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
        f"| allocations differ by | launches in each | {' | '.join(map(str, ALLOCATIONS))} |",
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
        f"Command: `python bench/allocations.py --tries {tries}`. Simulated, with fixed seeds.",
        "",
        "How often, in per cent, the 95 % interval of `stats/allocations.py` holds the typical",
        "value, over 2 to 20 allocations; in brackets, how often that of all launches taken for",
        "one sample does. The logarithms of allocations are normal; launches in one scatter by",
        "2 %, normally, or skewed (exponentially: most are alike, some take much longer).",
        f"Each figure is of {tries:,} studies: its own standard error is "
        f"{100 * (0.95 * 0.05 / tries) ** 0.5:.1f} per cent.",
        "",
        "## Settings that one takes",
        "",
        *usual,
        "",
        f"Target: {100 * LEAST:.0f} to {100 * MOST:.0f} % where allocations differ. Of "
        f"{len(shares)} settings, {inside} are within; least {100 * min(shares):.1f} %, most "
        f"{100 * max(shares):.1f} %.",
        "",
        "## Where launches in each are few and skewed",
        "",
        *beyond,
        "",
        "The median of a few skewed launches lies beside their typical value, as much in every",
        "allocation; many allocations that hardly differ make an interval so narrow that it",
        "misses. One or two launches do not tell how skewed they are, so that nothing computed",
        "from them puts it right. A jackknife of three or four would, but a launch that took",
        "ten times as long then makes a value below all that were measured. So a study that asks",
        "for a precision has three launches of a case in each allocation at least; who submits",
        "many jobs of one launch each reads the interval as one of what such a job takes.",
    ]
    print(write_lines("allocations", body))


if __name__ == "__main__":
    main()
