# SPDX-License-Identifier: BSD-3-Clause
"""What `profile` adds to the time of fe_heat and poisson_cg on 4 ranks.

usage: .venv/bin/python bench/profile_overhead.py [--rounds 10]

Each round launches each program once without the counter and once with it. The order changes from
round to round, so that neither side always follows the other. The time is the program's own, of its
repetitions.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from built import built
from scipy.stats import binom
from turns import ratios, taken, write_page

from haloscope.profiling import counter
from haloscope.toolchains.job import Job
from haloscope.toolchains.launch import launch_command
from haloscope.toolchains.library import Toolchain, ensure

RANKS = 4
MOST = 1.02
"""MOST is the largest ratio of times that is wanted."""
PROGRAMS = {
    "fe_heat": ("size=64x64x64", "iterations=50", "repetitions=3"),
    "poisson_cg": ("n=1024", "iterations=200", "repetitions=3"),
}
"""PROGRAMS are kernels with the parameters of a case."""


def seconds(
    toolchain: Toolchain, kernel: str, words: tuple[str, ...], library: Path | None
) -> float:
    """The median time of a repetition in one launch, with the counter if it is given."""
    program = [str(built(toolchain, kernel)), kernel, *words]
    job = Job(ranks=RANKS, threads=1, oversubscribe=True)
    command, variables = launch_command(toolchain, job, program)
    with tempfile.TemporaryDirectory() as folder:
        if library is not None:
            own = counter.environment(toolchain, library, Path(folder))
            names = ("LD_PRELOAD", "HALOSCOPE_PROFILE")
            variables = {**variables, **{name: own[name] for name in names}}
            passed = [part for name in names for part in ("-x", name)]
            command = [command[0], *passed, *command[1:]]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
        if library is not None and len([*Path(folder).glob("*.counts")]) != RANKS:
            raise RuntimeError(f"{kernel}: not all ranks were counted")
    return float(median(json.loads(done.stdout.splitlines()[-1])["times_s"]))


def verdict(found: list[float]) -> str:
    """Whether the median is at most MOST, by its 95 % interval from order statistics."""
    least = int(binom.ppf(0.025, len(found), 0.5))
    ordered = sorted(found)
    if least < 1:
        return f"too few rounds | {MOST:g} | not resolved"
    low, high = ordered[least - 1], ordered[-least]
    known = "met" if high <= MOST else "not met" if low > MOST else "not resolved"
    return f"{low:.3f} to {high:.3f} | {MOST:g} | {known}"


def write(without: Mapping[str, list[float]], within: Mapping[str, list[float]]) -> None:
    """Write docs/bench/profile_overhead.md."""
    rows = ["| program | rounds | ratio of times, median | 95 % interval | target | |"]
    rows.append("|---|---|---|---|---|---|")
    alone = ["| program | without | with |", "|---|---|---|"]
    for kernel, words in PROGRAMS.items():
        found = ratios(within[kernel], without[kernel])
        rows.append(f"| {kernel} | {len(found)} | {median(found):.3f} | {verdict(found)} |")
        times = f"{median(without[kernel]):.4g} s | {median(within[kernel]):.4g} s"
        alone.append(f"| {kernel} {' '.join(words)} | {times} |")
    ranks = f"{RANKS} ranks on {os.cpu_count()} processors, which other programs use, too."
    page = [taken(), "", *rows, "", ranks, "", *alone]
    write_page("profile_overhead", "Overhead of haloscope profile", page)


def main() -> None:
    """Run all in turn, write docs/bench/profile_overhead.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    toolchain = ensure(None)
    library = counter.built(toolchain)
    without: dict[str, list[float]] = {}
    within: dict[str, list[float]] = {}
    for kernel, words in PROGRAMS.items():
        for number in range(rounds):
            for one in (None, library) if number % 2 == 0 else (library, None):
                own = (without if one is None else within).setdefault(kernel, [])
                own.append(seconds(toolchain, kernel, words, one))
            print(kernel, number + 1, without[kernel][-1], within[kernel][-1], flush=True)
    write(without, within)


if __name__ == "__main__":
    main()
