# SPDX-License-Identifier: BSD-3-Clause
"""A/A studies, simulated: how often is the same thing, measured twice, called different?

usage: .venv/bin/python bench/aa.py [--studies 20]

Nothing is launched; simulated_launches.py of tests/support draws the launches, haloscope.stats
compares them.
The seeds are fixed, so the same version writes the same page.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support" / "simulated"))

from simulated_launches import Machine, Study, run
from turns import write_lines

LOUD = Machine(drift=0.3, wander=0.2, memory=0.95, launch=0.1, slow_share=0.3, slow=2.0)

A_A = {
    "10 launches, random order": (Study(), Machine()),
    "30 launches, random order": (Study(launches=30), Machine()),
    "10 launches, random order, noisy machine": (Study(), LOUD),
}
WRONG = {
    "10 launches, all launches of A before its twin": (Study(order="blocks"), Machine()),
    "10 launches, all launches of A before its twin, noisy machine": (Study(order="blocks"), LOUD),
    "each repetition as a sample": (Study(cases=1, unit="repetition"), Machine()),
}
DIFFERENT = {
    "twin 5 % slower, 10 launches": (Study(effect=0.05), Machine()),
    "twin 5 % slower, 30 launches": (Study(effect=0.05, launches=30), Machine()),
    "twin 10 % slower, 10 launches": (Study(effect=0.1), Machine()),
    "twin 10 % slower, 30 launches": (Study(effect=0.1, launches=30), Machine()),
}
HEADER = [
    "| study | comparisons | p ≤ 0.05 | reported different (Holm) | studies with a reported "
    "difference |",
    "|---|---|---|---|---|",
]


def row(name: str, study: Study, machine: Machine, studies: int) -> str:
    """Run one kind of study so many times; its line of the table."""
    outcomes = [run(study, machine, seed) for seed in range(studies)]
    comparisons = sum(one.comparisons for one in outcomes)
    raw = sum(one.raw for one in outcomes) / comparisons
    called = sum(one.called for one in outcomes) / comparisons
    any_called = sum(one.called > 0 for one in outcomes)
    line = (
        f"| {name} | {comparisons} | {100 * raw:.1f} % | {100 * called:.1f} % "
        f"| {any_called} of {studies} |"
    )
    print(line, flush=True)
    return line


def main() -> None:
    """Run everything, write docs/bench/aa.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=20)
    studies = parser.parse_args().studies
    tables = {
        "Identical settings": (A_A, studies),
        "Identical settings, wrong methods": (WRONG, max(1, studies // 4)),
        "A real difference": (DIFFERENT, max(1, studies // 4)),
    }
    body = [
        "# False positives in simulated A/A studies",
        "",
        f"This page was written by `python bench/aa.py --studies {studies}`. The launches "
        "are simulated with fixed seeds.",
        "[aa_real.md](aa_real.md) contains the same study on real launches.",
        "",
        "This page shows how often a program that is measured twice is reported as different from",
        "itself.",
        "",
        "Each study runs 8 cases of 25 points in one session, each of them twice with",
        "identical settings (twins). It compares the twins point by point, which yields 200 "
        "comparisons (25 in the study that treats each repetition as a sample). "
        "`haloscope.stats.estimates.compare` "
        "applies",
        "a two-sided Mann-Whitney test over launches, with Holm's correction over the study, "
        "at the",
        "5 % level.",
        "",
        "Two machines are simulated. `tests/support/simulated/simulated_launches.py` describes",
        "their parameters:",
        "",
        f"| machine | {' | '.join(asdict(LOUD))} |",
        f"|---{'|--:' * len(asdict(LOUD))}|",
        *(
            f"| {name} | {' | '.join(map(str, asdict(one).values()))} |"
            for name, one in (("usual", Machine()), ("noisy", LOUD))
        ),
        "",
    ]
    for title, (kinds, repeats) in tables.items():
        body += [f"## {title}", "", *HEADER]
        body += [row(name, *kind, repeats) for name, kind in kinds.items()]
        body.append("")
    body += [
        "The target is met if the first table has at least 200 comparisons, and at most 5 % of",
        "these report a difference.",
    ]
    print(write_lines("aa", body))


if __name__ == "__main__":
    main()
