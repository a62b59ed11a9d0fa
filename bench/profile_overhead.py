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
import subprocess
import tempfile
from pathlib import Path
from statistics import median, quantiles

from built import built
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


def main() -> None:
    """Run all in turn, write docs/bench/profile_overhead.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    toolchain = ensure(None)
    library = counter.built(toolchain)
    rows = [
        "| program | ratio of times, median | middle half | target | |",
        "|---|---|---|---|---|",
    ]
    alone = ["| program | without | with |", "|---|---|---|"]
    for kernel, words in PROGRAMS.items():
        without: list[float] = []
        within: list[float] = []
        for number in range(rounds):
            order = (None, library) if number % 2 == 0 else (library, None)
            for one in order:
                taken_s = seconds(toolchain, kernel, words, one)
                (without if one is None else within).append(taken_s)
            print(
                f"{kernel} {number + 1}/{rounds}: {without[-1]:.4g} s, {within[-1]:.4g} s",
                flush=True,
            )
        found = ratios(within, without)
        low, middle, high = quantiles(found, n=4)
        met = "met" if middle <= MOST else "not met"
        rows.append(f"| {kernel} | {middle:.3f} | {low:.3f} to {high:.3f} | {MOST:g} | {met} |")
        alone.append(
            f"| {kernel} {' '.join(words)} | {median(without):.4g} s | {median(within):.4g} s |"
        )
    page = [taken(), "", *rows, "", f"{rounds} launches of each side, {RANKS} ranks.", "", *alone]
    write_page("profile_overhead", "Overhead of haloscope profile", page)


if __name__ == "__main__":
    main()
