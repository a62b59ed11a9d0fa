# SPDX-License-Identifier: BSD-3-Clause
"""A/A study on real launches: the same ping-pong twice, how often is it called different?

usage: .venv/bin/python bench/aa_real.py --out DIR [--launches N]     measure (more), then judge

Launches of one case go on one after another; ever 12 of them are a set, and a set gives one study
that compares A with its twin A, size by size, as haloscope compare does. No launch is in two sets.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from turns import ROOT, write_page

from haloscope.quantities import listed
from haloscope.stats.two_samples import compare, holm

EACH = 6
"""Launches of A, and of its twin: the fewest with which a family of three can be called."""
FEWEST_SETS = 100
SIZES = (8, 8192, 1 << 20)
LEVEL = 0.05
# MPICH starts a job in half the time of Open MPI: twice the launches in an hour.
STUDY = f"""\
title = "The same ping-pong again and again"
launches = 12

[[runs]]
kernel = "pingpong"
params = {{ sizes = "{",".join(map(str, SIZES))}", repetitions = 3 }}
layout = {{ ppn = 2 }}
toolchains = ["mpich"]
"""

Launch = dict[int, float]
"""Seconds of a message one way, by its size."""


@dataclass(frozen=True)
class Outcome:
    """What comparisons came to. sets: independent of each other; the sizes of one set are not."""

    sets: int
    comparisons: int
    raw: int
    called: int
    sets_with_any: int

    def row(self, name: str) -> str:
        """Its line of the page."""
        share = [f"{100 * one / self.comparisons:.1f} %" for one in (self.raw, self.called)]
        return (
            f"| {name} | {self.sets} | {self.comparisons} | {share[0]} | {share[1]} "
            f"| {self.sets_with_any} ({100 * self.sets_with_any / self.sets:.1f} %) |"
        )


def judge(sets: Sequence[Sequence[Launch]], divide: Callable[[int], Sequence[int]]) -> Outcome:
    """Compare the halves of every set. divide(k): which launches of set k are A's."""
    raw = called = any_called = 0
    for number, launches in enumerate(sets):
        mine = set(divide(number))
        halves = [[one for k, one in enumerate(launches) if (k in mine) == own] for own in (1, 0)]
        p_values = [compare(*([one[size] for one in half] for half in halves)) for size in SIZES]
        raw += sum(one.p_value <= LEVEL for one in p_values)
        adjusted = [p for p in holm([one.p_value for one in p_values]) if p is not None]
        called += sum(p <= LEVEL for p in adjusted)
        any_called += min(adjusted) <= LEVEL
    return Outcome(len(sets), len(sets) * len(SIZES), raw, called, any_called)


def measure(folder: Path, launches: int) -> None:
    """Go on until there are so many launches, or until it is told to stop: nothing is lost."""
    command = [str(ROOT / "haloscope"), "run", "--no-report", "--launches", str(launches)]
    if (folder / "records.jsonl").exists():
        command += ["--resume", str(folder)]
    else:
        study = folder.parent / "aa-real.toml"
        study.parent.mkdir(parents=True, exist_ok=True)
        study.write_text(STUDY)
        command += [str(study), "--out", str(folder)]
    done = subprocess.run(command, check=False).returncode
    if done not in (0, 130):
        sys.exit(f"{' '.join(command)} failed")


def read(folder: Path) -> tuple[list[Launch], int]:
    """The good launches in the order in which they ran; how many were not good."""
    from haloscope.analysis.dossier import open_folder

    records = sorted(open_folder(folder).records, key=lambda record: record.started or "")
    good = [record for record in records if record.outcome == "ok"]
    found = [
        {point["size_bytes"]: median(point["times_s"]) / 2 for point in record.points}
        for record in good
    ]
    return found, len(records) - len(good)


def page(launches: Sequence[Launch], bad: int) -> list[str]:
    """The body of docs/bench/aa_real.md."""
    sets = [launches[k : k + 2 * EACH] for k in range(0, len(launches) - 2 * EACH + 1, 2 * EACH)]
    draw = random.Random(2026)
    drawn = [draw.sample(range(2 * EACH), EACH) for _ in sets]
    turns = [[2 * k + draw.randrange(2) for k in range(EACH)] for _ in sets]
    ways: dict[str, Callable[[int], Sequence[int]]] = {
        "random order, as in studies": lambda k: drawn[k],
        "in alternating pairs": lambda k: turns[k],
        "all launches of A, then all of its twin": lambda _: range(EACH),
    }
    rows = [judge(sets, divide).row(name) for name, divide in ways.items()]
    return [
        "This page shows how often a ping-pong that is measured twice is reported as different "
        "from itself.",
        "",
        f"The {len(launches)} consecutive launches with messages of",
        f"{listed([*map(str, SIZES)])} bytes (failed launches: {bad}) are divided into",
        f"disjoint sets of {2 * EACH}. In each set, {EACH} launches belong to A and {EACH} to its",
        "twin. Each message size is compared by a two-sided Mann-Whitney test over launches, with",
        "Holm's correction over the three sizes.",
        "",
        "| division of launches | sets | comparisons | p <= 0.05 | reported different (Holm) "
        "| sets with a false positive |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
        "The target is that at most 5 % of at least 200 comparisons in random order report a "
        "difference. The launches of each twin were drawn after the runs. This is equivalent to "
        "drawing the order before the runs, because both twins are the same program.",
        "",
        "No two sets share a launch, but all sets were measured on one machine on one day. The "
        "three message sizes of a set are measured in the same launches, so the number of "
        "independent comparisons is the number of sets.",
        "",
        "Random order makes the test exact for any machine. Without random order, a slow change of "
        "the machine's speed is reported as a difference (last row of the table). This also "
        "happens when two result folders are measured one after the other.",
        "",
        "| bytes | one-way median | range over launches | correlation of consecutive launches |",
        "|---|---|---|---|",
        *(_row(launches, size) for size in SIZES),
    ]


def _row(launches: Sequence[Launch], size: int) -> str:
    """How a size's times scatter over launches."""
    times = [1e6 * one[size] for one in launches]
    return (
        f"| {size} | {median(times):.3g} us | {min(times):.3g} to {max(times):.3g} us "
        f"| {_lag(launches, size):.2f} |"
    )


def _lag(launches: Sequence[Launch], size: int) -> float:
    """Rank correlation of every launch with the one after it."""
    from scipy.stats import spearmanr

    times = [one[size] for one in launches]
    return float(spearmanr(times[:-1], times[1:]).statistic)


def main() -> None:
    """Measure where asked to, judge, write the page where there are sets enough."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--launches", type=int, default=0, help="until there are so many in all")
    arguments = parser.parse_args()
    if arguments.launches:
        measure(arguments.out, arguments.launches)
    launches, bad = read(arguments.out)
    if len(launches) < FEWEST_SETS * 2 * EACH:
        needed = FEWEST_SETS * 2 * EACH
        sys.exit(f"{len(launches)} launches so far; {FEWEST_SETS} sets need {needed}: --launches")
    print(
        write_page(
            "aa_real",
            "False positives on real launches",
            page(launches, bad),
            "This page compares haloscope with itself, not with another program.",
        )
    )


if __name__ == "__main__":
    main()
